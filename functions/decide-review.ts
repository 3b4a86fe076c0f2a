import * as v from 'valibot';
import { bodyOf, IntegerParameter, PathId } from '../shared/http/request.ts';
import { Grounds } from '../shared/moderation/decision.ts';
import { decideReview } from '../shared/moderation/decision-repository.ts';
import { verdicts } from '../shared/moderation/verdict.ts';
import { casePage } from '../shared/pages/case-page.ts';
import { moderationUrl, requireModerator } from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

const Count = IntegerParameter(0, Number.MAX_SAFE_INTEGER);

export const request = v.object({
  caller: Session,
  path: v.object({ review_id: PathId('Review') }),
  body: bodyOf({
    decision: v.picklist(verdicts, `must be one of ${verdicts.join(', ')}`),
    ...Grounds.entries,
    version: Count,
    edits: Count,
  }),
});

/**
 * Decides on the version of a review that the moderator has seen. If another moderator was faster,
 * shows that decision.
 */
export const handler = page(
  request,
  async ({ caller, path, body: { decision, version, edits, ...why } }, { visitor }) => {
    requireModerator(visitor);
    const by = { ...why, moderator_id: caller.user_id };
    await decideReview(path.review_id, decision, by, { version, edits });
    return { location: moderationUrl(), notice: `review-${decision}` };
  },
  ({ path }, filled, { visitor }) => casePage(path.review_id, visitor, filled),
);
