import { invalidRequest, notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { parseItem } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, transact } from '../../base/table/transact.ts';
import { countsKey, decisionKey, userKey } from '../../core/keys.ts';
import { type Decider, Decision, isSame } from '../../core/report/decision.ts';
import { listDecisions, logged, newDecision } from '../../core/report/decision-log.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { parseUser, type User } from '../../core/user/user.ts';

// Decisions on accounts.

/** Verdicts on an account. */
export const accountVerdicts = ['block', 'hide_all', 'unblock', 'restore_all'] as const;
type AccountVerdict = (typeof accountVerdicts)[number];

/**
 * Blocks an account, so that it writes nothing, or unblocks it. `hide_all` also has the background
 * take back all that it did, and `restore_all` brings that back, see `undoAll`. Idempotent. Throws
 * ApiError 404 if the user does not exist or the moderator is none, 400 if somebody else has
 * decided already, or a moderator would block a moderator.
 */
export async function decideUser(
  userId: string,
  verdict: AccountVerdict,
  by: Decider,
): Promise<Decision> {
  return retryStale(async () => {
    const keys = [userKey(userId), countsKey(userId)];
    const [item, counts] = await getItems(keys, { consistent: true });
    const user = parseUser(item);
    if (!user) throw notFound('User');
    const { is_moderator, blocked_at, hiding, taken_back } = user;
    const obstacle = obstacleTo(verdict, user, countsIn(counts).all);
    if (obstacle !== undefined) {
      const last = await findLastOn(user);
      if (last && isSame(last, verdict, by)) return last;
      throw invalidRequest(obstacle);
    }
    if (is_moderator && by.moderator_id !== null) {
      throw invalidRequest('A moderator is blocked by the operator of the service alone');
    }
    const decision = newDecision(verdict, by, {
      user_id: userId,
      review_id: null,
      reports: 0,
      ...(verdict === 'restore_all' && { part_of: taken_back }),
    });
    const isBlock = verdict === 'block' || verdict === 'hide_all';
    const isOfAll = verdict === 'hide_all' || verdict === 'restore_all';
    const set = {
      blocked_at: isBlock ? (blocked_at ?? decision.decided_at) : undefined,
      hiding: isOfAll ? decision.id : undefined,
      ...(verdict !== 'unblock' && {
        taken_back: verdict === 'hide_all' ? decision.id : undefined,
      }),
    };
    const was = { id: userId, deleted_at: undefined, blocked_at, hiding, is_moderator };
    const block = { Update: { Key: userKey(userId), set, was } };
    await transact([block, ...logged(decision)]);
    return decision;
  });
}

/** Returns why a decision on an account, with so many public reviews, is not possible. */
function obstacleTo(
  verdict: AccountVerdict,
  { blocked_at, hiding, taken_back }: User,
  publicReviews: number,
): string | undefined {
  const isBlocked = blocked_at !== undefined;
  const blocked = `This account is ${isBlocked ? 'blocked already' : 'not blocked'}`;
  switch (verdict) {
    case 'block':
      return isBlocked ? blocked : undefined;
    case 'unblock':
      return isBlocked ? undefined : blocked;
    case 'restore_all':
      return taken_back === undefined ? 'Nothing of this account was taken back' : undefined;
    case 'hide_all':
      if (!isBlocked) return undefined;
      if (hiding !== undefined) return 'All that it did is being taken back already';
      return taken_back !== undefined && publicReviews === 0 ? blocked : undefined;
  }
}

/** Finds the last decision on an account. That on all that it did may be far down the log. */
async function findLastOn({ id, taken_back }: User): Promise<Decision | undefined> {
  const { decisions } = await listDecisions(20, { userId: id });
  const last = decisions.find(({ review_id, part_of, decision }) => {
    const isOnAccount = review_id === null && decision !== 'link';
    return isOnAccount && (part_of === undefined || decision === 'restore_all');
  });
  return last ?? parseItem(Decision, await getItem(decisionKey(`${taken_back}`)));
}
