import { hash } from 'node:crypto';
import type { Item } from '../table/item.ts';
import { moderatorNameKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import type { Write } from '../table/transact.ts';

/**
 * Returns a name as people read it. Case, width, the number of spaces and the encoding of accents
 * make no difference (NFKC, and upper case first, because `ß` and `ς` have no other folding).
 */
export function nameAsRead(name: string): string {
  const folded = name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return folded
    .replaceAll(/\p{DI}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

/** Returns the key of the item that counts the moderators with a name. */
export function keyOfName(name: string) {
  return moderatorNameKey(hash('sha256', nameAsRead(name)));
}

/** Returns true if a moderator has the name. */
export async function isModeratorName(name: string): Promise<boolean> {
  return isHeld(await getItem(keyOfName(name)));
}

/** Is true for the item of a name that a moderator has. */
export function isHeld(item: Item | undefined): boolean {
  return Number(item?.moderators ?? 0) > 0;
}

const isFree = {
  ConditionExpression: 'attribute_not_exists(moderators) OR moderators <= :none',
  ExpressionAttributeValues: { ':none': 0 },
};

/** Checks that no moderator has the name. */
export function checkName(name: string): Write {
  return { ConditionCheck: { Key: keyOfName(name), ...isFree } };
}

/** Reserves the name of a new moderator. Others who have it keep it. */
export function holdName(name: string): Write {
  return { Update: { Key: keyOfName(name), amounts: { moderators: 1 } } };
}

/** Reserves the new name of a moderator, unless another moderator has it. */
export function holdFreeName(name: string): Write {
  return { Update: { Key: keyOfName(name), amounts: { moderators: 1 }, ...isFree } };
}

/** Returns the write that frees the name of a moderator, or none if it was never reserved. */
export async function releaseName(name: string): Promise<Write[]> {
  if (!(await isModeratorName(name))) return [];
  return [
    {
      Update: {
        Key: keyOfName(name),
        amounts: { moderators: -1 },
        ConditionExpression: 'moderators > :none',
        ExpressionAttributeValues: { ':none': 0 },
      },
    },
  ];
}
