// The OpenAPI document, which `npm run generate` generates.

import { version } from '../../base/routes.ts';
import { entityGroups, entityTypes } from '../../core/entity/entity-type.ts';
import { reviewableTypes } from '../../core/entity/reviewable-types.ts';
import document from './openapi.json' with { type: 'json' };

export type OpenApiDocument = typeof document;

let served: { authUrl: string; document: OpenApiDocument } | undefined;

/** Adds the types of this service to each list of types, and their group to a filter. */
function withOwnTypes(name: string, value: unknown): unknown {
  const own = entityGroups.get('own');
  const isOfTypes = name === 'enum' && Array.isArray(value) && value.includes('bk_series');
  if (!own || !isOfTypes) return value;
  return value.includes('bookdb') ? [...value, 'own', ...own] : [...value, ...own];
}

/** Narrows the types of a new review, and of what a program adds, to those of this service. */
function withTypesOfBodies(whole: OpenApiDocument): OpenApiDocument {
  const { '/review': review, '/entity': entity } = whole.paths;
  if (reviewableTypes.length < entityTypes.length) narrow(review.post, reviewableTypes);
  narrow(entity.post, entityGroups.get('own') ?? []);
  return whole;
}

type Body = OpenApiDocument['paths']['/review' | '/entity']['post'];

/** Lets the body of a request have one of some types, if there are any. */
function narrow({ requestBody }: Body, types: readonly string[]): void {
  const [first] = types;
  if (first === undefined) return;
  const { schema, example } = requestBody.content['application/json'];
  const { description } = schema.properties.entity_type;
  Object.assign(schema.properties, {
    entity_type: { description, type: 'string', enum: types },
  });
  Object.assign(example, { entity_type: first });
}

/** Returns the OpenAPI document with the addresses of the service at this {auth_url}. */
export function openApiAt(authUrl: string): OpenApiDocument {
  if (served?.authUrl !== authUrl) {
    const storedUrl = document.servers[0]?.url.slice(0, -version.length) ?? '';
    const text = JSON.stringify(document).replaceAll(storedUrl, () => authUrl);
    served = { authUrl, document: withTypesOfBodies(JSON.parse(text, withOwnTypes)) };
  }
  return served.document;
}
