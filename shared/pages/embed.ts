import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { NamedEntity } from './named-entity.ts';

/** Size in pixels of the frame that shows the stars of an entity on another site. */
export const embedSize = { width: 320, height: 120 };

/** The frame as HTML for another site. */
export function embedCode(
  { url, name }: Pick<NamedEntity, 'url' | 'name'>,
  { width, height } = embedSize,
): string {
  return `${html`<iframe src="${url}/embed" title="Reviews: ${name}" width="${width}" height="${height}" style="border:0" loading="lazy"></iframe>`}`;
}

/** Address at which a site finds the frame for an entity's page (oEmbed). */
export function oembedUrl(url: string): string {
  return `${authUrl()}/oembed?${new URLSearchParams({ url, format: 'json' })}`;
}
