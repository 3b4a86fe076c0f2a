// The footer of a page.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import type { Html } from './layout.ts';

const links = [
  ['/', 'About'],
  ['/docs', 'Developers'],
] as const;

/** Links that are the same on every page. */
export function footer(): Html {
  const base = authUrl();
  return html`<footer>
    <nav aria-label="More">${links.map(([path, name]) => html`<a href="${base}${path}">${name}</a>`)}</nav>
  </footer>`;
}
