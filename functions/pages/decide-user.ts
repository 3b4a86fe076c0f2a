import * as v from 'valibot';
import { bodyOf, UserPath } from '../../shared/http/request.ts';
import { accountVerdicts, decideUser } from '../../shared/moderation/account-decisions.ts';
import { Grounds } from '../../shared/moderation/decision.ts';
import { allowReview } from '../../shared/moderation/hidden-claims.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { authorPage } from '../../shared/pages/moderation/author-page.ts';
import { moderationUrl, requireModerator } from '../../shared/pages/moderation/moderation.ts';
import { oneOf, Uuid } from '../../shared/values.ts';

export const request = signedIn({
  path: UserPath,
  body: bodyOf({
    decision: oneOf([...accountVerdicts, 'allow']),
    /** Entity that the user may review again. */
    entity_id: v.optional(Uuid),
    ...Grounds.entries,
  }),
});

/** Blocks or unblocks an account, undoes what it did, or allows a review after a hidden one. */
export const handler = page(
  request,
  async ({ caller, path, body }, { visitor }) => {
    requireModerator(visitor);
    const { decision, entity_id, ...why } = body;
    const by = { ...why, moderator_id: caller.user_id };
    if (decision === 'allow') {
      await allowReview(path.user_id, entity_id ?? '', by);
    } else {
      await decideUser(path.user_id, decision, by);
    }
    return { location: moderationUrl(`/users/${path.user_id}`), notice: `user-${decision}` };
  },
  ({ path }, filled, { visitor }) => authorPage(path.user_id, visitor, { show: 'reviews' }, filled),
);
