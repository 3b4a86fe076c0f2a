import { html } from 'hono/html';
import * as v from 'valibot';
import { readFromCursor } from '../shared/list/cursor.ts';
import { listCases } from '../shared/moderation/case-repository.ts';
import type { Html } from '../shared/pages/layout.ts';
import {
  contentOf,
  moderationUrl,
  nextPage,
  reportsOf,
  requireModerator,
} from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { minuteOf } from '../shared/pages/words.ts';

const limit = 20;

export const request = v.object({
  caller: Session,
  query: v.object({
    sort: v.optional(v.picklist(['date', 'popularity'], 'must be date or popularity'), 'date'),
    cursor: v.optional(v.string()),
  }),
});

type Waiting = Awaited<ReturnType<typeof listCases>>['cases'][number];

/** Shows moderators the queue: reviews that were reported, or whose authors appeal. */
export const handler = page(request, async ({ query: { sort, cursor: from } }, { visitor }) => {
  requireModerator(visitor);
  const list = { list: 'cases', sort };
  const { page, cursor } = await readFromCursor(
    list,
    { offset: 0, limit, cursor: from },
    ({ after }) => listCases(sort, limit, after),
  );
  return {
    title: 'Reported reviews',
    content: html`<section>
      <div class="buttons">
        ${order('date', 'Oldest first', sort)} ${order('popularity', 'Most reported first', sort)}
        <a class="button quiet" href="${moderationUrl('/log')}">Log</a>
      </div>
    </section>
    <section>
      ${
        page.cases.length === 0
          ? html`<p>There is nothing to decide.</p>`
          : html`<ul class="plain">${page.cases.map((each) => html`<li>${entry(each)}</li>`)}</ul>`
      }
      ${nextPage(moderationUrl(), { sort }, cursor)}
    </section>`,
  };
});

function order(sort: string, name: string, current: string): Html {
  return html`<a class="button${sort !== current && ' quiet'}" href="${moderationUrl()}?sort=${sort}"${sort === current && html` aria-current="true"`}>${name}</a>`;
}

function entry({ review, author, moderationCase }: Waiting): Html {
  const what = moderationCase.appeal === undefined ? reportsOf(moderationCase.reports) : 'Appeal';
  return html`<h2><a href="${moderationUrl(`/reviews/${review.id}`)}">${what}: a review by ${author.display_name}</a></h2>
    <p class="clamp">${contentOf(review)}</p>
    <p class="soft">${review.entity_type} <code>${review.entity_id}</code>, waiting since ${minuteOf(moderationCase.opened_at)}</p>`;
}
