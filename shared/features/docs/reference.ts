// The rendered reference at /docs/api.
import generated from './reference.json' with { type: 'json' };

/**
 * Returns the HTML of the reference and of its contents, with the addresses of this {auth_url}.
 * `npm run generate` makes both from the OpenAPI description. They are safe, because the renderer
 * escapes what it inserts.
 */
export function referenceAt(authUrl: string): { contents: string; html: string } {
  const { contents, html } = generated;
  return { contents, html: html.replaceAll(generated.authUrl, () => authUrl) };
}
