// The link from an identity at the provider to an account, and what moderators decided on it.
import { hash, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { serviceUnavailable } from '../errors.ts';
import { Case } from '../review/case.ts';
import { HiddenMark, hiddenClaimItem, markOf } from '../review/hidden-claim.ts';
import { ReportedMark, reportedClaimItem, reportedMarkOf } from '../review/reported-claim.ts';
import { isPublic, Review } from '../review/review.ts';
import { isHiddenByModerator, undecidedOn } from '../review/review-writes.ts';
import { getItems } from '../table/batch.ts';
import type { Item } from '../table/item.ts';
import {
  addressKey,
  caseKey,
  claimKey,
  contactKey,
  identityKey,
  reviewKey,
  userKey,
} from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import { retryStale, StaleRead, transact, tryUpdate, type Write } from '../table/transact.ts';
import { Claimable, hashOfAddress } from '../user/claimable.ts';
import type { Identity } from '../user/identity.ts';
import { isModeratorName, keysOfName, namesRole } from '../user/moderator-name.ts';
import { readerName, type User, whereAlive } from '../user/user.ts';
import {
  type Account,
  accountWrites,
  findAccount,
  listAsModerator,
} from '../user/user-repository.ts';

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
});

export type StoredIdentity = v.InferOutput<typeof StoredIdentity>;

/** Hidden and reported reviews that an identity stores at most, the newest ones: about 64 KB. */
const maxHidden = 200;
const maxReported = 60;
/** Reviews that a request looks through, for some 400 read units. The eraser takes any number. */
export const reviewsOfRequest = 50;
/** Marks that one transaction writes. */
const maxMarks = 90;

/**
 * Returns a person's account. At the first sign-in this is the account that waits for the verified
 * address, or a new one. A new one inherits the block and the marks of hidden and reported reviews.
 * It gets another name if a moderator has the proposed one. Throws ApiError 503 if the marks take
 * too long; the next sign-in writes the rest.
 */
export async function findOrCreateUser(identity: Identity): Promise<User> {
  const { issuer, subject, display_name, email_verified, ...profile } = identity;
  const contact = email_verified ? { ...profile, email_verified } : profile;
  const sha256 = hashOfIdentity(issuer, subject);
  return retryStale(async () => {
    const record = v.parse(StoredIdentity, (await getItem(identityKey(sha256))) ?? {});
    const { user_id, blocked_at, hidden = [], reported = [] } = record;
    const account = user_id === undefined ? undefined : await findAccount(user_id);
    const existing = account?.user;
    if (user_id !== undefined && !account) {
      await detachIdentity(user_id, reviewsOfRequest);
      throw new StaleRead();
    }
    if (account) await noteVerified(account, identity);
    if (existing?.is_moderator) await listAsModerator(existing);
    if (existing && hidden.length + reported.length === 0) return existing;
    const was = { user_id, blocked_at, hidden: record.hidden, reported: record.reported };
    // Whoever was blocked or hidden goes on with a new account, which carries that.
    const hasDecisions = blocked_at !== undefined || hidden.length + reported.length > 0;
    const claim = existing || hasDecisions ? undefined : await findClaim(identity);
    if (claim) {
      await transact([
        { Update: { Key: identityKey(sha256), set: { user_id: claim.user.id, issuer }, was } },
        ...claimWrites(claim, sha256, contact),
      ]);
      return claim.user;
    }
    const user = existing ?? (await newUser(display_name, blocked_at));
    const marks = hidden.slice(0, maxMarks);
    const reports = reported.slice(0, maxMarks - marks.length);
    const set = {
      user_id: user.id,
      issuer,
      blocked_at: undefined,
      hidden: unlessEmpty(hidden.slice(marks.length)),
      reported: unlessEmpty(reported.slice(reports.length)),
    };
    await transact([
      { Update: { Key: identityKey(sha256), set, was } },
      ...(existing ? [] : accountWrites(user, { ...contact, identity: sha256 })),
      ...marks.map((mark) => ({ Put: { Item: hiddenClaimItem(user.id, mark) } })),
      ...reports.map((mark) => ({ Put: { Item: reportedClaimItem(user.id, mark) } })),
    ]);
    // Until all marks are written, the person could review a hidden entity again.
    if (set.hidden ?? set.reported) throw new StaleRead();
    return user;
  });
}

/** Returns the id of an identity in its key. */
export const hashOfIdentity = (issuer: string, subject: string) =>
  hash('sha256', JSON.stringify([issuer, subject]));

/** Notes that the provider has verified the address of an account since its last sign-in. */
async function noteVerified({ user, contact }: Account, { email, email_verified }: Identity) {
  if (!email_verified || contact.email_verified || contact.email !== email) return;
  const was = { email, identity: contact.identity };
  await tryUpdate({ Key: contactKey(user.id), set: { email_verified }, was });
}

/** An account that somebody may claim. */
interface Claim {
  claimable: Claimable;
  /** Hash of the address. */
  address: string;
  user: User;
}

/**
 * Returns the account that waits for a person with this verified address. Undefined for an address
 * that the provider has not verified, and if the account has another identity by now.
 */
async function findClaim({ issuer, email, email_verified }: Identity): Promise<Claim | undefined> {
  if (email === null || !email_verified) return undefined;
  const address = hashOfAddress(email);
  const item = await getItem(addressKey(address));
  const claimable = item && v.parse(Claimable, item);
  if (!claimable || (claimable.issuer ?? issuer) !== issuer) return undefined;
  const account = await findAccount(claimable.user_id);
  if (account?.contact.identity !== claimable.replaces) return undefined;
  return account && { claimable, address, user: account.user };
}

/**
 * Returns the writes of a claim, beside the new identity. Of two people who claim an account, or of
 * one and its deletion, only the first succeeds.
 */
function claimWrites(
  { claimable, address, user }: Claim,
  identity: string,
  { email }: Pick<Identity, 'email'>,
): Write[] {
  const { user_id, replaces } = claimable;
  const was = { identity: replaces };
  const set = { identity, email, email_verified: true };
  const writes: Write[] = [
    { ConditionCheck: { Key: userKey(user.id), ConditionExpression: whereAlive } },
    { Update: { Key: contactKey(user.id), set, was } },
    { Delete: { Key: addressKey(address), was: { user_id, replaces } } },
  ];
  if (replaces) writes.push({ Delete: { Key: identityKey(replaces), was: { user_id } } });
  return writes;
}

/** Makes the user of a first sign-in, with another name for that of a moderator or a role. */
async function newUser(proposedName: string, blocked_at: string | undefined): Promise<User> {
  const id = randomUUID();
  const isTaken = namesRole(proposedName) || (await isModeratorName(keysOfName(proposedName)));
  const user: User = {
    display_name: isTaken ? readerName(id) : proposedName,
    id,
    created: new Date().toISOString(),
    has_proposed_name: true,
    karma: 0,
  };
  if (blocked_at) user.blocked_at = blocked_at;
  return user;
}

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
    const isGone = 'attribute_not_exists(pk) OR attribute_exists(deleted_at)';
    await transact([
      { ConditionCheck: { Key: userKey(userId), ConditionExpression: isGone } },
      { Delete: { Key: contactKey(userId), ConditionExpression: 'attribute_exists(pk)' } },
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

const unlessEmpty = <T>(list: T[]) => (list.length > 0 ? list : undefined);
