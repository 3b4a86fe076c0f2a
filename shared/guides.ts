import kept from './guides.json' with { type: 'json' };

/** A guide. Its HTML is safe: the renderer escapes HTML in the Markdown. */
export type Guide = (typeof kept.guides)[number];

/** The guides in the order of the menu, which `npm run openapi` makes from infra/guides. */
export const guides: readonly Guide[] = kept.guides;

/** The HTML of a guide, with the addresses of the service whose {auth_url} this is. */
export function guideAt({ html }: Guide, authUrl: string): string {
  return html.replaceAll(kept.authUrl, () => authUrl);
}
