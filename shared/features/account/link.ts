// What an operator does with identities: links and unlinks one, and lets people claim by address.
import { invalidRequest, notFound } from '../../base/errors.ts';
import { batchGet } from '../../base/table/batch.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { retryStale, transact, tryTransact, type Write } from '../../base/table/transact.ts';
import { addressKey, contactKey, identityKey, userKey } from '../../core/keys.ts';
import type { Decider } from '../../core/report/decision.ts';
import { logged, newDecision } from '../../core/report/decision-log.ts';
import { accountMailWrites } from '../../core/user/account-mail.ts';
import { unvouched } from '../../core/user/address.ts';
import {
  type Claimable,
  claimableItem,
  endClaim,
  hashOfAddress,
} from '../../core/user/claimable.ts';
import { whereAlive } from '../../core/user/user.ts';
import {
  type Account,
  endSessions,
  findAccount,
  listAccounts,
  signOut,
} from '../../core/user/user-repository.ts';
import type { StoredIdentity } from './detach-identity.ts';
import {
  asRead,
  contactUpdate,
  formerOf,
  hashOfIdentity,
  linkWrite,
  openClaim,
  readClaimable,
  readIdentity,
} from './identity-repository.ts';

/** An identity by its hash, as the log has it, or by what the provider calls it. */
type LinkedIdentity = { sha256: string } | { issuer: string; subject: string };

/** The hashes of the identities that an account had before and has now. */
interface Linked {
  before: string | null;
  after: string | null;
}

interface LinkOptions {
  /** Tells the address that signed in before. */
  tells?: boolean;
  /** Changes nothing. */
  isDryRun?: boolean;
}

const operator: Decider = { reason: 'other', note: '', moderator_id: null };

/**
 * Lets an identity sign in to an account, instead of the one before, or with null nobody. Ends the
 * account's sessions, and stands in the log. Nobody can claim the account by its address then, and
 * nobody vouches for the address until the next sign-in. Throws ApiError 404 without the account,
 * 400 if the identity has another account, or has decisions of moderators on an earlier one.
 */
export async function linkIdentity(
  user_id: string,
  identity: LinkedIdentity | null,
  { tells = false, isDryRun = false }: LinkOptions = {},
): Promise<Linked> {
  const after = identity && shaOf(identity);
  const linked = await retryStale(async () => {
    const account = await findAccount(user_id);
    if (!account) throw notFound('User');
    const { contact } = account;
    const { identity: before, sign_in_email } = contact;
    const result = { before: before ?? null, after };
    if (result.before === after) return result;
    const record = after === null ? {} : await readIdentity(after);
    refuseTaken(record, user_id);
    if (isDryRun) return result;
    const note = `${before ?? 'nobody'} → ${after ?? 'nobody'}`;
    const about = { user_id, review_id: null, reports: 0 };
    const linkedContact = {
      ...contact,
      ...unvouched(contact),
      identity: after ?? undefined,
      moved: undefined,
    };
    const writes: Write[] = [
      { Update: signOut(user_id) },
      { Update: contactUpdate(user_id, contact, linkedContact) },
      ...logged(newDecision('link', { ...operator, note }, about)),
      ...(await endClaim(user_id, contact.email)),
    ];
    if (identity && after !== null) {
      const issuer = 'issuer' in identity ? identity.issuer : record.issuer;
      writes.push(linkWrite(after, record, { user_id, issuer }));
    }
    if (before) writes.push({ Delete: { Key: identityKey(before), was: { user_id } } });
    if (tells && sign_in_email) {
      writes.push(...accountMailWrites({ user_id, kind: 'moved-by-operator', to: sign_in_email }));
    }
    await transact(writes);
    return result;
  });
  // The identity before may have begun a session while the transaction was under way.
  if (!isDryRun && linked.before !== after) await endSessions(user_id);
  return linked;
}

function shaOf(identity: LinkedIdentity): string {
  return 'sha256' in identity ? identity.sha256 : hashOfIdentity(identity.issuer, identity.subject);
}

function refuseTaken(record: StoredIdentity, id: string) {
  const { user_id, blocked_at, hidden, reported } = record;
  const owner = user_id ?? formerOf(record);
  if (owner !== undefined && owner !== id) {
    throw invalidRequest(`This identity signs in to the account ${owner}: unlink that first`);
  }
  if (blocked_at ?? hidden ?? reported) {
    throw invalidRequest('An account of this identity was deleted with decisions of moderators');
  }
}

/** Why an account is left out of a change of the issuer. */
export type LeftOut =
  | 'no-sign-in'
  | 'other-issuer'
  | 'no-verified-address'
  | 'address-waits'
  | 'not-open'
  | 'changes';

/** Numbers of accounts that may be claimed now, or no longer, and of those left out, by reason. */
interface Relinked {
  accounts: number;
  left_out: Partial<Record<LeftOut, number>>;
}

interface Issuers {
  from: string;
  to: string;
  isUndo: boolean;
}

/**
 * Lets people whose identities come from the issuer `from` claim their accounts at the issuer `to`,
 * once, by the verified address. Until then their old identity signs in. With `isUndo`, whoever has
 * not claimed may no longer. Safe to repeat. Stands in the log.
 */
export async function relink(from: string, to: string, isUndo = false): Promise<Relinked> {
  const result: Relinked = { accounts: 0, left_out: {} };
  for await (const accounts of listAccounts()) {
    const known = [...new Set(accounts.flatMap(({ contact }) => contact.identity ?? []))];
    const items = await batchGet(known.map(identityKey), { consistent: true });
    for (const account of accounts) {
      const identity = items.get(keyString(identityKey(account.contact.identity ?? '')));
      const outcome = await changeClaim(account, identity, { from, to, isUndo });
      if (outcome === 'open' || outcome === 'end') result.accounts++;
      else result.left_out[outcome] = (result.left_out[outcome] ?? 0) + 1;
    }
  }
  const verb = isUndo ? 'may no longer be claimed' : 'may be claimed';
  const note = `${result.accounts} accounts of ${from} ${verb} at ${to}`;
  const about = { user_id: null, review_id: null, reports: 0 };
  await transact(logged(newDecision('link', { ...operator, note: note.slice(0, 500) }, about)));
  return result;
}

/**
 * Decides on the claim to an account: opens one, ends it, or leaves the account out. `identity` is
 * the item of its identity. `waiting` is the claim by its address, unless that no longer holds.
 */
export function claimOutcome(
  { user, contact }: Account,
  identity: Partial<Item> | undefined,
  waiting: Claimable | undefined,
  { from, to, isUndo }: Issuers,
): 'open' | 'end' | LeftOut {
  if (identity?.user_id !== user.id) return 'no-sign-in';
  // Older code has left the issuer out.
  if ((identity.issuer ?? from) !== from) return 'other-issuer';
  if (contact.email === null || !contact.email_verified) return 'no-verified-address';
  const isOwn = waiting?.user_id === user.id;
  if (isUndo) return isOwn && waiting.issuer === to ? 'end' : 'not-open';
  return waiting === undefined || isOwn ? 'open' : 'address-waits';
}

async function changeClaim(
  account: Account,
  identity: Item | undefined,
  issuers: Issuers,
): Promise<'open' | 'end' | LeftOut> {
  const { user, contact } = account;
  const address = hashOfAddress(contact.email ?? '');
  const item = await readClaimable(address);
  const waiting = item && (await openClaim(item, address)) ? item : undefined;
  const outcome = claimOutcome(account, identity, waiting, issuers);
  const Key = addressKey(address);
  const was = { user_id: item?.user_id, replaces: item?.replaces, issuer: item?.issuer };
  if (outcome === 'end') {
    return (await tryTransact([{ Delete: { Key, was } }])) ? outcome : 'changes';
  }
  if (outcome !== 'open') return outcome;
  const claimable = { user_id: user.id, replaces: contact.identity, issuer: issuers.to };
  const Item = claimableItem(`${contact.email}`, claimable);
  const isWritten = await tryTransact([
    { ConditionCheck: { Key: userKey(user.id), where: whereAlive } },
    { ConditionCheck: { Key: contactKey(user.id), was: asRead(contact) } },
    { Put: { Item, was } },
  ]);
  return isWritten ? outcome : 'changes';
}
