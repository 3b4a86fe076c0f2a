// An account moves to another identity, for a person whose address changes.
import { invalidToken } from '../../base/errors.ts';
import { retryStale, StaleRead, transact, type Write } from '../../base/table/transact.ts';
import { epochSeconds } from '../../base/time.ts';
import { identityKey } from '../../core/keys.ts';
import { deleteGrants, listGrants, revoked } from '../../core/oauth/grant-repository.ts';
import { accountMailWrites } from '../../core/user/account-mail.ts';
import { followed, unvouched } from '../../core/user/address.ts';
import { endClaim } from '../../core/user/claimable.ts';
import type { Identity } from '../../core/user/identity.ts';
import { type Contact, undoSeconds } from '../../core/user/user.ts';
import { endSessions, findAccount, signOut } from '../../core/user/user-repository.ts';
import { mayWrite, refuseBlocked } from '../../core/user/writer.ts';
import type { StoredIdentity } from './detach-identity.ts';
import {
  contactAfter,
  contactUpdate,
  findClaim,
  formerOf,
  hashOfIdentity,
  linkWrite,
  readIdentity,
} from './identity-repository.ts';

/**
 * - `moved`: the account has the identity now.
 * - `same`: it had it already.
 * - `early`: the last move can still be undone.
 * - `taken`: the identity has another account, or decisions of moderators on an earlier one.
 */
export type MoveOutcome = 'moved' | 'same' | 'early' | 'taken';

/** Decides on a move to the identity with this hash. `waits` if an account waits for its person. */
export function moveOutcome(
  { identity, moved }: Contact,
  sha256: string,
  record: StoredIdentity,
  waits: boolean,
): MoveOutcome {
  if (identity === sha256) return 'same';
  if (moved !== undefined && moved.until > epochSeconds()) return 'early';
  const { user_id, blocked_at, hidden, reported } = record;
  const isUsed = user_id ?? blocked_at ?? hidden ?? reported ?? formerOf(record);
  return isUsed !== undefined || waits ? 'taken' : 'moved';
}

/**
 * Moves an account to the identity that its person has just signed in with. Ends its sessions, and
 * tells the earlier address, which can undo it. Grants stay. Throws ApiError 401 if the account was
 * deleted, 403 if it is blocked: a block follows the identity.
 */
export async function moveIdentity(user_id: string, identity: Identity): Promise<MoveOutcome> {
  const sha256 = hashOfIdentity(identity.issuer, identity.subject);
  const outcome = await retryStale(async () => {
    const account = await findAccount(user_id);
    if (!account) throw invalidToken();
    refuseBlocked(account.user);
    const { contact } = account;
    const record = await readIdentity(sha256);
    const claim = await findClaim(identity);
    const waits = claim !== undefined && claim.user.id !== user_id;
    const decided = moveOutcome(contact, sha256, record, waits);
    if (decided !== 'moved') return decided;
    const { identity: from, sign_in_email: from_email } = contact;
    const until = epochSeconds(undoSeconds);
    const moved = from === undefined ? undefined : { from, from_email, until };
    const after = { ...contactAfter(contact, sha256, identity), moved };
    const writes: Write[] = [
      { Update: signOut(user_id, mayWrite) },
      { Update: contactUpdate(user_id, contact, after) },
      linkWrite(sha256, record, { user_id, issuer: identity.issuer }),
      ...(await endClaim(user_id, contact.email)),
    ];
    if (from !== undefined) {
      const set = { user_id: undefined, former_of: user_id, expires_at: until };
      writes.push({ Update: { Key: identityKey(from), set, was: { user_id } } });
    }
    if (from_email) {
      writes.push(...accountMailWrites({ user_id, kind: 'moved', to: from_email, from }));
    }
    await transact(writes);
    return decided;
  });
  // The earlier identity may have begun a session while the transaction was under way.
  if (outcome === 'moved') await endSessions(user_id);
  return outcome;
}

/**
 * - `undone`: the account has the earlier identity, also if the move was undone before.
 * - `over`: the time is over, the account is gone, or the operator has decided since.
 */
type UndoOutcome = 'undone' | 'over';

/** Decides on the undoing of a move from the identity with this hash. */
export function undoOutcome({ identity, moved }: Contact, from: string): UndoOutcome | 'undo' {
  if (identity === from) return 'undone';
  return moved?.from === from && moved.until > epochSeconds() ? 'undo' : 'over';
}

/**
 * Gives an account back to its earlier identity. The other one may have let programs in: so all
 * sessions, grants and personal tokens end. Idempotent.
 */
export async function undoMove(user_id: string, from: string): Promise<UndoOutcome> {
  const outcome = await retryStale(async () => {
    const account = await findAccount(user_id);
    if (!account) return 'over';
    const { contact } = account;
    const decided = undoOutcome(contact, from);
    if (decided !== 'undo') return decided;
    const record = await readIdentity(from);
    const grants = await listGrants(user_id);
    // The same button was pressed twice, and the other answer is on its way.
    if (record.user_id === user_id) throw new StaleRead();
    // An import elsewhere has left out what ends in a week.
    if (record.user_id !== undefined) return 'over';
    const { identity, sign_in_email, moved } = contact;
    const email = moved?.from_email;
    const address =
      email === undefined ? unvouched(contact) : followed(contact, { email, email_verified: true });
    const after = { ...contact, ...address, identity: from, moved: undefined };
    const writes: Write[] = [
      { Update: signOut(user_id) },
      { Update: contactUpdate(user_id, contact, after) },
      linkWrite(from, record, { user_id, issuer: record.issuer }),
      ...(await endClaim(user_id, contact.email)),
      ...revoked(grants),
    ];
    if (identity) writes.push({ Delete: { Key: identityKey(identity), was: { user_id } } });
    if (sign_in_email) {
      writes.push(...accountMailWrites({ user_id, kind: 'move-undone', to: sign_in_email }));
    }
    await transact(writes);
    return 'ended';
  });
  if (outcome !== 'ended') return outcome;
  await endSessions(user_id);
  await deleteGrants(user_id);
  return 'undone';
}
