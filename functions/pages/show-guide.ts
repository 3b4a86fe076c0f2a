import { html, raw } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { type Guide, guideAt, guides } from '../../shared/docs/guides.ts';
import { PathParameter } from '../../shared/http/request.ts';
import { beside } from '../../shared/pages/frame/beside.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

export const request = v.object({
  path: v.object({ guide: PathParameter('Page', v.picklist(guides.map(({ slug }) => slug))) }),
});

export const handler = visitedPage(request, async ({ path }) => {
  const index = guides.findIndex(({ slug }) => slug === path.guide);
  const previous = guides[index - 1];
  const guide = guides[index] as Guide;
  const next = guides[index + 1];
  return {
    title: guide.title,
    description: guide.description,
    isWide: true,
    content: beside(
      'Guides',
      html`<ol>
            ${guides.map((each) => html`<li>${linkTo(each, each === guide && html` aria-current="page"`)}</li>`)}
          </ol>`,
      html`<a href="${authUrl()}/docs/api">API reference</a>`,
      html`${raw(guideAt(guide, authUrl()))}
          <nav class="around" aria-label="Next guide">
            ${previous && linkTo(previous, html` rel="prev"`, 'Previous: ')}
            ${next && linkTo(next, html` rel="next"`, 'Next: ')}
          </nav>`,
    ),
  };
});

function linkTo({ slug, title }: Guide, attribute: Html | false, before = '') {
  return html`<a href="${authUrl()}/docs/${slug}"${attribute}>${before}${title}</a>`;
}
