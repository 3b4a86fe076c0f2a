import { deleteItems, eraseWhile } from '../table/erase.ts';
import type { Item } from '../table/item.ts';
import { entityKey, projectionKey, reviewKey } from '../table/keys.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';

/**
 * Deletes the revisions, votes, reports and the case of a review that was deleted at a `version`,
 * in transactions that check that there is no review. Can be stopped anywhere and repeated. The
 * projection stays: it expires by itself.
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

/** Is true for what is deleted after a review: all beside it but its projection. */
function isRemains({ pk, sk }: Item): boolean {
  return sk !== reviewKey('').sk && sk !== projectionKey({ pk }).sk;
}

/**
 * Is true for a revision that an import wrote ahead of its review, whose transaction has no room
 * for it. It has the version of that review, and nobody sees it until then.
 */
export function isWrittenAhead({ sk, version }: Item): boolean {
  return sk.startsWith('REVISION#') && version !== undefined;
}

/**
 * Finds what a deleted review has left, but for so many `revisions` if they were written ahead: an
 * import writes them again.
 */
export async function hasRemains(id: string, revisions: number): Promise<boolean> {
  const items = await collect(queryItems({ pk: reviewKey(id).pk, sk: '' }));
  // Another import has written it since it was looked for.
  if (items.some(({ sk }) => sk === reviewKey('').sk)) return false;
  return items.some(
    (item) => isRemains(item) && !(isWrittenAhead(item) && Number(item.id) < revisions),
  );
}

/**
 * Deletes the item of an entity on which no public review is left; gives whether it did. One whose list has had rank trees is kept,
 * because its nodes are.
 */
export async function eraseEntity(entityId: string): Promise<boolean> {
  const Key = entityKey(entityId);
  const item = await getItem(Key);
  if (!item || !isEmpty(item)) return false;
  // One that has been changed meanwhile may have a review again.
  return tryTransact([{ Delete: { Key, was: { review_count: 0, rank_tree: undefined } } }]);
}

/** Whether the item of an entity counts nothing, and has no rank trees. */
export function isEmpty({ review_count, rank_tree }: Readonly<Record<string, unknown>>): boolean {
  return review_count === 0 && rank_tree === undefined;
}
