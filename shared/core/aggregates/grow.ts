import { leafCapacity } from '../../base/list/rank-tree.ts';
import { readLength } from '../../base/list/totals.ts';
import { batchGet } from '../../base/table/batch.ts';
import type { Item, Key } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { getItem, queryIndex } from '../../base/table/query.ts';
import { tryTransact } from '../../base/table/transact.ts';
import { countsIn } from '../review/owner-counts.ts';
import { contribution } from './contribution.ts';
import { project } from './project.ts';

// The start of rank trees for an entity or author whose list has become long.

/**
 * Creates rank trees for entities and authors whose lists have become long: trees double the cost
 * of a review. The mark `growing` makes every new contribution count in the trees, before all
 * reviews of the list are projected again. The trees become `ready` when they count as many reviews
 * as the owner does. Idempotent.
 */
export async function growTrees(owners: readonly Item[]): Promise<void> {
  for (const owner of owners) {
    if (owner.rank_tree !== 'ready' && listLength(owner) > leafCapacity) await grow(owner);
  }
}

/** Marks the trees of an entity or author as being filled, or as complete. */
export async function markTrees({ pk, sk }: Key, state: 'growing' | 'ready'): Promise<void> {
  // The account, and its list, may have been deleted.
  await tryTransact([{ Update: { Key: { pk, sk }, set: { rank_tree: state }, was: { pk } } }]);
}

async function grow(owner: Item): Promise<void> {
  await markTrees(owner, 'growing');
  const id = idIn(owner);
  const pages =
    owner.sk === 'ENTITY'
      ? queryIndex('entity-by-date', id, { pageSize: 100 })
      : queryIndex('author-by-date', id, { pageSize: 100 });
  for await (const entries of pages) {
    const items = await batchGet(entries, { consistent: true });
    await project([...items.values()].map(contribution));
  }
  // The index may have lacked the newest reviews. The next contribution then tries again.
  const [counted = {}, projected] = await Promise.all([getItem(owner), readLength(owner.pk)]);
  if (projected === listLength(counted)) await markTrees(owner, 'ready');
}

const listLength = (owner: Partial<Item>) => countsIn(owner).all;
