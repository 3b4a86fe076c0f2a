import { html } from 'hono/html';
import * as v from 'valibot';
import { findMetadata } from '../../shared/entity/metadata.ts';
import { readFromCursor } from '../../shared/list/cursor.ts';
import { listCases } from '../../shared/moderation/case-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { nextPage, perPage, rowsUnder, tabs } from '../../shared/pages/frame/lists.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { nameWithRole, viewerOf } from '../../shared/pages/frame/person.ts';
import { ageOf, counted } from '../../shared/pages/frame/words.ts';
import {
  moderationTabs,
  moderationUrl,
  reasonsOf,
  reasonWords,
  requireModerator,
} from '../../shared/pages/moderation/moderation.ts';
import { reviewCell } from '../../shared/pages/review/review-card.ts';
import { isHeld, type Review } from '../../shared/review/review.ts';
import { reasons } from '../../shared/review/verdict.ts';
import { oneOf } from '../../shared/values.ts';

export const request = signedIn({
  query: v.object({
    sort: v.optional(v.picklist(['date', 'popularity'], 'must be date or popularity'), 'date'),
    reason: v.optional(oneOf([...reasons, 'held'])),
    cursor: v.optional(v.string()),
  }),
});

/** Shows moderators the reviews that wait for a decision. */
export const handler = page(request, async ({ query }, { visitor }) => {
  requireModerator(visitor);
  const { sort, reason } = query;
  // A filter reads more, because it leaves most of them out.
  const limit = reason ? 100 : perPage;
  const list = { list: 'cases', sort, reason };
  const { page, endAfter } = await readFromCursor(
    list,
    { offset: 0, limit, cursor: query.cursor },
    ({ after }) => listCases(sort, limit, { reason, after }),
  );
  const { cases } = page;
  const { cursor } = endAfter();
  const metadata = await findMetadata(
    cases.map(({ review }) => review),
    viewerOf(visitor),
  );
  const rows = cases.map(({ review, author, moderationCase }, i) => {
    const { reports, appeal, opened_at, is_held } = moderationCase;
    const counts = html`${counted(reports, 'report')}<br>${reasonsOf(moderationCase)}`;
    const why = appeal === undefined ? counts : 'Appeal';
    return [
      reviewCell(review, metadata[i], moderationUrl(`/reviews/${review.id}`)),
      html`<a href="${moderationUrl(`/users/${author.id}`)}">${nameWithRole(author)}</a>`,
      is_held ? html`${waits(review)}${reports > 0 && html`<br>${counts}`}` : why,
      ageOf(opened_at),
    ];
  });
  const linkWith = (change: object) => withQuery(moderationUrl(), { sort, reason, ...change });
  const none = cursor
    ? html`<p>None of these reviews matches. There are more.</p>`
    : html`<p>There is nothing to decide.</p>`;
  return {
    title: 'Reviews to decide on',
    isWide: true,
    content: html`${moderationTabs('')}
      <section>
        <div class="choices">
          ${tabs('Reason', linkWith({}), [
            [linkWith({ reason: undefined }), 'All reasons'],
            ...reasons.map((each) => [linkWith({ reason: each }), reasonWords[each]] as const),
            [linkWith({ reason: 'held' }), 'New authors'],
          ])}
          ${tabs('Order', linkWith({}), [
            [linkWith({ sort: 'date' }), 'Oldest first'],
            [linkWith({ sort: 'popularity' }), 'Most reported first'],
          ])}
        </div>
        ${rowsUnder(['Review', 'Author', 'Why', 'Waiting'], rows, none)}
        ${nextPage(moderationUrl(), cursor, { sort, reason })}
      </section>`,
  };
});

/** Says what of a new author waits: a review, or an edit of a public one. */
function waits(review: Review): string {
  return isHeld(review) ? 'Waits for approval' : 'An edit waits for approval';
}
