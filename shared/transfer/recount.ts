import * as v from 'valibot';
import { chunks } from '../chunks.ts';
import { countChanges, facetCounts } from '../review/counts.ts';
import { Review } from '../review/review.ts';
import { type Item, keyString } from '../table/batch.ts';
import { entityKey, type Key, reviewKey, userKey } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { add, maxActions, transact, type Write } from '../table/transact.ts';

/** What an owner counts, by attribute. */
type Counts = Record<string, number>;

/**
 * Counts anew what authors and entities count of reviews, by one scan, and adds what they lack: after an import that has left it for later, in
 * one go or in several.
 */
export async function recountOwners(onProgress: (items: number) => void): Promise<void> {
  const counted = new Map<string, { key: Key; by: Counts }>();
  const bump = (key: Key, amounts: Counts, sign: 1 | -1) => {
    const owner = counted.get(keyString(key)) ?? { key, by: {} };
    for (const [name, by] of Object.entries(amounts)) {
      owner.by[name] = (owner.by[name] ?? 0) + sign * by;
    }
    counted.set(keyString(key), owner);
  };
  let read = 0;
  for await (const { items } of scanItems()) {
    for (const item of items) {
      const { pk, sk } = item;
      if (sk === reviewKey('').sk) {
        const review = v.parse(Review, item);
        const { author, entity } = countChanges(undefined, review);
        bump(userKey(review.user_id), { ...author, karma: review.popularity }, 1);
        bump(entityKey(review.entity_id), entity, 1);
      } else if (sk === userKey('').sk || sk === entityKey('').sk) {
        bump({ pk, sk }, countsOf(item), -1);
      }
    }
    read += items.length;
    onProgress(read);
  }
  const writes = [...counted.values()].flatMap(({ key, by }): Write[] => {
    const lacking = Object.entries(by).filter(([, amount]) => amount !== 0);
    return lacking.length > 0 ? [{ Update: add(key, Object.fromEntries(lacking)) }] : [];
  });
  for (const some of chunks(writes, maxActions)) await transact(some);
}

function countsOf(item: Item): Counts {
  const named = ['karma', 'review_count', 'rating_sum', 'rating_count'].flatMap((name) =>
    typeof item[name] === 'number' ? [[name, item[name]] as const] : [],
  );
  return { ...Object.fromEntries(facetCounts(item)), ...Object.fromEntries(named) };
}
