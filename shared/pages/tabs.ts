import { html } from 'hono/html';
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
