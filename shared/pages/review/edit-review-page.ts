// The page to edit an own review, or to publish a draft.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { licenseOf } from '../../base/licenses.ts';
import { nameOfEntity } from '../../core/entity/entity-type.ts';
import { findMetadata } from '../../core/entity/metadata.ts';
import type { Metadata } from '../../core/entity/presented.ts';
import { getReviewBy } from '../../core/review/read-reviews.ts';
import {
  isDraft,
  isHeld,
  isPublic,
  type Review,
  type WholeReview,
} from '../../core/review/review.ts';
import { revisionTagOf } from '../../core/review/revision-tag.ts';
import { findLatestWritten } from '../../core/review/waiting.ts';
import { type Written, writtenNames } from '../../core/review/written.ts';
import { entityLine } from '../entity/named-entity.ts';
import { blank, type FormState, faultOf } from '../form/fields.ts';
import type { Redirect } from '../frame/html-response.ts';
import { nameOfLanguage } from '../frame/language-names.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { typedAs, writtenFields } from './review-fields.ts';
import { findObstacle, obstaclePage } from './review-obstacle.ts';
import { inFull } from './written-parts.ts';

/** The page with a review as stored or as sent. Throws ApiError 404 if another person wrote it. */
export async function editReviewPage(
  reviewId: string,
  { user, csrf }: Visitor,
  filled: FormState = blank,
): Promise<Page> {
  const [review, obstacle] = await Promise.all([
    getReviewBy(user.id, reviewId),
    findObstacle(user, 'edits'),
  ]);
  const [[metadata = null], latest] = await Promise.all([
    findMetadata([review], { id: user.id, isModerator: false }),
    findLatestWritten(review),
  ]);
  const name = nameOfEntity(review, metadata);
  const words = isDraft(review) ? 'Your draft' : 'Edit your review';
  const title = `${words}: ${name}`;
  // A form that was sent when the limit was reached keeps its fields.
  if (obstacle && (filled === blank || user.blocked_at !== undefined)) {
    return obstaclePage(title, obstacle, filled);
  }
  return {
    title,
    heading: html`${words}: <bdi>${name}</bdi>`,
    hasWriting: true,
    content: html`${faultOf(filled)}
      ${review.is_hidden && (isHeld(review) ? heldHelp() : hiddenHelp())}
      ${review.waiting_since !== undefined && waitingHelp()}
      ${form(review, latest, metadata, csrf, filled)}
      ${isOther(filled, latest) && saved({ ...review, ...latest })}
      <section>
        <p><a href="${authUrl()}/review/${review.id}/delete">Delete this ${nounOf(review)} …</a></p>
      </section>`,
  };
}

/** Redirects to a review that was saved, with a notice. */
export function afterSaving(review: Review, isPublication: boolean): Redirect {
  if (isDraft(review)) return { location: `/review/${review.id}/edit`, notice: 'draft-saved' };
  const isEditWaiting = review.waiting_since !== undefined;
  const saved = isEditWaiting ? 'edit-held' : 'review-saved';
  const notice = isPublication ? 'review-published' : saved;
  if (isPublic(review)) return { location: `/review/${review.id}`, notice };
  const isWaiting = isPublication && isHeld(review);
  return { location: '/account/reviews', notice: isWaiting ? 'review-held' : 'review-saved' };
}

function nounOf(review: Review): string {
  return isDraft(review) ? 'draft' : 'review';
}

/** Is true if the form holds something else than the stored review. */
function isOther({ values }: FormState, latest: Written): boolean {
  const stored = typedAs(latest);
  return writtenNames.some((name) => values[name] !== undefined && values[name] !== stored[name]);
}

function heldHelp(): Html {
  return html`<section>
    <p>This review waits for a moderator. Until then only you and moderators can see it. You can still change it.</p>
  </section>`;
}

function waitingHelp(): Html {
  return html`<section>
    <p>Your new text waits for a moderator. It is below, and you can still change it. Until then everybody reads the text before it.</p>
  </section>`;
}

function hiddenHelp(): Html {
  return html`<section>
    <p class="warning">A moderator has hidden this review. Only you and moderators can see it, also after you edit it.</p>
    <p><a href="${authUrl()}/account/reviews">See the reason, or appeal</a></p>
  </section>`;
}

function form(
  review: WholeReview,
  latest: Written,
  metadata: Metadata | null,
  csrf: string,
  filled: FormState,
): Html {
  const { id, language } = review;
  return html`<section>
    ${entityLine(review, metadata, { opensTab: true })}
    <form method="post" action="${authUrl()}/review/${id}/edit">
      ${csrfField(csrf, { revision: revisionTagOf(review) })}
      ${writtenFields(filled, latest)}
      <p class="soft">In ${nameOfLanguage(language)}, under the licence ${licenseOf(review).id}. Neither can be changed.</p>
      <div class="buttons">
        ${
          isDraft(review)
            ? html`<button name="is_draft" value="no">Publish</button>
              <button class="quiet" name="is_draft" value="yes">Save draft</button>`
            : html`<button>Save</button>`
        }
      </div>
    </form>
  </section>`;
}

/** The review as it is stored, beside other content in the form. */
function saved(review: WholeReview): Html {
  return html`<section>
    <h2>The saved ${nounOf(review)}</h2>
    <p class="soft">Press the button of the form again to replace it.</p>
    ${inFull(review)}
  </section>`;
}
