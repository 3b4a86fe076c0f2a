import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { appealOn } from '../shared/pages/account-page.ts';
import { nextPage, saying, stateOf } from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { readWritten, reviewCell, rowsUnder } from '../shared/pages/review-table.ts';
import { Session } from '../shared/pages/session.ts';
import { ownTabs } from '../shared/pages/tabs.ts';
import { dayOf } from '../shared/pages/words.ts';
import { isPublic, type Review } from '../shared/review/review.ts';

export const request = v.object({
  caller: Session,
  query: v.object({ cursor: v.optional(v.string()) }),
});

/** Page of the person's own reviews, with drafts and hidden reviews. */
export const handler = page(request, async ({ caller: { user_id }, query }, { visitor }) => {
  const at = authUrl();
  const { written, cursor } = await readWritten(user_id, query.cursor);
  const rows = written.map(({ review, metadata }) => [
    reviewCell(review, metadata, isPublic(review) ? `${at}/review/${review.id}` : undefined),
    html`${stateOf(review)}${review.is_hidden && whyHidden(review, visitor.csrf)}`,
    `${review.votes_positive} up, ${review.votes_negative} down`,
    dayOf(review.published_on ?? review.created),
  ]);
  return {
    title: 'Your reviews',
    isWide: true,
    content: html`${ownTabs('reviews')}<section>
      ${rows.length > 0 ? rowsUnder(['Review', 'State', 'Votes', 'Date'], rows) : empty(at)}
      ${nextPage(`${at}/account/reviews`, {}, cursor)}
    </section>`,
  };
});

function whyHidden(review: Review, csrf: string) {
  return html`${saying(review.moderation?.note ?? '')}${appealOn(review, csrf)}`;
}

function empty(at: string) {
  return html`<p>You have not reviewed anything yet.</p>
    <p>Reviews come from <a href="${at}/account/connections">applications that you connect</a>, or from a script with <a href="${at}/account/tokens">a personal access token</a>.</p>`;
}
