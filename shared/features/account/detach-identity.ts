// The end of the link from an identity to an account, and what moderators decided on it.

import * as v from 'valibot';
import { serviceUnavailable } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Item } from '../../base/table/item.ts';
import { getItem, queryItems } from '../../base/table/query.ts';
import { retryStale, transact } from '../../base/table/transact.ts';
import { caseKey, claimKey, contactKey, identityKey, reviewKey, userKey } from '../../core/keys.ts';
import { Case } from '../../core/review/case.ts';
import { HiddenMark, markOf } from '../../core/review/hidden-claim.ts';
import { ReportedMark, reportedMarkOf } from '../../core/review/reported-claim.ts';
import { isPublic, Review } from '../../core/review/review.ts';
import { isHiddenByModerator, undecidedOn } from '../../core/review/review-writes.ts';
import { whereGone } from '../../core/user/user.ts';

/** The account of an identity, or the moderators' decisions that outlive it. */
export const StoredIdentity = v.object({
  user_id: v.optional(v.string()),
  /** Issuer of the account's identity. Older code has left it out. */
  issuer: v.optional(v.string()),
  /** Since when the deleted account is blocked; ISO 8601. */
  blocked_at: v.optional(v.string()),
  /** Hidden reviews of deleted accounts, to mark on the next account. */
  hidden: v.optional(v.array(HiddenMark)),
  /** Reviews of deleted accounts with undecided reports, to mark on the next account. */
  reported: v.optional(v.array(ReportedMark)),
  /** The account that has moved to another identity. This one has nothing else then. */
  former_of: v.optional(v.string()),
  /** End of the time to undo the move, in epoch seconds. */
  expires_at: v.optional(v.number()),
});

export type StoredIdentity = v.InferOutput<typeof StoredIdentity>;

/** Hidden and reported reviews that an identity stores at most, the newest ones: about 64 KB. */
const maxHidden = 200;
const maxReported = 60;
/** Reviews that a request looks through, for some 400 read units. The eraser takes any number. */
export const reviewsOfRequest = 50;
/** Returns a list as it is stored: an empty one is left out. */
export const unlessEmpty = <T>(list: T[]) => (list.length > 0 ? list : undefined);

/**
 * Detaches a deleted account from its identity, which keeps the block and the hidden reviews for
 * the next account. Safe to repeat: the deletion, the eraser and the next sign-in may run at once.
 * Throws ApiError 503 if the account has more reviews than `most`.
 */
export async function detachIdentity(
  userId: string,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  await retryStale(async () => {
    const keys = [userKey(userId), contactKey(userId)];
    const [user, contact] = await getItems(keys, { consistent: true });
    if (!contact || (user && user.deleted_at === undefined)) return;
    const Key = identityKey(String(contact.identity));
    const record = v.parse(StoredIdentity, (await getItem(Key)) ?? {});
    // An account that gets everything back is not blocked.
    const isTakenBack = user?.hiding !== undefined && user.blocked_at !== undefined;
    const marks = await marksOf(userId, isTakenBack, most);
    const hidden = [...(record.hidden ?? []), ...marks.hidden].slice(-maxHidden);
    const reported = [...(record.reported ?? []), ...marks.reported].slice(-maxReported);
    const blocked_at = user?.blocked_at;
    const was = { user_id: userId, hidden: record.hidden, reported: record.reported };
    const set = {
      user_id: undefined,
      issuer: undefined,
      blocked_at,
      hidden: unlessEmpty(hidden),
      reported: unlessEmpty(reported),
    };
    const hasDecisions = blocked_at !== undefined || hidden.length + reported.length > 0;
    const detachment = hasDecisions ? { Update: { Key, set, was } } : { Delete: { Key, was } };
    await transact([
      { ConditionCheck: { Key: userKey(userId), where: whereGone } },
      { Delete: { Key: contactKey(userId), where: [['pk', 'present']] } },
      ...(record.user_id === userId ? [detachment] : []),
    ]);
  });
}

/**
 * Returns what a deleted account leaves to the next one: hidden reviews, newest last, with those it
 * had deleted itself, and reviews with undecided reports. While all reviews are being hidden, the
 * public ones count as hidden.
 */
async function marksOf(userId: string, isHiding: boolean, most: number) {
  const hidden: HiddenMark[] = [];
  const reported: ReportedMark[] = [];
  /** Returns false for the claim of a review that exists. */
  const addMark = (claim: Item): boolean => {
    if (claim.marked_at !== undefined) hidden.push(v.parse(HiddenMark, claim));
    else if (claim.reported !== undefined) reported.push(v.parse(ReportedMark, claim));
    else return false;
    return true;
  };
  let read = 0;
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    const ofReviews = claims.filter((claim) => !addMark(claim));
    read += ofReviews.length;
    if (read > most) throw serviceUnavailable('The earlier account is still being deleted');
    const ids = ofReviews.map(({ review_id }) => String(review_id));
    const keys = [...ids.map(reviewKey), ...ids.map(caseKey)];
    const items = await getItems(keys, { consistent: true });
    for (const [i, claim] of ofReviews.entries()) {
      const review = items[i] && v.parse(Review, items[i]);
      if (!review) {
        // The deletion of the review may have been finished since the claim was read.
        addMark((await getItem(claim)) ?? claim);
        continue;
      }
      const caseItem = items[ids.length + i];
      const carried = undecidedOn(review, caseItem && v.parse(Case, caseItem));
      const isHidden = isHiddenByModerator(review) || (isHiding && isPublic(review));
      if (isHidden) hidden.push(markOf(review));
      else if (carried) reported.push(reportedMarkOf(review, carried));
    }
  }
  return {
    hidden: hidden.sort((a, b) => (a.marked_at < b.marked_at ? -1 : 1)),
    reported: reported.sort((a, b) => (a.reported.opened_at < b.reported.opened_at ? -1 : 1)),
  };
}
