import { hash } from 'node:crypto';
import confusables from 'unhomoglyph/data.json' with { type: 'json' };
import { getItems } from '../../base/table/batch.ts';
import type { Item, Key } from '../../base/table/item.ts';
import type { Write } from '../../base/table/transact.ts';
import { absentOr, type Where } from '../../base/table/write.ts';
import { moderatorNameKey } from '../keys.ts';

/** Letters and digits with the ones that they look like (confusables.txt of Unicode TS 39). */
const lookalikes: Readonly<Record<string, string>> = confusables;

/** Roles that only moderators may have in their names, as `nameAsSeen` returns them. */
const roles = /moderator|administrator|\b(admin|mod|operator|staff|sysop)s?\b/;

/**
 * Returns a name as people read it. Case, width, the number of spaces and the encoding of accents
 * make no difference (NFKC, and upper case first, because `ß` and `ς` have no other folding).
 */
export function nameAsRead(name: string): string {
  const folded = name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return withoutFillers(folded);
}

/** Returns a name as it looks (the skeleton of Unicode TS 39), in lower case. */
function nameAsSeen(name: string): string {
  const characters = [...name.normalize('NFKC').normalize('NFD')];
  const skeleton = characters.map((each) => lookalikes[each] ?? each).join('');
  // The skeleton of `m` is `rn`, but that of `M` is `M`.
  return withoutFillers(skeleton.normalize('NFC').toLowerCase().replaceAll('rn', 'm'));
}

function withoutFillers(name: string): string {
  return name
    .replaceAll(/\p{DI}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

/** Returns true for a name that says or looks as if its owner had a role, such as moderator. */
export function namesRole(name: string): boolean {
  return roles.test(nameAsSeen(name).normalize('NFD').replaceAll(/\p{M}/gu, ''));
}

/** Returns true for a text that poses as the message of somebody with a role, as `Admin: …`. */
export function speaksAsRole(text: string): boolean {
  const seen = nameAsSeen(text).normalize('NFD').replaceAll(/\p{M}/gu, '');
  // A long dash looks like a letter of Katakana.
  return new RegExp(`(${roles.source})\\s*[:\u30fc]`, 'u').test(seen);
}

/** Returns the keys of the items that count the moderators with a name, or with a look-alike. */
export function keysOfName(name: string): Key[] {
  const forms = new Set([nameAsRead(name), nameAsSeen(name)]);
  return [...forms].map((form) => moderatorNameKey(hash('sha256', form)));
}

/** Returns the keys that another name has in addition. */
export function newKeysOf(name: string, before: string): Key[] {
  const held = new Set(keysOfName(before).map(({ pk }) => pk));
  return keysOfName(name).filter(({ pk }) => !held.has(pk));
}

/** Returns true if a moderator has one of the names. */
export async function isModeratorName(keys: readonly Key[]): Promise<boolean> {
  return (await getItems(keys, { consistent: true })).some(isNameTaken);
}

/** Is true for the item of a name that a moderator has. */
export function isNameTaken(item: Item | undefined): boolean {
  return Number(item?.moderators ?? 0) > 0;
}

const whereFree: Where = [absentOr('moderators', '<=', 0)];

/** Checks that no moderator has a name with one of these keys. */
export function checkName(keys: readonly Key[]): Write[] {
  return keys.map((Key) => ({ ConditionCheck: { Key, where: whereFree } }));
}

/** Reserves the name of a new moderator. Others who have it keep it. */
export function holdName(keys: readonly Key[]): Write[] {
  return keys.map((Key) => ({ Update: { Key, amounts: { moderators: 1 } } }));
}

/** Reserves the new name of a moderator, unless another moderator has it. */
export function holdFreeName(keys: readonly Key[]): Write[] {
  return keys.map((Key) => ({ Update: { Key, amounts: { moderators: 1 }, where: whereFree } }));
}

/** Returns the writes that free the name of a moderator, but for what was never reserved. */
export async function releaseName(keys: readonly Key[]): Promise<Write[]> {
  const items = await getItems(keys, { consistent: true });
  return keys
    .filter((_, i) => isNameTaken(items[i]))
    .map((Key) => ({
      Update: {
        Key,
        amounts: { moderators: -1 },
        where: [['moderators', '>', 0]],
      },
    }));
}
