// The OpenAPI document, which `npm run openapi` generates.
import { version } from '../routes.ts';
import document from './openapi.json' with { type: 'json' };

export type OpenApiDocument = typeof document;

let served: { authUrl: string; document: OpenApiDocument } | undefined;

/** Returns the OpenAPI document with the addresses of the service at this {auth_url}. */
export function openApiAt(authUrl: string): OpenApiDocument {
  if (served?.authUrl !== authUrl) {
    const storedUrl = document.servers[0]?.url.slice(0, -version.length) ?? '';
    const text = JSON.stringify(document).replaceAll(storedUrl, () => authUrl);
    served = { authUrl, document: JSON.parse(text) };
  }
  return served.document;
}
