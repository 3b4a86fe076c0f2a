import * as v from 'valibot';
import { oneOf } from '../../shared/base/values.ts';
import { bodyOf, IntegerParameter, ReviewPath } from '../../shared/core/http/request.ts';
import { Grounds } from '../../shared/core/report/decision.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { deskKinds } from '../../shared/core/report/desk.ts';
import { verdicts } from '../../shared/core/review/verdict.ts';
import {
  casePage,
  moderationUrl,
  releaseRest,
  requireModerator,
} from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';

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
    /** Kind of the list on the desk that the form was in. */
    kind: v.optional(oneOf(deskKinds)),
  }),
});

/** Decides on the version that the moderator has seen. Shows the decision of a faster moderator. */
export const handler = page(
  request,
  async ({ caller, path, body }, { visitor }) => {
    requireModerator(visitor);
    const { decision, version, edits, named, kind, ...why } = body;
    const by = { ...why, moderator_id: caller.user_id };
    const decided = await decideReview(path.review_id, decision, by, { version, edits, named });
    if (decision === 'approve' && decided?.user_id) await releaseRest(decided.user_id, by);
    return { location: withQuery(moderationUrl(), { kind }), notice: `review-${decision}` };
  },
  ({ path }, filled, { visitor }) => casePage(path.review_id, visitor, filled),
);
