import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { findReport } from '../../../core/report/report-repository.ts';
import { getPublicReview } from '../../../core/review/read-reviews.ts';
import { reasons } from '../../../core/review/verdict.ts';
import type { User } from '../../../core/user/user.ts';
import { radios } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { nextSteps } from '../../../pages/frame/next-steps.ts';
import { nameWithRole } from '../../../pages/frame/person.ts';
import { dayOf } from '../../../pages/frame/words.ts';
import { excerptOf } from '../../../pages/review/written-parts.ts';
import { reasonOf } from './moderation.ts';

/** Page to report a review, or why that is impossible. Throws ApiError 404 if it is not public. */
export async function reportPage(
  reviewId: string,
  { user, csrf }: Visitor,
  filled: FormState = blank,
): Promise<Page> {
  const [{ review, author }, report] = await Promise.all([
    getPublicReview(reviewId),
    findReport(reviewId, user.id),
  ]);
  const href = `${authUrl()}/review/${reviewId}`;
  const toReview = nextSteps({ href, text: 'Go to the review' });
  const obstacle = obstacleOf(user, author);
  return {
    title: report ? 'You have reported this review' : 'Report a review',
    content: report
      ? html`<section>
          <p>Thank you. You reported it on ${dayOf(report.reported_at)}: ${reasonOf(report.reason)}. Moderators look at every report.</p>
          ${toReview}
        </section>`
      : html`${faultOf(filled)}
        <section>
          <p>The review by <a href="${href}">${nameWithRole(author)}</a>:</p>
          ${review.text !== null && html`<p class="review" lang="${review.language}" dir="auto">${excerptOf(review.text)}</p>`}
        </section>
        <section>${obstacle ? html`<p>${obstacle}</p>${toReview}` : form(`${href}/report`, csrf, filled)}</section>`,
  };
}

/** Says why a user may not report reviews of an author. Undefined if they may. */
function obstacleOf(user: User, author: User): string | undefined {
  if (author.id === user.id) return 'You cannot report your own review.';
  if (user.blocked_at !== undefined) {
    return 'You cannot report reviews, because a moderator has blocked your account.';
  }
  return undefined;
}

function form(action: string, csrf: string, filled: FormState) {
  return html`<form method="post" action="${action}">
    ${csrfField(csrf)}
    ${radios({
      name: 'reason',
      label: 'What is wrong with the review?',
      choices: reasons.map((reason) => [reason, reasonOf(reason)]),
      isRequired: true,
      filled,
    })}
    ${field({
      name: 'words',
      label: 'In your own words',
      type: 'area',
      hint: 'Moderators read it in place of the reason. May stay empty.',
      maxlength: 500,
      filled,
    })}
    <button>Report review</button>
  </form>`;
}
