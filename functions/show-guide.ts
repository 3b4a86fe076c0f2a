import { html, raw } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { type Guide, guideAt, guides } from '../shared/guides.ts';
import { PathParameter } from '../shared/http/request.ts';
import type { Html } from '../shared/pages/layout.ts';
import { publicPage } from '../shared/pages/public-page.ts';

export const request = v.object({
  path: v.object({ guide: PathParameter('Page', v.picklist(guides.map(({ slug }) => slug))) }),
});

export const handler = publicPage(request, ({ path }) => {
  const index = guides.findIndex(({ slug }) => slug === path.guide);
  const [previous, guide, next] = [guides[index - 1], guides[index] as Guide, guides[index + 1]];
  return {
    title: guide.title,
    description: guide.description,
    isWide: true,
    content: html`<div class="beside">
        <article>
          ${raw(guideAt(guide, authUrl()))}
          <nav class="around" aria-label="Next guide">
            ${previous && linkTo(previous, html` rel="prev"`, 'Previous: ')}
            ${next && linkTo(next, html` rel="next"`, 'Next: ')}
          </nav>
        </article>
        <nav class="menu" aria-label="Guides">
          <ol>
            ${guides.map((each) => html`<li>${linkTo(each, each === guide && html` aria-current="page"`)}</li>`)}
          </ol>
          <p><a href="${authUrl()}/docs/api">API reference</a></p>
        </nav>
      </div>`,
  };
});

function linkTo({ slug, title }: Guide, attribute: Html | false, before = '') {
  return html`<a href="${authUrl()}/docs/${slug}"${attribute}>${before}${title}</a>`;
}
