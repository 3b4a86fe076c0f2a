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
 * Gives rank trees to those of these entities and authors whose lists have become long. Most lists stay short, and trees of theirs
 * would double what a review costs. From the mark on every contribution counts in the new trees too; then all reviews of the list
 * are projected once more, and a reader may rely on the trees when they hold as many as the owner has. The same again changes
 * nothing, so that it may be interrupted at any time.
 */
export async function growTrees(owners: readonly Item[]): Promise<void> {
  for (const owner of owners) {
    if (owner.rank_tree !== 'ready' && listLength(owner) > leafCapacity) await grow(owner);
  }
}

/** Says of the item of an entity or author that its list has trees: some that are being filled, or some to rely on. */
export async function markTrees({ pk, sk }: Key, state: 'growing' | 'ready'): Promise<void> {
  // Unless the account is gone, and its list with it.
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
  // The index follows the table by a moment and may not have had them all: then the next contribution tries again.
  const [counted = {}, lengths] = await Promise.all([getItem(owner), readLengths(owner.pk)]);
  const projected = [...lengths.values()].reduce((total, length) => total + length, 0);
  if (projected === listLength(counted)) await markTrees(owner, 'ready');
}

function listLength(owner: Readonly<Record<string, unknown>>): number {
  return countMatching(facetCounts(owner), {}).all;
}
