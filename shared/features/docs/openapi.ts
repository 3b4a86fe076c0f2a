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

/** Narrows the types of a new review to those that can be reviewed here. */
function withReviewableTypes(whole: OpenApiDocument): OpenApiDocument {
  const [first = ''] = reviewableTypes;
  if (reviewableTypes.length === entityTypes.length) return whole;
  const { schema, example } = whole.paths['/review'].post.requestBody.content['application/json'];
  const { description } = schema.properties.entity_type;
  const entity_type = { description, type: 'string', enum: reviewableTypes };
  Object.assign(schema.properties, { entity_type });
  Object.assign(example, { entity_type: first });
  return whole;
}

/** Returns the OpenAPI document with the addresses of the service at this {auth_url}. */
export function openApiAt(authUrl: string): OpenApiDocument {
  if (served?.authUrl !== authUrl) {
    const storedUrl = document.servers[0]?.url.slice(0, -version.length) ?? '';
    const text = JSON.stringify(document).replaceAll(storedUrl, () => authUrl);
    served = { authUrl, document: withReviewableTypes(JSON.parse(text, withOwnTypes)) };
  }
  return served.document;
}
