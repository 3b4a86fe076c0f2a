import * as v from 'valibot';
import { oneOf, Uuid } from '../../shared/base/values.ts';
import { bodyOf, UserPath } from '../../shared/core/http/request.ts';
import { Grounds } from '../../shared/core/report/decision.ts';
import {
  accountVerdicts,
  allowReview,
  approveAll,
  authorPage,
  decideUser,
  moderationUrl,
  requireModerator,
} from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: UserPath,
  body: bodyOf({
    decision: oneOf([...accountVerdicts, 'allow', 'approve_all']),
    /** Entity that the user may review again. */
    entity_id: v.optional(Uuid),
    /** Time of the page that showed what waits. */
    until: v.optional(v.pipe(v.string(), v.isoTimestamp())),
    ...Grounds.entries,
  }),
});

/** Blocks or unblocks an account, undoes or approves what it did, or allows another review. */
export const handler = page(
  request,
  async ({ caller, path, body }, { visitor }) => {
    requireModerator(visitor);
    const { decision, entity_id, until = '', ...why } = body;
    const by = { ...why, moderator_id: caller.user_id };
    if (decision === 'approve_all') {
      await approveAll(path.user_id, by, until);
      return { location: moderationUrl(), notice: 'user-approve_all' };
    }
    if (decision === 'allow') {
      await allowReview(path.user_id, entity_id ?? '', by);
    } else {
      await decideUser(path.user_id, decision, by);
    }
    return { location: moderationUrl(`/users/${path.user_id}`), notice: `user-${decision}` };
  },
  ({ path }, filled, { visitor }) => authorPage(path.user_id, visitor, { show: 'reviews' }, filled),
);
