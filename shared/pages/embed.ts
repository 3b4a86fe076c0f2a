import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { NamedEntity } from './named-entity.ts';

/** Pixels of the frame that shows the stars of an entity on another site. */
export const embedSize = { width: 320, height: 120 };

/** The frame as HTML for another site. */
export function embedCode(
  { url, name }: Pick<NamedEntity, 'url' | 'name'>,
  { width, height } = embedSize,
): string {
  return `${html`<iframe src="${url}/embed" title="Reviews: ${name}" width="${width}" height="${height}" style="border:0" loading="lazy"></iframe>`}`;
}

/** Where a site that is given the address of an entity's page finds the frame (oEmbed). */
export function oembedUrl(url: string): string {
  return `${authUrl()}/oembed?${new URLSearchParams({ url, format: 'json' })}`;
}
