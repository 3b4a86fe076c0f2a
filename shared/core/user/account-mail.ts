// Mails about who signs in to an account, to an address that does so no longer.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Write } from '../../base/table/transact.ts';
import { StoredId } from '../../base/values.ts';
import { accountMailKey } from '../keys.ts';
import { isMailing } from './notice.ts';

/** A mail that waits to be sent, as stored. */
export const AccountMail = v.object({
  user_id: StoredId,
  /** The person has moved the account, the operator has, or the person has undone a move. */
  kind: v.picklist(['moved', 'moved-by-operator', 'move-undone']),
  to: v.string(),
  /** Hash of the identity that can undo the move. */
  from: v.optional(v.string()),
  /** In ms since 1970. */
  created_at: v.number(),
});
export type AccountMail = v.InferOutput<typeof AccountMail>;

/** Milliseconds for which a mail is tried. */
export const accountMailLifetime = 3 * 86_400_000;

/** Makes the item of a mail that is due at `due_at` (epoch ms). */
export function accountMailItem(mail: AccountMail, due_at: number) {
  const expires_at = Math.ceil((mail.created_at + accountMailLifetime) / 1000);
  return { ...accountMailKey(due_at, randomUUID()), ...mail, expires_at };
}

/** Returns the write that has a mail sent, if the service sends mails. */
export function accountMailWrites(mail: Omit<AccountMail, 'created_at'>): Write[] {
  if (!isMailing()) return [];
  const created_at = Date.now();
  return [{ Put: { Item: accountMailItem({ ...mail, created_at }, created_at) } }];
}
