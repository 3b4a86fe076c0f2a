// Links to the operator's own pages.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { site } from '../../site/site.ts';
import type { Html } from './layout.ts';

/** A line that leads to the rules, if there is such a page. */
export function linkToRules(): Html | '' {
  const rules = linksTo(['rules']);
  return rules.length > 0 ? html`<p class="soft">Please keep to this page: ${rules}</p>` : '';
}

/** A line that leads somebody new to the rules and to what is stored, as far as there are pages. */
export function linksForNewcomers(): Html | '' {
  const [one, other] = linksTo(['rules', 'privacy']);
  if (!one) return '';
  return html`<p>Please read before you write: ${one}${other && html` · ${other}`}</p>`;
}

function linksTo(slugs: readonly string[]): Html[] {
  return site().pages.flatMap(({ slug, title }) =>
    slugs.includes(slug) ? [html`<a href="${authUrl()}/pages/${slug}">${title}</a>`] : [],
  );
}
