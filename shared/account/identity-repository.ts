import { hash, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { HiddenMark, hiddenClaimItem, markOf } from '../review/hidden-claim.ts';
import { Review } from '../review/review.ts';
import { getItems } from '../table/batch.ts';
import { claimKey, contactKey, identityKey, reviewKey, userKey } from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import { retryStale, StaleRead, transact } from '../table/transact.ts';
import type { Identity } from '../user/identity-provider.ts';
import type { User } from '../user/user.ts';
import { accountWrites, findUser } from '../user/user-repository.ts';

/** The account of an identity, or the moderators' decisions that outlive it. */
const StoredIdentity = v.object({
  user_id: v.optional(v.string()),
  /** Since when the deleted account is blocked; ISO 8601. */
  blocked_at: v.optional(v.string()),
  /** Hidden reviews of deleted accounts, to mark on the next account. */
  hidden: v.optional(v.array(HiddenMark)),
});

/** Hidden reviews that an identity stores at most, the newest ones. An item holds 400 KB. */
const maxHidden = 2000;
/** Marks that one transaction writes. */
const maxMarks = 90;

/**
 * Returns a person's account. A new one inherits the block and the marks of hidden reviews. Throws
 * ApiError 503 if the marks take too long; the next sign-in writes the rest.
 */
export async function findOrCreateUser(identity: Identity): Promise<User> {
  const { issuer, subject, display_name, ...contact } = identity;
  const sha256 = hash('sha256', JSON.stringify([issuer, subject]));
  return retryStale(async () => {
    const stored = v.parse(StoredIdentity, (await getItem(identityKey(sha256))) ?? {});
    const { user_id, blocked_at, hidden = [] } = stored;
    const known = user_id === undefined ? undefined : await findUser(user_id);
    if (user_id !== undefined && !known) {
      await detachIdentity(user_id);
      throw new StaleRead();
    }
    if (known && hidden.length === 0) return known;
    const user: User = known ?? {
      display_name,
      id: randomUUID(),
      created: new Date().toISOString(),
      has_proposed_name: true,
      karma: 0,
      ...(blocked_at && { blocked_at }),
    };
    const marks = hidden.slice(0, maxMarks);
    const rest = hidden.slice(maxMarks);
    const set = { user_id: user.id, blocked_at: undefined, hidden: listOf(rest) };
    const was = { user_id, blocked_at, hidden: stored.hidden };
    await transact([
      { Update: { Key: identityKey(sha256), set, was } },
      ...(known ? [] : accountWrites(user, { ...contact, identity: sha256 })),
      ...marks.map((mark) => ({ Put: { Item: hiddenClaimItem(user.id, mark) } })),
    ]);
    // Until all marks are written, the person could review a hidden entity again.
    if (rest.length > 0) throw new StaleRead();
    return user;
  });
}

/**
 * Detaches a deleted account from its identity, which keeps the block and the hidden reviews for
 * the next account. Safe to repeat: the deletion, the eraser and the next sign-in may run at once.
 */
export async function detachIdentity(userId: string): Promise<void> {
  await retryStale(async () => {
    const keys = [userKey(userId), contactKey(userId)];
    const [user, contact] = await getItems(keys, { consistent: true });
    if (!contact || (user && user.deleted_at === undefined)) return;
    const Key = identityKey(String(contact.identity));
    const stored = v.parse(StoredIdentity, (await getItem(Key)) ?? {});
    const hidden = [...(stored.hidden ?? []), ...(await hiddenOf(userId))].slice(-maxHidden);
    const blocked_at = user?.blocked_at;
    const was = { user_id: userId, hidden: stored.hidden };
    const set = { user_id: undefined, blocked_at, hidden: listOf(hidden) };
    const hasDecisions = blocked_at !== undefined || hidden.length > 0;
    const detachment = hasDecisions ? { Update: { Key, set, was } } : { Delete: { Key, was } };
    const isGone = 'attribute_not_exists(pk) OR attribute_exists(deleted_at)';
    await transact([
      { ConditionCheck: { Key: userKey(userId), ConditionExpression: isGone } },
      { Delete: { Key: contactKey(userId), ConditionExpression: 'attribute_exists(pk)' } },
      ...(stored.user_id === userId ? [detachment] : []),
    ]);
  });
}

/** Returns a deleted account's hidden reviews, newest last, with those it had deleted itself. */
async function hiddenOf(userId: string): Promise<HiddenMark[]> {
  const hidden: HiddenMark[] = [];
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    const keys = claims.map(({ review_id }) => reviewKey(String(review_id)));
    const reviews = await getItems(keys, { consistent: true });
    for (const [i, claim] of claims.entries()) {
      const review = reviews[i] && v.parse(Review, reviews[i]);
      if (claim.marked_at !== undefined) hidden.push(v.parse(HiddenMark, claim));
      else if (review?.is_hidden && review.deleted_at === undefined) hidden.push(markOf(review));
    }
  }
  return hidden.sort((a, b) => (a.marked_at < b.marked_at ? -1 : 1));
}

const listOf = <T>(list: T[]) => (list.length > 0 ? list : undefined);
