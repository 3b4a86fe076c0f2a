import { deleteItems, eraseWhile } from '../../base/table/erase.ts';
import type { Item } from '../../base/table/item.ts';
import { collect, getItem, queryItems } from '../../base/table/query.ts';
import { tryTransact } from '../../base/table/transact.ts';
import { entityKey, projectionKey, reviewKey } from '../keys.ts';
import { countsIn } from './owner-counts.ts';

// Deletion of what reviews and entities leave behind.

/**
 * Deletes what a review deleted at `version` left. Each transaction checks that the review does not
 * exist. Can be stopped anywhere and repeated. The projection expires by itself.
 */
export async function eraseRemains(id: string, version = Number.POSITIVE_INFINITY): Promise<void> {
  const Key = reviewKey(id);
  await eraseWhile({ Key, was: { pk: undefined } }, async (isGone) => {
    for await (const items of queryItems({ pk: Key.pk, sk: '' })) {
      const isOfIt = (item: Item) => !(isWrittenAhead(item) && Number(item.version) > version);
      await deleteItems(
        items.filter((item) => isRemains(item) && isOfIt(item)),
        isGone,
      );
    }
  });
}

/** Returns true for items deleted after the user or review of their partition. */
export function isRemains({ pk, sk }: Item): boolean {
  return sk !== pk.split('#')[0] && sk !== projectionKey({ pk }).sk;
}

/**
 * Returns true for a revision that an import wrote ahead, because the review's transaction has no
 * room for it. It carries the review's version, and is invisible until the review exists.
 */
export function isWrittenAhead({ sk, version }: Item): boolean {
  return sk.startsWith('REVISION#') && version !== undefined;
}

/** Returns true if a deleted review left items, but not for those that an import writes again. */
export async function hasRemains(id: string, revisions: number): Promise<boolean> {
  const items = await collect(queryItems({ pk: reviewKey(id).pk, sk: '' }));
  // Another import has written the review meanwhile.
  if (items.some(({ sk }) => sk === reviewKey('').sk)) return false;
  return items.some(
    (item) => isRemains(item) && !(isWrittenAhead(item) && Number(item.id) < revisions),
  );
}

/** Deletes the item of an entity without public reviews or rank trees. Returns true if it did. */
export async function eraseEntity(entityId: string): Promise<boolean> {
  const Key = entityKey(entityId);
  const item = await getItem(Key);
  if (!item || !isEmpty(item)) return false;
  // An entity that has changed may have a review again.
  return tryTransact([{ Delete: { Key, was: { version: item.version } } }]);
}

/** Is true for the item of an entity that counts no review and has no rank tree. */
export function isEmpty(entity: Readonly<Record<string, unknown>>): boolean {
  return countsIn(entity).all === 0 && entity.rank_tree === undefined;
}
