import { leafCapacity } from '../list/rank-tree.ts';
import { readLengths } from '../list/totals.ts';
import { countMatching, facetCounts } from '../review/counts.ts';
import { batchGet } from '../table/batch.ts';
import type { Item, Key } from '../table/item.ts';
import { idIn } from '../table/keys.ts';
import { getItem, queryIndex } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';
import { contribution } from './contribution.ts';
import { project } from './project.ts';

/**
 * Creates rank trees for the given entities and authors whose lists have become long. Most lists
 * stay short, and trees would double the cost of their reviews. The mark `growing` makes every new
 * contribution count in the trees. Then all reviews of the list are projected again. The trees
 * become `ready` when they count as many reviews as the owner does. Idempotent, so it may be
 * interrupted at any time.
 */
export async function growTrees(owners: readonly Item[]): Promise<void> {
  for (const owner of owners) {
    if (owner.rank_tree !== 'ready' && listLength(owner) > leafCapacity) await grow(owner);
  }
}

/** Marks the trees of an entity or author as being filled, or as complete. */
export async function markTrees({ pk, sk }: Key, state: 'growing' | 'ready'): Promise<void> {
  // The account, and its list, may have been deleted.
  const set = { rank_tree: state };
  await tryTransact([
    { Update: { Key: { pk, sk }, set, ConditionExpression: 'attribute_exists(pk)' } },
  ]);
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
  // The index lags behind the table by a moment and may have lacked some. The next contribution
  // then tries again.
  const [counted = {}, lengths] = await Promise.all([getItem(owner), readLengths(owner.pk)]);
  const projected = [...lengths.values()].reduce((total, length) => total + length, 0);
  if (projected === listLength(counted)) await markTrees(owner, 'ready');
}

function listLength(owner: Readonly<Record<string, unknown>>): number {
  return countMatching(facetCounts(owner), {}).all;
}
