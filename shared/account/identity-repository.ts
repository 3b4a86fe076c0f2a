// The link from an identity at the provider to an account.
import { hash, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { hiddenClaimItem } from '../review/hidden-claim.ts';
import { reportedClaimItem } from '../review/reported-claim.ts';
import { addressKey, contactKey, identityKey, userKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { retryStale, StaleRead, transact, tryUpdate, type Write } from '../table/transact.ts';
import { Claimable, hashOfAddress } from '../user/claimable.ts';
import type { Identity } from '../user/identity.ts';
import { isModeratorName, keysOfName, namesRole } from '../user/moderator-name.ts';
import { accountWrites } from '../user/name-repository.ts';
import { readerName, type User, whereAlive } from '../user/user.ts';
import { type Account, findAccount, listAsModerator } from '../user/user-repository.ts';
import {
  detachIdentity,
  reviewsOfRequest,
  StoredIdentity,
  unlessEmpty,
} from './detach-identity.ts';

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
