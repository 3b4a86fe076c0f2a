import * as v from 'valibot';
import { bodyOf, IntegerParameter, ReviewPath } from '../../shared/http/request.ts';
import { Grounds } from '../../shared/moderation/decision.ts';
import { decideReview } from '../../shared/moderation/decision-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { casePage } from '../../shared/pages/moderation/case-page.ts';
import { moderationUrl, requireModerator } from '../../shared/pages/moderation/moderation.ts';
import { verdicts } from '../../shared/review/verdict.ts';

const Count = IntegerParameter(0);

export const request = signedIn({
  path: ReviewPath,
  body: bodyOf({
    decision: v.picklist(verdicts, `must be one of ${verdicts.join(', ')}`),
    ...Grounds.entries,
    version: Count,
    edits: Count,
    /** Version of the name that waits with the review. */
    named: v.optional(Count),
  }),
});

/** Decides on the version that the moderator has seen. Shows the decision of a faster moderator. */
export const handler = page(
  request,
  async ({ caller, path, body: { decision, version, edits, named, ...why } }, { visitor }) => {
    requireModerator(visitor);
    const by = { ...why, moderator_id: caller.user_id };
    await decideReview(path.review_id, decision, by, { version, edits, named });
    return { location: moderationUrl(), notice: `review-${decision}` };
  },
  ({ path }, filled, { visitor }) => casePage(path.review_id, visitor, filled),
);
