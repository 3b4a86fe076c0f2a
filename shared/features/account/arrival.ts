// What the sign-in of an identity leads to.
import type { Claimable } from '../../core/user/claimable.ts';
import { hashOfAddress } from '../../core/user/claimable.ts';
import type { Account } from '../../core/user/user-repository.ts';
import type { StoredIdentity } from './detach-identity.ts';

/** An account that the person with an address may claim, as it is now. */
export interface Claim extends Account {
  claimable: Claimable;
  /** Hash of the address. */
  address: string;
}

/**
 * - `gone`: the account of the identity is being deleted.
 * - `former`: the account has moved to another identity, and this one can undo that for a while.
 * - `known`: the identity has an account.
 * - `carry`: moderators' decisions on earlier accounts go on the account, or on a new one.
 * - `claim`: an account waits for the person.
 * - `new`: the identity gets an account.
 */
type Arrival = 'gone' | 'former' | 'known' | 'carry' | 'claim' | 'new';

/**
 * Decides by what is stored of the identity with this hash. `account` is its account, or while a
 * move can be undone the one that it had. `claim` is an account that waits for the person.
 */
export function arrivalOf(
  sha256: string,
  { user_id, blocked_at, hidden, reported }: StoredIdentity,
  account: Account | undefined,
  claim: Claim | undefined,
): Arrival {
  const hasMarks = hidden !== undefined || reported !== undefined;
  if (user_id !== undefined) {
    if (!account) return 'gone';
    return hasMarks ? 'carry' : 'known';
  }
  if (account?.contact.moved?.from === sha256) return 'former';
  if (hasMarks || blocked_at !== undefined) return 'carry';
  return claim ? 'claim' : 'new';
}

/**
 * Returns true while a claim holds: the account has the identity that it replaces, and its verified
 * address is still the one by which the claim was opened.
 */
export function isOpen({ claimable, address, contact }: Claim): boolean {
  const { identity, email, email_verified } = contact;
  const isVerified = email !== null && email_verified === true;
  return identity === claimable.replaces && isVerified && hashOfAddress(email) === address;
}
