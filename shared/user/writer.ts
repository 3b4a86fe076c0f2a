import { type ApiError, accessDenied, invalidToken, serviceUnavailable } from '../errors.ts';
import { userKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import type { Condition, Write } from '../table/transact.ts';
import { parseUser, type User, whereAlive } from './user.ts';

// The person in whose name something is written: the account must exist and not be blocked.

/** Condition on writes in a user's name: the account exists and is not blocked. */
export const mayWrite = `${whereAlive} AND attribute_not_exists(blocked_at)`;

/** Condition that a transaction puts on the user's item, and the error if it fails. */
export interface Writer extends Condition {
  ConditionExpression: string;
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
    return await write({ ConditionExpression: mayWrite, otherwise: gone });
  } catch (error) {
    if (error !== gone) throw error;
    const user = parseUser(await getItem(userKey(userId)));
    if (!user) throw gone;
    refuseBlocked(user);
    // Unblocked after the write failed.
    throw serviceUnavailable();
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
