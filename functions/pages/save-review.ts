import * as v from 'valibot';
import { ApiError } from '../../shared/base/errors.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { getReviewBy } from '../../shared/core/review/read-reviews.ts';
import { isDraft } from '../../shared/core/review/review.ts';
import { updateReview } from '../../shared/core/review/review-repository.ts';
import { findLatestWritten } from '../../shared/core/review/waiting.ts';
import { isSameWritten, writtenIn } from '../../shared/core/review/written.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { asInForm } from '../../shared/pages/form/sent-form.ts';
import { afterSaving, editReviewPage } from '../../shared/pages/review/edit-review-page.ts';
import { typedFields } from '../../shared/pages/review/review-fields.ts';
import { requireContent } from '../../shared/pages/review/sent-review.ts';

const EditForm = v.object({
  ...typedFields,
  /** Tag of the revision that the form showed. */
  revision: v.string(),
  /** `no` publishes a draft, `yes` saves one. Absent from the form of a published review. */
  is_draft: v.optional(v.string()),
});

/** Saves an own review or draft, or publishes a draft. */
export const handler = page(
  signedIn({ path: ReviewPath, body: EditForm }),
  async ({ caller: { user_id }, path: { review_id }, body }) => {
    requireContent(body);
    const is_draft = body.is_draft === undefined ? undefined : body.is_draft !== 'no';
    const change = { ...writtenIn(body), is_draft };
    await updateReview(review_id, user_id, change, [body.revision], asInForm).catch(
      async (error) => {
        if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error;
        const review = await getReviewBy(user_id, review_id);
        const latest = await findLatestWritten(review);
        const shown = { ...latest, text: latest.text && asInForm(latest.text) };
        const isDone = isSameWritten(shown, body) && is_draft !== !isDraft(review);
        // Otherwise the form was sent twice, and the first time has saved it.
        if (!isDone) throw error;
      },
    );
    return afterSaving(await getReviewBy(user_id, review_id), is_draft === false);
  },
  ({ path }, filled, { visitor }) => editReviewPage(path.review_id, visitor, filled),
  { longField: 'text' },
);
