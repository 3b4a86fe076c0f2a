import { type ApiError, accessDenied, contended, invalidToken } from '../../base/errors.ts';
import { getItem } from '../../base/table/query.ts';
import type { Write } from '../../base/table/transact.ts';
import type { Condition, Where } from '../../base/table/write.ts';
import { userKey } from '../keys.ts';
import { parseUser, type User, whereAlive } from './user.ts';

// The person in whose name something is written: the account must exist and not be blocked.

/** Condition on writes in a user's name: the account exists and is not blocked. */
export const mayWrite: Where = [...whereAlive, ['blocked_at', 'absent']];

/** Condition that a transaction puts on the user's item, and the error if it fails. */
export interface Writer extends Condition {
  where: Where;
  otherwise: ApiError;
}

/**
 * Runs `write`, whose transactions must carry the condition of `writer`. If it fails, reads the
 * user again: throws `gone` if the account was deleted, ApiError 403 if it is blocked.
 * @example
 *   await writeAs(userId, (writer) =>
 *     transact([putNew({ ...keyOf(token), ...token }), checkWriter(userId, writer)]),
 *   );
 */
export async function writeAs<T>(
  userId: string,
  write: (writer: Writer) => Promise<T>,
  gone = invalidToken(),
): Promise<T> {
  try {
    return await write({ where: mayWrite, otherwise: gone });
  } catch (error) {
    if (error !== gone) throw error;
    const user = parseUser(await getItem(userKey(userId)));
    if (!user) throw gone;
    refuseBlocked(user);
    // Unblocked after the write failed.
    throw contended();
  }
}

/** Returns the write that checks the writer's condition and changes nothing. */
export function checkWriter(userId: string, { otherwise, ...condition }: Writer): Write {
  return { ConditionCheck: { Key: userKey(userId), ...condition }, otherwise };
}

/** The sentence for a blocked account that tries to write. */
export const blockedAccount =
  'A moderator has blocked this account: it can read and be deleted, but not write';

/** Throws ApiError 403 if the account is blocked. */
export function refuseBlocked({ blocked_at }: Pick<User, 'blocked_at'>): void {
  if (blocked_at !== undefined) throw accessDenied(blockedAccount);
}
