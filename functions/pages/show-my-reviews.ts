import { html } from 'hono/html';
import { authUrl } from '../../shared/base/auth-url.ts';
import { isDraft, isHeld, isPublic, type Review } from '../../shared/core/review/review.ts';
import { appealOn, ownTabs } from '../../shared/features/account/public.ts';
import { decisionOf, saying, stateOf } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, nextPage, rowsUnder } from '../../shared/pages/frame/lists.ts';
import { dayOf } from '../../shared/pages/frame/words.ts';
import { reviewCell } from '../../shared/pages/review/review-card.ts';
import { readWritten } from '../../shared/pages/review/review-list.ts';

export const request = signedIn({ query: CursorQuery });

export const handler = page(request, async ({ caller: { user_id }, query }, { visitor }) => {
  const base = authUrl();
  const { written, cursor } = await readWritten(user_id, query.cursor, visitor);
  const rows = written.map(({ review, metadata }) => [
    reviewCell(review, metadata, isPublic(review) ? `${base}/review/${review.id}` : undefined),
    html`${stateOf(review)}${review.is_hidden ? whyHidden(review, visitor.csrf) : refusal(review)}`,
    `Yes ${review.votes_positive} · No ${review.votes_negative}`,
    dayOf(review.published_on ?? review.created),
    changeLinks(review),
  ]);
  const none = html`<p>You have not reviewed anything yet.</p>
    <p><a href="${base}/find">Find something to review</a>, or write about <a href="${base}/reviews">what others have reviewed</a>. Reviews also come from <a href="${base}/account/connections">applications that you connect</a>.</p>`;
  return {
    title: 'Your reviews',
    isWide: true,
    content: html`${ownTabs('reviews')}<section>
      ${rowsUnder(['Review', 'State', 'Helpful', 'Date', 'Change'], rows, none)}
      ${nextPage(`${base}/account/reviews`, cursor)}
    </section>`,
  };
});

function changeLinks(review: Review) {
  const url = `${authUrl()}/review/${review.id}`;
  return html`<a href="${url}/edit">${isDraft(review) ? 'Edit or publish' : 'Edit'}</a> <a href="${url}/delete">Delete</a>`;
}

/** The reason why the last edit was refused, until the next decision or edit. */
function refusal({ moderation, waiting_since }: Review) {
  if (moderation?.decision !== 'refuse' || waiting_since !== undefined) return '';
  return html`<p class="soft">${decisionOf(moderation)}</p>${saying(moderation.note)}`;
}

function whyHidden(review: Review, csrf: string) {
  if (isHeld(review)) return html`<p class="soft">Nobody else can see it until then.</p>`;
  return html`${saying(review.moderation?.note ?? '')}${appealOn(review, csrf)}`;
}
