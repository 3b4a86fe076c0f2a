// The rendered reference at /docs/api.
import { html, raw } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { version } from '../../base/routes.ts';
import { beside } from '../../pages/frame/beside.ts';
import type { Html } from '../../pages/frame/layout.ts';
import generated from './reference.json' with { type: 'json' };

/** A page, with the parts that it describes. Some of them are on another `page`, by its slug. */
interface ReferencePage {
  slug: string;
  title: string;
  description: string;
  entries: readonly { id: string; text: string; call?: string; page?: string }[];
  html: string;
}

/** The pages below the index, which `npm run generate` makes from the OpenAPI description. */
export const referencePages: readonly ReferencePage[] = generated.pages;

const addressOf = (slug: string) => `${authUrl()}/docs/api/${slug}`;

/** Returns a page of the reference, or its index, beside the contents. */
export function reference(page?: ReferencePage): Html {
  const base = authUrl();
  return beside(
    'Contents',
    html`<ol>
            ${referencePages.map((each) => menuItem(each, each === page))}
          </ol>`,
    html`${page && html`<a href="${base}/docs/api">All endpoints</a><br>`}<a href="${base}/docs">Guides</a><br><a href="${base}${version}/openapi.json">OpenAPI description</a>`,
    page
      ? html`<p>${page.description}</p>
${withAddresses(page.html)}`
      : html`${withAddresses(generated.before)}
${referencePages.map(listOf)}
${withAddresses(generated.after)}`,
  );
}

/** Leads to a page, and from the menu of that page to what it describes. */
function menuItem({ slug, title, entries }: ReferencePage, isCurrent: boolean): Html {
  const own = isCurrent ? entries.filter(({ page }) => page === undefined) : [];
  return html`<li><a href="${addressOf(slug)}"${isCurrent && html` aria-current="page"`}>${title}</a>${
    isCurrent &&
    html`<ol>${own.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ol>`
  }</li>`;
}

/** Lists what a page describes. Each line of the index has the id of the part that it leads to. */
function listOf({ slug, title, description, entries }: ReferencePage): Html {
  return html`<h2 id="${slug}"><a href="${addressOf(slug)}">${title}</a></h2>
<p>${description}</p>
<ul>${entries.map(
    ({ id, text, call, page = slug }) =>
      html`<li id="${id}"><a href="${addressOf(page)}#${id}">${text}</a>${call && html` <code>${call}</code>`}</li>`,
  )}</ul>`;
}

/** The HTML with the addresses of this service. The renderer has escaped what it inserts. */
function withAddresses(rendered: string): Html {
  const base = authUrl();
  const own = rendered.replaceAll('href="/', () => `href="${addressOf('')}`);
  return raw(own.replaceAll(generated.authUrl, () => base)) as Html;
}
