// Claims of hidden reviews that their authors have deleted: these entities stay closed to them.
import * as v from 'valibot';
import { invalidRequest, notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { parseItems } from '../../base/table/parse.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { retryStale, transact } from '../../base/table/transact.ts';
import { claimKey } from '../../core/keys.ts';
import type { Decider, Decision } from '../../core/report/decision.ts';
import { logged, newDecision } from '../../core/report/decision-log.ts';
import { HiddenClaim } from '../../core/review/hidden-claim.ts';
import { whereAlive } from '../../core/user/user.ts';
import { checkWriter } from '../../core/user/writer.ts';

/** Lists the claims of hidden reviews that a user has deleted, newest first, at most 100. */
export async function listHiddenClaims(userId: string): Promise<HiddenClaim[]> {
  const pages = queryIndex('author-by-date', `HIDDEN#${userId}`, { descending: true });
  const items = await getItems(await collect(pages, 100), { consistent: true });
  // The index may be behind.
  return parseItems(
    HiddenClaim,
    items.filter((item) => item?.marked_at),
  );
}

/**
 * Allows an author to review an entity again after a hidden review of it was deleted. Throws
 * ApiError 400 if there is no such review or it was the moderator's own. Throws ApiError 404 if the
 * account was deleted or the user is not a moderator.
 */
export async function allowReview(
  userId: string,
  entityId: string,
  by: Decider,
): Promise<Decision> {
  const Key = claimKey(userId, entityId);
  return retryStale(async () => {
    const item = await getItem(Key);
    if (item?.marked_at === undefined) {
      throw invalidRequest('This author has deleted no hidden review of this entity');
    }
    if (by.moderator_id === userId) {
      throw invalidRequest('This review was your own: another moderator decides on it');
    }
    const { review_id, marked_at } = v.parse(HiddenClaim, item);
    const decision = newDecision('allow', by, { user_id: userId, review_id, reports: 0 });
    await transact([
      { Delete: { Key, was: { marked_at } } },
      checkWriter(userId, { where: whereAlive, otherwise: notFound('User') }),
      ...logged(decision),
    ]);
    return decision;
  });
}
