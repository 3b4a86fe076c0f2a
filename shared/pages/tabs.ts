import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Html } from './layout.ts';

/** Links of which one leads to what is shown: addresses with names. */
export function tabs(
  label: string,
  current: string,
  links: readonly (readonly [href: string, name: string])[],
): Html {
  return html`<nav class="choice" aria-label="${label}">${links.map(
    ([href, name]) =>
      html`<a href="${href}"${href === current && html` aria-current="page"`}>${name}</a>`,
  )}</nav>`;
}

/** What somebody has contributed, of which one page is shown. */
export function ownTabs(current: 'reviews' | 'votes'): Html {
  const at = `${authUrl()}/account`;
  return tabs('Yours', `${at}/${current}`, [
    [`${at}/reviews`, 'Your reviews'],
    [`${at}/votes`, 'Your votes'],
  ]);
}
