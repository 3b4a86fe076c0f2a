import { html } from 'hono/html';
import * as v from 'valibot';
import { findKeptMetadata } from '../shared/entity/metadata.ts';
import { readFromCursor } from '../shared/list/cursor.ts';
import { listCases } from '../shared/moderation/case-repository.ts';
import { reasons } from '../shared/moderation/verdict.ts';
import {
  moderationTabs,
  moderationUrl,
  nextPage,
  reasonsOf,
  reasonWords,
  reportsOf,
  requireModerator,
} from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { reviewCell, rowsUnder } from '../shared/pages/review-table.ts';
import { Session } from '../shared/pages/session.ts';
import { tabs } from '../shared/pages/tabs.ts';
import { ageOf } from '../shared/pages/words.ts';
import { oneOf } from '../shared/values.ts';

/** Cases read for a page. A filter reads more, because it leaves most of them out. */
const pageSize = { whole: 20, filtered: 100 };

export const request = v.object({
  caller: Session,
  query: v.object({
    sort: v.optional(v.picklist(['date', 'popularity'], 'must be date or popularity'), 'date'),
    reason: v.optional(oneOf(reasons)),
    cursor: v.optional(v.string()),
  }),
});

/** Queue of moderators: reviews with open reports or an appeal. */
export const handler = page(request, async ({ query }, { visitor }) => {
  requireModerator(visitor);
  const { sort, reason } = query;
  const limit = reason ? pageSize.filtered : pageSize.whole;
  const list = { list: 'cases', sort, reason };
  const { page, cursor } = await readFromCursor(
    list,
    { offset: 0, limit, cursor: query.cursor },
    ({ after }) => listCases(sort, limit, { reason, after }),
  );
  const { cases } = page;
  const metadata = await findKeptMetadata(cases.map(({ review }) => review));
  const rows = cases.map(({ review, author, moderationCase }, i) => {
    const { reports, appeal, opened_at } = moderationCase;
    const counted = html`${reportsOf(reports)}<br>${reasonsOf(moderationCase)}`;
    return [
      reviewCell(review, metadata[i], moderationUrl(`/reviews/${review.id}`)),
      html`<a href="${moderationUrl(`/users/${author.id}`)}"><bdi>${author.display_name}</bdi></a>`,
      appeal === undefined ? counted : 'Appeal',
      ageOf(opened_at),
    ];
  });
  const chosen = { sort, ...(reason && { reason }) };
  const at = (changed: object) =>
    `${moderationUrl()}?${new URLSearchParams({ ...chosen, ...changed })}`;
  return {
    title: 'Reported reviews',
    isWide: true,
    content: html`${moderationTabs('')}
      <section>
        <div class="choices">
          ${tabs('Reason', at({}), [
            [`${moderationUrl()}?sort=${sort}`, 'All reasons'],
            ...reasons.map((each) => [at({ reason: each }), reasonWords[each]] as const),
          ])}
          ${tabs('Order', at({}), [
            [at({ sort: 'date' }), 'Oldest first'],
            [at({ sort: 'popularity' }), 'Most reported first'],
          ])}
        </div>
        ${rows.length > 0 ? rowsUnder(['Review', 'Author', 'Reports', 'Waiting'], rows) : nothing(cursor)}
        ${nextPage(moderationUrl(), chosen, cursor)}
      </section>`,
  };
});

function nothing(cursor: string | undefined) {
  return html`<p>${cursor ? 'None of these reviews was reported for this. There are more.' : 'There is nothing to decide.'}</p>`;
}
