import { html } from 'hono/html';
import * as v from 'valibot';
import { notFound } from '../../shared/base/errors.ts';
import { reference, referencePages } from '../../shared/features/docs/public.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

export const request = v.object({ path: v.object({ group: v.string() }) });

/** Shows a page of the API reference: a group of endpoints, or what all of them share. */
export const handler = visitedPage(request, async ({ path }) => {
  const page = referencePages.find(({ slug }) => slug === path.group);
  if (!page) throw notFound('Page');
  return {
    title: `${page.title} · API reference`,
    heading: html`${page.title}`,
    description: `API reference: ${page.description}`,
    isWide: true,
    content: reference(page),
  };
});
