import * as v from 'valibot';
import { bodyOf, PathId } from '../shared/http/request.ts';
import { Why } from '../shared/moderation/decision.ts';
import { decideUser } from '../shared/moderation/decision-repository.ts';
import { authorPage } from '../shared/pages/author-page.ts';
import { moderationUrl, requireModerator } from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ user_id: PathId('User') }),
  body: bodyOf({
    decision: v.picklist(['block', 'unblock'], 'must be block or unblock'),
    ...Why.entries,
  }),
});

/** Blocks an account, or ends that. */
export const handler = page(
  request,
  async ({ caller, path, body: { decision, ...why } }, { visitor }) => {
    requireModerator(visitor);
    await decideUser(path.user_id, decision, { ...why, moderator_id: caller.user_id });
    return { location: moderationUrl(`/users/${path.user_id}`), notice: `user-${decision}` };
  },
  ({ path }, filled, { visitor }) => authorPage(path.user_id, visitor, filled),
);
