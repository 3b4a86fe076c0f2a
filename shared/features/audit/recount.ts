import * as v from 'valibot';
import { chunksOf } from '../../base/chunks.ts';
import { type Amounts, gain } from '../../base/table/amounts.ts';
import type { Item } from '../../base/table/item.ts';
import { type Progress, scanItems } from '../../base/table/query.ts';
import { Sums } from '../../base/table/sums.ts';
import { maxActions, transact, type Write } from '../../base/table/transact.ts';
import { applicationKey, countsKey, entityKey, reviewKey, userKey } from '../../core/keys.ts';
import { countChanges, isCount } from '../../core/review/owner-counts.ts';
import { Review } from '../../core/review/review.ts';

// Recount of the numbers on authors and entities, for audits and bulk imports.

const withCounts = new Set([userKey('').sk, countsKey('').sk, entityKey('').sk]);

/** Recounts authors and entities, item by item. In the end `lacking` holds the differences. */
export function recount(lacking: Amounts, item: Item): void {
  const { pk, sk } = item;
  if (sk === reviewKey('').sk) {
    const review = v.parse(Review, item);
    const { karma, author, entity } = countChanges(undefined, review);
    gain(lacking, userKey(review.user_id), { karma });
    gain(lacking, countsKey(review.user_id), author);
    gain(lacking, entityKey(review.entity_id), entity);
  } else if (sk === applicationKey('').sk) {
    gain(lacking, userKey(`${item.user_id}`), { applications: 1 });
  } else if (withCounts.has(sk)) {
    for (const [name, number] of Object.entries(item)) {
      if (isCount(name)) gain(lacking, { pk, sk }, { [name]: -Number(number) });
    }
  }
}

/** Recounts all authors and entities by one scan and corrects them, after a bulk import. */
export async function recountOwners(onProgress?: Progress): Promise<void> {
  const lacking = new Sums();
  for await (const { items } of scanItems({ onProgress })) {
    const ofPage: Amounts = new Map();
    for (const item of items) recount(ofPage, item);
    lacking.addAll(ofPage);
  }
  const writes = lacking.items().map(({ key, by }): Write => {
    return { Update: { Key: key, amounts: by, isOwner: true } };
  });
  for (const some of chunksOf(writes, maxActions)) await transact(some);
  lacking.close();
}
