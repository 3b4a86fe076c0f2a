// The link from an identity at the provider to an account.
import { hash, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { accessDenied } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import { findItem } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, StaleRead, transact, type Write } from '../../base/table/transact.ts';
import { epochSeconds } from '../../base/time.ts';
import { addressKey, contactKey, identityKey, userKey } from '../../core/keys.ts';
import { hiddenClaimItem } from '../../core/review/hidden-claim.ts';
import { reportedClaimItem } from '../../core/review/reported-claim.ts';
import { followed } from '../../core/user/address.ts';
import { Claimable, endClaim, hashOfAddress } from '../../core/user/claimable.ts';
import type { Identity } from '../../core/user/identity.ts';
import { isModeratorName, keysOfName, namesRole } from '../../core/user/moderator-name.ts';
import { accountWrites } from '../../core/user/name-repository.ts';
import { type Contact, readerName, type User, whereAlive } from '../../core/user/user.ts';
import { type Account, findAccount, listAsModerator } from '../../core/user/user-repository.ts';
import { joinWrite, mayJoin, takesInvitations } from '../members/public.ts';
import { arrivalOf, type Claim, isOpen } from './arrival.ts';
import {
  detachIdentity,
  reviewsOfRequest,
  StoredIdentity,
  unlessEmpty,
} from './detach-identity.ts';

/** Marks that one transaction writes. */
const maxMarks = 90;

/** Thrown for an identity whose account has moved to another one, while it can undo that. */
export class FormerIdentity extends Error {
  /** The account. */
  readonly user_id: string;
  /** The hash of this identity. */
  readonly identity: string;

  constructor(user_id: string, identity: string) {
    super('The account of this identity has moved to another one');
    this.user_id = user_id;
    this.identity = identity;
  }
}

/**
 * Returns a person's account. At the first sign-in this is the account that waits for the verified
 * address, or a new one. A new one inherits the block and the marks of hidden and reported reviews.
 * It gets another name if a moderator has the proposed one. Each sign-in takes over what the
 * provider says of the address. `invitation` is the token of the link with which the person came.
 * Throws `FormerIdentity`, ApiError 403 for a new account of somebody who may not join, and 503 if
 * the marks take too long; the next sign-in writes the rest.
 */
export async function findOrCreateUser(identity: Identity, invitation?: string): Promise<User> {
  const sha256 = hashOfIdentity(identity.issuer, identity.subject);
  return retryStale(async () => {
    const record = await readIdentity(sha256);
    const { user_id } = record;
    const id = user_id ?? formerOf(record);
    const account = id === undefined ? undefined : await findAccount(id);
    const claim = user_id === undefined ? await findClaim(identity) : undefined;
    const arrival = arrivalOf(sha256, record, account, claim);
    const isNew = arrival === 'new' || (arrival === 'carry' && account === undefined);
    const joining = isNew ? await writesToJoin(identity, invitation) : [];
    switch (arrival) {
      case 'gone':
        await detachIdentity(`${user_id}`, reviewsOfRequest);
        throw new StaleRead();
      case 'former':
        throw new FormerIdentity(`${id}`, sha256);
      case 'known':
        return welcomeBack(account as Account, sha256, identity);
      case 'carry':
        await carryDecisions(record, account, { sha256, identity, joining });
        // Until all marks are written, the person could review a hidden entity again.
        throw new StaleRead();
      case 'claim':
        return takeClaim(claim as Claim, record, sha256, identity);
      case 'new':
        return createAccount(record, { sha256, identity, joining });
    }
  });
}

/** Returns what is written beside a new account. Throws ApiError 403 if the person may not join. */
async function writesToJoin(identity: Identity, invitation: string | undefined): Promise<Write[]> {
  if (mayJoin(identity)) return [];
  if (invitation !== undefined && takesInvitations()) return [await joinWrite(invitation)];
  throw accessDenied('Only members can open an account here');
}

/** Returns the id of an identity in its key. */
export const hashOfIdentity = (issuer: string, subject: string) =>
  hash('sha256', JSON.stringify([issuer, subject]));

/** Reads what is stored of an identity. */
export async function readIdentity(sha256: string): Promise<StoredIdentity> {
  return v.parse(StoredIdentity, (await getItem(identityKey(sha256))) ?? {});
}

/** Returns the account that an identity had before a move, while it can undo the move. */
export function formerOf({ former_of, expires_at = 0 }: StoredIdentity): string | undefined {
  return expires_at > epochSeconds() ? former_of : undefined;
}

/**
 * Returns the write that gives an identity an account. It fails, as a stale read, if the identity
 * has changed since it was read. Decisions that are not in `left` are written elsewhere.
 */
export function linkWrite(
  sha256: string,
  { user_id, blocked_at, hidden, reported, former_of }: StoredIdentity,
  account: { user_id: string; issuer: string | undefined },
  left: Pick<StoredIdentity, 'hidden' | 'reported'> = {},
): Write {
  const was = { user_id, blocked_at, hidden, reported, former_of };
  const set = { hidden: undefined, reported: undefined, ...left, ...account };
  const over = { blocked_at: undefined, former_of: undefined, expires_at: undefined };
  return { Update: { Key: identityKey(sha256), set: { ...set, ...over }, was } };
}

/** Returns the private part of an account after a sign-in. */
export function contactAfter(contact: Contact, sha256: string, identity: Identity): Contact {
  const { musicdb_username } = identity;
  return {
    ...contact,
    ...followed(contact, identity),
    musicdb_username: musicdb_username ?? contact.musicdb_username,
    identity: sha256,
  };
}

/** Returns the update of the private part of an account, unless its address has changed since. */
export function contactUpdate(user_id: string, before: Contact, after: Contact) {
  const names = Object.keys({ ...before, ...after }) as (keyof Contact)[];
  const changed = names.filter((name) => before[name] !== after[name]);
  return { Key: contactKey(user_id), set: pick(after, changed), was: asRead(before) };
}

/** Returns what a write of an address depends on. */
export function asRead({ identity, email, email_verified, email_from }: Contact) {
  const was = { identity, email_verified, email_from };
  // A missing address may be stored as null.
  return email === null ? was : { ...was, email };
}

/** Signs in to an existing account, and takes over what the provider says now. */
async function welcomeBack(
  { user, contact }: Account,
  sha256: string,
  identity: Identity,
): Promise<User> {
  // The account has moved to another identity since this one was read.
  if (contact.identity !== sha256) throw new StaleRead();
  const update = contactUpdate(user.id, contact, contactAfter(contact, sha256, identity));
  if (Object.keys(update.set).length > 0) {
    const endsClaim = 'email' in update.set || 'email_verified' in update.set;
    await transact([
      { Update: update },
      ...(endsClaim ? await endClaim(user.id, contact.email) : []),
    ]);
  }
  if (user.is_moderator) await listAsModerator(user);
  return user;
}

/** An identity with its hash, and what is written beside its new account. */
interface Newcomer {
  sha256: string;
  identity: Identity;
  joining: readonly Write[];
}

/** Writes decisions on earlier accounts of a person to the account, or to a new one. */
async function carryDecisions(
  record: StoredIdentity,
  account: Account | undefined,
  { sha256, identity, joining }: Newcomer,
): Promise<void> {
  const { hidden = [], reported = [] } = record;
  const user = account?.user ?? (await newUser(identity, record.blocked_at));
  const marks = hidden.slice(0, maxMarks);
  const reports = reported.slice(0, maxMarks - marks.length);
  const left = {
    hidden: unlessEmpty(hidden.slice(marks.length)),
    reported: unlessEmpty(reported.slice(reports.length)),
  };
  const link = { user_id: user.id, issuer: identity.issuer };
  await transact([
    linkWrite(sha256, record, link, left),
    ...(account ? [] : accountWrites(user, newContact(sha256, identity))),
    ...joining,
    ...marks.map((mark) => ({ Put: { Item: hiddenClaimItem(user.id, mark) } })),
    ...reports.map((mark) => ({ Put: { Item: reportedClaimItem(user.id, mark) } })),
  ]);
}

async function createAccount(
  record: StoredIdentity,
  { sha256, identity, joining }: Newcomer,
): Promise<User> {
  const user = await newUser(identity);
  await transact([
    linkWrite(sha256, record, { user_id: user.id, issuer: identity.issuer }),
    ...accountWrites(user, newContact(sha256, identity)),
    ...joining,
  ]);
  return user;
}

/**
 * Gives an account that waits to its person. Of two people who claim it, or of one and its
 * deletion or a change of its address, only the first succeeds.
 */
async function takeClaim(
  { claimable, address, user, contact }: Claim,
  record: StoredIdentity,
  sha256: string,
  identity: Identity,
): Promise<User> {
  const { user_id, replaces } = claimable;
  const after = contactAfter(contact, sha256, identity);
  const writes: Write[] = [
    linkWrite(sha256, record, { user_id, issuer: identity.issuer }),
    { ConditionCheck: { Key: userKey(user_id), where: whereAlive } },
    { Update: contactUpdate(user_id, contact, after) },
    { Delete: { Key: addressKey(address), was: { user_id, replaces } } },
  ];
  if (replaces) writes.push({ Delete: { Key: identityKey(replaces), was: { user_id } } });
  await transact(writes);
  return user;
}

/**
 * Returns the account that waits for a person with this verified address. Undefined for an address
 * that the provider has not verified, and if the claim no longer holds.
 */
export async function findClaim(
  identity: Pick<Identity, 'issuer' | 'email' | 'email_verified'>,
): Promise<Claim | undefined> {
  const { issuer, email, email_verified } = identity;
  if (!email || !email_verified) return undefined;
  const address = hashOfAddress(email);
  const claimable = await readClaimable(address);
  if (!claimable || (claimable.issuer ?? issuer) !== issuer) return undefined;
  return openClaim(claimable, address);
}

/** Returns true if somebody who proves the address now signs in to an account that exists. */
export async function opensAccount(
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
  email: string,
): Promise<boolean> {
  const [record, claim] = await Promise.all([
    readIdentity(hashOfIdentity(issuer, subject)),
    findClaim({ issuer, email, email_verified: true }),
  ]);
  return record.user_id !== undefined || claim !== undefined;
}

/** Reads the claim by the address with this hash, whether it holds or not. */
export function readClaimable(address: string): Promise<Claimable | undefined> {
  return findItem(Claimable, addressKey(address));
}

/** Returns a claim with its account, as long as it holds. */
export async function openClaim(claimable: Claimable, address: string): Promise<Claim | undefined> {
  const account = await findAccount(claimable.user_id);
  const claim = account && { claimable, address, ...account };
  return claim && isOpen(claim) ? claim : undefined;
}

/** Makes the user of a first sign-in, with another name for that of a moderator or a role. */
async function newUser({ display_name }: Identity, blocked_at?: string): Promise<User> {
  const id = randomUUID();
  const isFree =
    display_name !== null &&
    !namesRole(display_name) &&
    !(await isModeratorName(keysOfName(display_name)));
  const user: User = {
    display_name: isFree ? display_name : readerName(id),
    id,
    created: new Date().toISOString(),
    has_proposed_name: true,
    karma: 0,
  };
  if (blocked_at) user.blocked_at = blocked_at;
  return user;
}

function newContact(sha256: string, identity: Identity): Contact {
  const { email = null, proposed_name } = identity;
  const blank: Contact = { email, email_from: 'provider', musicdb_username: null };
  const contact = contactAfter(blank, sha256, identity);
  return proposed_name === undefined ? contact : { ...contact, proposed_name };
}
