import * as v from 'valibot';
import { ReviewPath } from '../../shared/http/request.ts';
import { insertReport } from '../../shared/moderation/report-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { reportPage } from '../../shared/pages/moderation/report-page.ts';
import { getPublicReview } from '../../shared/review/read-reviews.ts';
import { reasons } from '../../shared/review/verdict.ts';
import { oneOf } from '../../shared/values.ts';

/** Files a report. The next page confirms it: the page of the review is the same for everybody. */
export const handler = page(
  signedIn({ path: ReviewPath, body: v.object({ reason: oneOf(reasons) }) }),
  async ({ caller: { user_id }, path: { review_id }, body: { reason } }) => {
    const { review } = await getPublicReview(review_id);
    await insertReport(review, { user_id, reason });
    return { location: `/review/${review_id}/report` };
  },
  ({ path }, filled, { visitor }) => reportPage(path.review_id, visitor, filled),
);
