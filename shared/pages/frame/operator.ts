// Ways to the people who run the site.
import { html } from 'hono/html';
import { site } from '../../base/site/site.ts';
import type { Html } from './layout.ts';

/** Words that say whom to ask, with the contact if the operator has set one. */
export function askOperator(): Html {
  const { name, isNamed, contact } = site();
  const who = isNamed
    ? html`the operator of <bdi>${name}</bdi>`
    : html`the operator of this service`;
  return html`ask ${who}${contact && html` at <a href="${contact}">${contact.replace(/^mailto:/, '')}</a>`}`;
}
