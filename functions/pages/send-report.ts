import * as v from 'valibot';
import { oneOf, Text } from '../../shared/base/values.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { insertReport } from '../../shared/core/report/report-repository.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import { reasons } from '../../shared/core/review/verdict.ts';
import { reportPage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

const ReportForm = v.object({
  reason: oneOf(reasons),
  /** They take the place of the reason. */
  words: v.optional(v.pipe(v.string(), v.trim(), Text(0, 500)), ''),
});

/** Files a report. The next page confirms it: the page of the review is the same for everybody. */
export const handler = page(
  signedIn({ path: ReviewPath, body: ReportForm }),
  async ({ caller: { user_id }, path: { review_id }, body: { reason, words } }) => {
    const { review } = await getPublicReview(review_id);
    // As the API has it: one of the reasons, or words of the person.
    await insertReport(review, { user_id, reason: words || reason });
    return { location: `/review/${review_id}/report` };
  },
  ({ path }, filled, { visitor }) => reportPage(path.review_id, visitor, filled),
);
