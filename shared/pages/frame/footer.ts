// The footer of a page.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import type { Html } from './layout.ts';

/** Links that are the same on every page: first those of the operator's own pages. */
export function footer(): Html {
  const base = authUrl();
  const { pages, contact } = site();
  const about = pages.some(({ slug }) => slug === 'about') ? [] : [['/', 'About']];
  return html`<footer>
    <nav aria-label="More">${pages.map(({ slug, title }) => html`<a href="${base}/pages/${slug}">${title}</a>`)}${[...about, ['/help', 'Help'], ['/docs', 'Developers']].map(([path, name]) => html`<a href="${base}${path}">${name}</a>`)}${contact && html`<a href="${contact}">Contact</a>`}</nav>
  </footer>`;
}
