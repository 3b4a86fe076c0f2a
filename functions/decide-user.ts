import * as v from 'valibot';
import { bodyOf, PathId } from '../shared/http/request.ts';
import { Grounds } from '../shared/moderation/decision.ts';
import { decideUser } from '../shared/moderation/decision-repository.ts';
import { allowReview } from '../shared/moderation/hidden-claims.ts';
import { authorPage } from '../shared/pages/author-page.ts';
import { moderationUrl, requireModerator } from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { Uuid } from '../shared/values.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ user_id: PathId('User') }),
  body: bodyOf({
    decision: v.picklist(['block', 'unblock', 'allow'], 'must be block, unblock or allow'),
    /** Entity that the user may review again. */
    entity_id: v.optional(Uuid),
    ...Grounds.entries,
  }),
});

/**
 * Blocks an account, or ends that; or allows a review in place of a hidden one that was deleted.
 */
export const handler = page(
  request,
  async ({ caller, path, body: { decision, entity_id, ...why } }, { visitor }) => {
    requireModerator(visitor);
    const by = { ...why, moderator_id: caller.user_id };
    if (decision === 'allow') await allowReview(path.user_id, entity_id ?? '', by);
    else await decideUser(path.user_id, decision, by);
    return { location: moderationUrl(`/users/${path.user_id}`), notice: `user-${decision}` };
  },
  ({ path }, filled, { visitor }) => authorPage(path.user_id, visitor, filled),
);
