import * as v from 'valibot';
import { chunks } from '../chunks.ts';
import { countChanges, facetCounts } from '../review/counts.ts';
import { Review } from '../review/review.ts';
import { type Amounts, changesOf, gain } from '../table/amounts.ts';
import type { Item, Key } from '../table/item.ts';
import { entityKey, reviewKey, userKey } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { addCounts, maxActions, transact } from '../table/transact.ts';

/**
 * Counts anew what authors and entities count of reviews, by one scan, and adds what they lack: after an import that has left it for later, in
 * one go or in several.
 */
export async function recountOwners(onProgress: (items: number) => void): Promise<void> {
  const lacking: Amounts = new Map();
  const count = (key: Key, amounts: Readonly<Record<string, number>>, sign: 1 | -1) => {
    for (const [name, amount] of Object.entries(amounts)) gain(lacking, key, name, sign * amount);
  };
  let read = 0;
  for await (const { items } of scanItems()) {
    for (const item of items) {
      const { pk, sk } = item;
      if (sk === reviewKey('').sk) {
        const review = v.parse(Review, item);
        const { author, entity } = countChanges(undefined, review);
        count(userKey(review.user_id), { ...author, karma: review.popularity }, 1);
        count(entityKey(review.entity_id), entity, 1);
      } else if (sk === userKey('').sk || sk === entityKey('').sk) {
        count({ pk, sk }, countsOf(item), -1);
      }
    }
    read += items.length;
    onProgress(read);
  }
  const writes = changesOf(lacking).map(({ key, by }) => ({ Update: addCounts(key, by) }));
  for (const some of chunks(writes, maxActions)) await transact(some);
}

function countsOf(item: Item): Record<string, number> {
  const named = ['karma', 'review_count', 'rating_sum', 'rating_count'].flatMap((name) =>
    typeof item[name] === 'number' ? [[name, item[name]] as const] : [],
  );
  return { ...Object.fromEntries(facetCounts(item)), ...Object.fromEntries(named) };
}
