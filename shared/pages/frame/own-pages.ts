// Links to the operator's own pages.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import type { Html } from './layout.ts';

/** A line that leads to the rules, if there is such a page. Beside a form it opens a tab. */
export function linkToRules({ opensTab = false } = {}): Html | '' {
  const rules = linksTo(['rules'], opensTab);
  return rules.length > 0 ? html`<p class="soft">Please keep to this page: ${rules}</p>` : '';
}

/** A line that leads somebody new to the rules and to what is stored, as far as there are pages. */
export function linksForNewcomers(): Html | '' {
  const [one, other] = linksTo(['rules', 'privacy']);
  if (!one) return '';
  return html`<p>Please read before you write: ${one}${other && html` · ${other}`}</p>`;
}

function linksTo(slugs: readonly string[], opensTab = false): Html[] {
  const tab = opensTab && html` target="_blank" rel="noreferrer"`;
  return site().pages.flatMap(({ slug, title }) =>
    slugs.includes(slug) ? [html`<a href="${authUrl()}/pages/${slug}"${tab}>${title}</a>`] : [],
  );
}
