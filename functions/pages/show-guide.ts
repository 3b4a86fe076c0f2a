import { html, raw } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { PathParameter } from '../../shared/core/http/request.ts';
import { type Example, type Guide, guideAt, guides } from '../../shared/features/docs/public.ts';
import { listThings } from '../../shared/features/things/public.ts';
import { shownGroups } from '../../shared/pages/entity/shown-groups.ts';
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
      html`${raw(guideAt(guide, authUrl(), await findExample()))}
          <nav class="around" aria-label="Next guide">
            ${previous && linkTo(previous, html` rel="prev"`, 'Previous: ')}
            ${next && linkTo(next, html` rel="next"`, 'Next: ')}
          </nav>`,
    ),
  };
});

/** Finds a thing of this place, where that is not about music. */
async function findExample(): Promise<Example | undefined> {
  const groups = shownGroups();
  const [entity_type] = groups.get('own') ?? [];
  if (groups.has('musicdb') || !entity_type) return undefined;
  const { things } = await listThings({ sort: 'latest', entity_type, limit: 1 });
  const [{ record } = {}] = things;
  // A place without a review shows what one of its things could look like.
  const { entity_id = '3f8a6a0c-2c5f-4a41-9a53-6b7a0a1c9d20', name = 'Metropolis' } = record ?? {};
  return { id: entity_id, type: entity_type, name };
}

function linkTo({ slug, title }: Guide, attribute: Html | false, before = '') {
  return html`<a href="${authUrl()}/docs/${slug}"${attribute}>${before}${title}</a>`;
}
