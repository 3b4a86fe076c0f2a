// Accounts that wait for their person: who signs in with the verified address of one, claims it.
import { hash } from 'node:crypto';
import * as v from 'valibot';
import { getItem } from '../../base/table/query.ts';
import type { Write } from '../../base/table/transact.ts';
import { StoredId } from '../../base/values.ts';
import { addressKey } from '../keys.ts';
import { Email } from './user.ts';

/** An account that the person with a verified address may claim once, as stored. */
export const Claimable = v.object({
  user_id: StoredId,
  /** Hash of the identity that the claim replaces. Without it, the account must have none. */
  replaces: v.optional(v.string()),
  /** The only issuer whose word on the address counts, if there is one. */
  issuer: v.optional(v.string()),
});
export type Claimable = v.InferOutput<typeof Claimable>;

/**
 * Returns the hash of an address. Spellings of its domain are one. Letters of ASCII count as one in
 * both cases, and no others do: some letters become ASCII in lower case, and would be taken for
 * another person's address.
 */
export function hashOfAddress(email: string): string {
  const { success, output } = v.safeParse(Email, email);
  const folded = (success ? output : email).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return hash('sha256', JSON.stringify(['address', folded]));
}

/** Makes the item of a claimable account. The list of its author lets the eraser find it. */
export function claimableItem(email: string, claimable: Claimable) {
  const { user_id } = claimable;
  return {
    ...addressKey(hashOfAddress(email)),
    author: `CLAIMABLE#${user_id}`,
    date: user_id,
    ...claimable,
  };
}

/**
 * Returns the write that ends the claim to an account by an address, if there is one. A claim holds
 * only while its address is the verified one of the account.
 */
export async function endClaim(user_id: string, email: string | null): Promise<Write[]> {
  if (email === null) return [];
  const Key = addressKey(hashOfAddress(email));
  const item = await getItem(Key);
  return item?.user_id === user_id ? [{ Delete: { Key, was: { user_id } } }] : [];
}
