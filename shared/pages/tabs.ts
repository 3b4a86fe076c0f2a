import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Html } from './layout.ts';

/** A row of links, with the current one marked: addresses with names. */
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

/** Tabs of a person's contributions. */
export function ownTabs(current: 'reviews' | 'votes'): Html {
  const at = `${authUrl()}/account`;
  return tabs('Yours', `${at}/${current}`, [
    [`${at}/reviews`, 'Your reviews'],
    [`${at}/votes`, 'Your votes'],
  ]);
}
