import type { Item, Key } from '../../base/table/item.ts';
import { userKey } from '../../core/keys.ts';

/** Finds an item that exists or is about to be written. */
export type Find = (key: Key) => Item | undefined;

/** Is false for an account that is not there or is being deleted. */
export const hasAccount = (userId: string, find: Find) => isThere(userKey(userId), find);

/** Is false for an item that is not there or is being deleted. */
export function isThere(key: Key, find: Find): boolean {
  const item = find(key);
  return item !== undefined && item.deleted_at === undefined;
}
