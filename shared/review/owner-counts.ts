import * as v from 'valibot';
import { chunks } from '../chunks.ts';
import { type Amounts, changesOf, gain } from '../table/amounts.ts';
import type { Item } from '../table/item.ts';
import { applicationKey, entityKey, reviewKey, userKey } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { maxActions, transact, type Write } from '../table/transact.ts';
import { countChanges } from './counts.ts';
import { Review } from './review.ts';

// Recount of the numbers on authors and entities, for audits and bulk imports.

/** Recounts authors and entities, item by item. In the end `lacking` holds the differences. */
export function recount(lacking: Amounts, item: Item): void {
  const { pk, sk } = item;
  if (sk === reviewKey('').sk) {
    const review = v.parse(Review, item);
    const { author, entity } = countChanges(undefined, review);
    gain(lacking, userKey(review.user_id), author);
    gain(lacking, entityKey(review.entity_id), entity);
  } else if (sk === applicationKey('').sk) {
    gain(lacking, userKey(`${item.user_id}`), { applications: 1 });
  } else if (sk === userKey('').sk || sk === entityKey('').sk) {
    for (const [name, number] of Object.entries(item)) {
      if (isCount(name)) gain(lacking, { pk, sk }, { [name]: -Number(number) });
    }
  }
}

/** Recounts all authors and entities by one scan and corrects them, after a bulk import. */
export async function recountOwners(onProgress: (items: number) => void): Promise<void> {
  const lacking: Amounts = new Map();
  let read = 0;
  for await (const { items } of scanItems()) {
    for (const item of items) recount(lacking, item);
    read += items.length;
    onProgress(read);
  }
  const writes = changesOf(lacking).map(
    ({ key, by }): Write => ({ Update: { Key: key, amounts: by, isOwner: true } }),
  );
  for (const some of chunks(writes, maxActions)) await transact(some);
}

/** Returns true for a count attribute. Counts by facet contain a bar. */
export function isCount(name: string): boolean {
  const others = ['karma', 'applications', 'review_count', 'rating_sum', 'rating_count'];
  return name.includes('|') || others.includes(name);
}
