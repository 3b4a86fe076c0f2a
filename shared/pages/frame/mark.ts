// The mark of the service: a star in a speech bubble.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import type { Html } from './layout.ts';

/** A star in a speech bubble, on a field of 32 by 32. */
const bubble = 'M6 2h20a5 5 0 0 1 5 5v13a5 5 0 0 1-5 5H16l-8 6v-6H6a5 5 0 0 1-5-5V7a5 5 0 0 1 5-5z';
const star =
  'M16 6.4L17.8 11.2L22.8 11.4L18.9 14.5L20.2 19.4L16 16.6L11.8 19.4L13.1 14.5L9.2 11.4L14.2 11.2z';

/** The logo of the site, or its mark in the colours of the page. */
export function mark(): Html {
  const { logo } = site();
  if (logo) return html`<img class="mark" src="${logoUrl(logo)}" alt="">`;
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><path fill="var(--accent)" d="${bubble}"/><path fill="var(--paper)" d="${star}"/></svg>`;
}

/** Address of the mark in the tab: inline, as /favicon.ico may belong to another service. */
export function icon(): string {
  const { logo } = site();
  return logo ? logoUrl(logo) : `data:image/svg+xml,${encodeURIComponent(iconImage())}`;
}

/** The mark as a picture of its own. */
export function iconImage(): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="${site().accent.light}" d="${bubble}"/><path fill="#fff" d="${star}"/></svg>`;
}

/** Another logo has another address, because browsers keep it for a day. */
function logoUrl(digest: string): string {
  return `${authUrl()}/logo?v=${digest}`;
}
