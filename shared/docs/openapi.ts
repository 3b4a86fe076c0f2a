// The OpenAPI document, which `npm run openapi` generates.
import { entityGroups } from '../entity/entity-type.ts';
import { version } from '../routes.ts';
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

/** Returns the OpenAPI document with the addresses of the service at this {auth_url}. */
export function openApiAt(authUrl: string): OpenApiDocument {
  if (served?.authUrl !== authUrl) {
    const storedUrl = document.servers[0]?.url.slice(0, -version.length) ?? '';
    const text = JSON.stringify(document).replaceAll(storedUrl, () => authUrl);
    served = { authUrl, document: JSON.parse(text, withOwnTypes) };
  }
  return served.document;
}
