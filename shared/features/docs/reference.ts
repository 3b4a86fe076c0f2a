// The rendered reference at /docs/api.
import { html, raw } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { version } from '../../base/routes.ts';
import { beside } from '../../pages/frame/beside.ts';
import type { Html } from '../../pages/frame/layout.ts';
import generated from './reference.json' with { type: 'json' };

type ReferencePage = (typeof generated.pages)[number];

/** The pages below the index, which `npm run generate` makes from the OpenAPI description. */
export const referencePages: readonly ReferencePage[] = generated.pages;

/**
 * Returns a page of the reference, or its index, beside the contents. The contents list what the
 * page describes. Its HTML is safe, because the renderer escapes what it inserts.
 */
export function reference(page?: ReferencePage): Html {
  const base = authUrl();
  const index = html`${base}/docs/api`;
  const article = (page?.html ?? generated.index).replaceAll(generated.authUrl, () => base);
  return beside(
    'Contents',
    html`<ol>
            ${referencePages.map(
              (each) =>
                html`<li><a href="${index}/${each.slug}"${each === page && html` aria-current="page"`}>${each.title}</a>${each === page && within(each)}</li>`,
            )}
          </ol>`,
    html`${page && html`<a href="${index}">All endpoints</a><br>`}<a href="${base}/docs">Guides</a><br><a href="${base}${version}/openapi.json">OpenAPI description</a>`,
    raw(article),
  );
}

/** Links to what a page describes. */
function within({ entries }: ReferencePage): Html {
  return html`<ol>${entries.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ol>`;
}
