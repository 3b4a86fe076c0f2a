import document from './openapi.json' with { type: 'json' };
import { version } from './routes.ts';

/** The API's description as it is kept, which `npm run openapi` makes. */
export type OpenApiDocument = typeof document;

let served: { authUrl: string; document: OpenApiDocument } | undefined;

/** The API's description, with the addresses of the service whose {auth_url} this is. */
export function openApiAt(authUrl: string): OpenApiDocument {
  if (served?.authUrl !== authUrl) {
    const kept = document.servers[0]?.url.slice(0, -version.length) ?? '';
    const text = JSON.stringify(document).replaceAll(kept, () => authUrl);
    served = { authUrl, document: JSON.parse(text) };
  }
  return served.document;
}
