// The rendered guides at /docs.
import generated from './guides.json' with { type: 'json' };

/** A guide. Its HTML is safe, because the renderer escapes HTML in Markdown. */
export type Guide = (typeof generated.guides)[number];

/** The guides in the order of the menu, which `npm run openapi` makes from infra/guides. */
export const guides: readonly Guide[] = generated.guides;

/** Returns the HTML of a guide, with the addresses of this {auth_url}. */
export function guideAt({ html }: Guide, authUrl: string): string {
  return html.replaceAll(generated.authUrl, () => authUrl);
}
