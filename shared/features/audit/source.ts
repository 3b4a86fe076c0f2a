import { getItems } from '../../base/table/batch.ts';
import { type Item, idIn, type Key, keyString } from '../../base/table/item.ts';
import { collect, eachOf, getItem, queryIndex, queryItems } from '../../base/table/query.ts';
import { claimKey, reviewKey } from '../../core/keys.ts';

/** The data that an audit reads: the table as it is now, or a snapshot of it. */
export interface Source {
  /** All items of a partition. */
  partition(pk: string): Promise<Item[]>;
  item(key: Key): Promise<Item | undefined>;
  /** Reviews of an entity that are public, and all reviews of a user. */
  reviewsOfEntity(entityId: string): AsyncIterable<Item> | Iterable<Item>;
  reviewsOfUser(userId: string): AsyncIterable<Item> | Iterable<Item>;
  /** Number of the applications of a user. */
  applicationsOf(userId: string): Promise<number>;
}

/** The table as it is now, read strongly consistent. Indexes may be behind. */
export const liveTable: Source = {
  partition: (pk) => collect(queryItems({ pk, sk: '' }, { pageSize: 1000 })),
  item: getItem,
  async *reviewsOfEntity(entityId) {
    for await (const entries of queryIndex('entity-by-date', entityId, { pageSize: 100 })) {
      yield* await readReviews(entries);
    }
  },
  reviewsOfUser,
  async applicationsOf(userId) {
    let count = 0;
    for await (const _ of eachOf(queryIndex('author-by-date', `OWNER#${userId}`))) count++;
    return count;
  },
};

/** Claims find withdrawn reviews, which are in no index and still count. Indexes find the rest. */
async function* reviewsOfUser(userId: string): AsyncGenerator<Item> {
  const seen = new Set<string>();
  const lists: AsyncIterable<Key[]>[] = [
    claimedReviewKeys(userId),
    queryIndex('author-by-date', userId, { pageSize: 100 }),
    queryIndex('author-by-date', `UNLISTED#${userId}`, { pageSize: 100 }),
  ];
  for (const list of lists) {
    for await (const keys of list) {
      const unseen = keys.filter((key) => !seen.has(keyString(key)) && seen.add(keyString(key)));
      yield* (await readReviews(unseen)).filter(({ user_id }) => user_id === userId);
    }
  }
}

async function* claimedReviewKeys(userId: string): AsyncGenerator<Key[]> {
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    yield claims.map(({ review_id }) => reviewKey(String(review_id)));
  }
}

async function readReviews(keys: readonly Key[]): Promise<Item[]> {
  const reviews = keys.map((key) => reviewKey(idIn(key)));
  const items = await getItems(reviews, { consistent: true });
  return items.flatMap((item) => item ?? []);
}
