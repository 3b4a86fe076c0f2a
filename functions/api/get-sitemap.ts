import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { notFound } from '../../shared/base/errors.ts';
import { endpoint } from '../../shared/core/http/endpoint.ts';
import { IntegerParameter } from '../../shared/core/http/request.ts';
import { Answer, brieflyShared } from '../../shared/core/http/response.ts';
import { countReviews, listReviewIds } from '../../shared/core/review/review-list.ts';

/** Reviews on a page. Their entries are 190 KB of an index, and their addresses 100 KB. */
const perPage = 1_000;

/** Pages in the index: 4 million reviews take 400 KB of it. */
const mostPages = 4_000;

/** The first page also has these pages, so it is never empty. */
const fixedPaths = ['/', '/reviews', '/docs'];

export const request = v.object({
  query: v.object({ page: v.optional(IntegerParameter(1, mostPages)) }),
});

/**
 * Lists the pages for search engines (sitemaps.org 0.9): an index of pages, or one page. A review's
 * page links to its entity and its author. No order of the table has all entities.
 */
export const handler = endpoint(request, async ({ query: { page } }) => {
  const document = page === undefined ? await indexOfPages() : await pageOf(page);
  return new Answer(`<?xml version="1.0" encoding="UTF-8"?>\n${document}`, {
    type: 'application/xml; charset=utf-8',
    headers: { 'Cache-Control': brieflyShared },
  });
});

async function indexOfPages() {
  const count = Math.ceil((await countReviews()) / perPage);
  const numbers = Array.from({ length: Math.min(mostPages, Math.max(1, count)) }, (_, i) => i + 1);
  return html`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${numbers.map((number) => html`<sitemap><loc>${authUrl()}/sitemap.xml?page=${number}</loc></sitemap>\n`)}</sitemapindex>
`;
}

async function pageOf(number: number) {
  const ids = await listReviewIds({ offset: (number - 1) * perPage, limit: perPage });
  const fixed = number === 1 ? fixedPaths : [];
  const paths = [...fixed, ...ids.map((id) => `/review/${id}`)];
  if (paths.length === 0) throw notFound('Page');
  return html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => html`<url><loc>${authUrl()}${path}</loc></url>\n`)}</urlset>
`;
}
