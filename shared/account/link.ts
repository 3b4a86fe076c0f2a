// What an operator does with identities: links and unlinks one, and lets people claim by address.
import * as v from 'valibot';
import { invalidRequest, notFound } from '../errors.ts';
import type { Decider } from '../moderation/decision.ts';
import { logged, newDecision } from '../moderation/decision-log.ts';
import { batchGet, getItems } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { addressKey, contactKey, identityKey, userKey } from '../table/keys.ts';
import { putNew, retryStale, transact, tryTransact, type Write } from '../table/transact.ts';
import { claimableItem, hashOfAddress } from '../user/claimable.ts';
import { whereAlive } from '../user/user.ts';
import { type Account, findAccount, listAccounts } from '../user/user-repository.ts';
import { StoredIdentity } from './detach-identity.ts';
import { hashOfIdentity } from './identity-repository.ts';

/** An identity by its hash, as the log has it, or by what the provider calls it. */
type LinkedIdentity = { sha256: string } | { issuer: string; subject: string };

/** The hashes of the identities that an account had before and has now. */
interface Linked {
  before: string | null;
  after: string | null;
}

const operator: Decider = { reason: 'other', note: '', moderator_id: null };

/**
 * Lets an identity sign in to an account, instead of the one before, or with null nobody. Ends the
 * account's sessions, and stands in the log. Nobody can claim the account by its address then.
 * Throws ApiError 404 without the account, 400 if the identity has another account, or has
 * decisions of moderators on an earlier one.
 */
export async function linkIdentity(
  user_id: string,
  identity: LinkedIdentity | null,
): Promise<Linked> {
  const after = identity && shaOf(identity);
  return retryStale(async () => {
    const account = await findAccount(user_id);
    if (!account) throw notFound('User');
    const { identity: before, email } = account.contact;
    if (before === (after ?? undefined)) return { before: before ?? null, after };
    const address = email === null ? [] : [addressKey(hashOfAddress(email))];
    const [target = {}, claimable] = await getItems([identityKey(after ?? ''), ...address], {
      consistent: true,
    });
    if (after !== null) await refuseTaken(v.parse(StoredIdentity, target));
    const note = `${before ?? 'nobody'} → ${after ?? 'nobody'}`;
    const about = { user_id, review_id: null, reports: 0 };
    const alive = { Key: userKey(user_id), ConditionExpression: whereAlive };
    const writes: Write[] = [
      { Update: { ...alive, set: { signed_out: Date.now() } } },
      {
        Update: {
          Key: contactKey(user_id),
          set: { identity: after ?? undefined },
          was: { identity: before },
        },
      },
      ...logged(newDecision('link', { ...operator, note }, about)),
    ];
    if (identity && after !== null) {
      const issuer = 'issuer' in identity ? identity.issuer : undefined;
      writes.push(putNew({ ...identityKey(after), user_id, ...(issuer && { issuer }) }));
    }
    if (before) writes.push({ Delete: { Key: identityKey(before), was: { user_id } } });
    if (claimable?.user_id === user_id) {
      writes.push({ Delete: { Key: { pk: claimable.pk, sk: claimable.sk }, was: { user_id } } });
    }
    await transact(writes);
    return { before: before ?? null, after };
  });
}

function shaOf(identity: LinkedIdentity): string {
  return 'sha256' in identity ? identity.sha256 : hashOfIdentity(identity.issuer, identity.subject);
}

async function refuseTaken({ user_id, blocked_at, hidden, reported }: StoredIdentity) {
  if (user_id !== undefined) {
    throw invalidRequest(`This identity signs in to the account ${user_id}: unlink that first`);
  }
  if (blocked_at ?? hidden ?? reported) {
    throw invalidRequest('An account of this identity was deleted with decisions of moderators');
  }
}

/** Numbers of accounts that may be claimed now, or no longer, and of those left out, by reason. */
interface Relinked {
  accounts: number;
  left_out: Record<string, number>;
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
      const isOthers = (identity?.issuer ?? from) !== from;
      let reason: string | undefined = 'of another issuer';
      if (identity?.user_id !== account.user.id) reason = 'nobody signs in to it';
      else if (!isOthers) reason = await openClaim(account, to, isUndo);
      if (reason === undefined) result.accounts++;
      else result.left_out[reason] = (result.left_out[reason] ?? 0) + 1;
    }
  }
  const verb = isUndo ? 'may no longer be claimed' : 'may be claimed';
  const note = `${result.accounts} accounts of ${from} ${verb} at ${to}`;
  const about = { user_id: null, review_id: null, reports: 0 };
  await transact(logged(newDecision('link', { ...operator, note: note.slice(0, 500) }, about)));
  return result;
}

/** Returns the reason why nothing was done. */
async function openClaim({ user, contact }: Account, issuer: string, isUndo: boolean) {
  const { email, email_verified, identity: replaces } = contact;
  if (replaces === undefined || email === null || !email_verified)
    return 'without a verified address';
  const { id: user_id } = user;
  const claimable = { user_id, replaces, issuer };
  const Key = addressKey(hashOfAddress(email));
  const [item] = await getItems([Key], { consistent: true });
  const isSame = item?.user_id === user_id && item.issuer === issuer;
  if (isUndo) {
    if (!isSame) return 'was not open to claims';
    return (await tryTransact([{ Delete: { Key, was: claimable } }])) ? undefined : 'changes now';
  }
  if (isSame && item.replaces === replaces) return undefined;
  if (item && item.user_id !== user_id) return 'has the address of another account';
  const isUnchanged = await tryTransact([
    { ConditionCheck: { Key: userKey(user_id), ConditionExpression: whereAlive } },
    { ConditionCheck: { Key: contactKey(user_id), was: { identity: replaces } } },
    { Put: { Item: claimableItem(email, claimable), was: { user_id: item?.user_id } } },
  ]);
  return isUnchanged ? undefined : 'changes now';
}
