import { type ApiError, accessDenied, invalidToken, serviceUnavailable } from '../errors.ts';
import { userKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import type { Write } from '../table/transact.ts';
import { isAlive, parseUser, type User } from './user.ts';

/** The condition of what is written in a user's name: the account is there, and no moderator has blocked it. */
export const mayWrite = `${isAlive} AND attribute_not_exists(blocked_at)`;

/** What a transaction holds the item of a user to, and what it throws where that fails. */
export interface Writer {
  ConditionExpression: string;
  otherwise: ApiError;
}

/**
 * Writes in a user's name, by transactions that carry the condition they are given. Where it fails it is looked up why: throws `gone` when the
 * account is, and ApiError 403 when it is blocked.
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
    // Unblocked a moment ago.
    throw serviceUnavailable();
  }
}

/** The part of a transaction that holds a user to this and changes nothing. */
export function checkWriter(userId: string, { ConditionExpression, otherwise }: Writer): Write {
  return { ConditionCheck: { Key: userKey(userId), ConditionExpression }, otherwise };
}

/** Throws ApiError 403 for a blocked account. */
export function refuseBlocked({ blocked_at }: Pick<User, 'blocked_at'>): void {
  if (blocked_at !== undefined) {
    throw accessDenied(
      'A moderator has blocked this account: it can read and be deleted, but not write',
    );
  }
}
