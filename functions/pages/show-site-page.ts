import { html, raw } from 'hono/html';
import * as v from 'valibot';
import { notFound } from '../../shared/base/errors.ts';
import { siteContent } from '../../shared/base/site/content.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

export const request = v.object({ path: v.object({ slug: v.string() }) });

/** Shows a page of the operator's own. */
export const handler = visitedPage(request, async ({ path }) => {
  const page = siteContent().pages.find(({ slug }) => slug === path.slug);
  if (!page) throw notFound('Page');
  const { slug, title, description } = page;
  return {
    title,
    description,
    head: headOf({ path: `/pages/${slug}`, type: 'website' }),
    content: html`<article>${raw(page.html)}</article>`,
  };
});
