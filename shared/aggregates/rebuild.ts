import { chunks } from '../chunks.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { leafCapacity } from '../list/rank-tree.ts';
import type { Amounts } from '../table/amounts.ts';
import { batchWrite } from '../table/batch.ts';
import { type Key, keyString } from '../table/item.ts';
import {
  countsKey,
  deferredKey,
  entityKey,
  projectionKey,
  reviewKey,
  userKey,
} from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { maxActions, transact, type Write } from '../table/transact.ts';
import {
  type Contribution,
  contribution,
  count,
  isSame,
  ownerKey,
  projectionItem,
  readProjection,
  removed,
} from './contribution.ts';
import { markTrees } from './grow.ts';
import { takeLock } from './lock.ts';

/**
 * Recomputes totals and rank trees from the table, while the consumer of the stream waits. Returns
 * how many reviews, users and wrong projections there were. Throws ApiError 503 if the table is
 * busy or the lock is taken or lost. Use `inTransactions` with the embedded engine, which waits for
 * the disk once for a transaction, but for each item of a batch. On AWS transactions cost twice the
 * units.
 */
export async function rebuildTotals(
  onProgress: (items: number) => void = () => {},
  { inTransactions = false } = {},
): Promise<{ reviews: number; users: number; corrected_projections: number }> {
  try {
    const lock = await takeLock();
    try {
      return await rebuild(onProgress, lock.keep, inTransactions);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw serviceUnavailable(
      `${error.message}. Counts of lists and far pages may be wrong until this has run: npm run admin -- aggregates rebuild`,
    );
  }
}

async function rebuild(
  onProgress: (items: number) => void,
  keepLock: () => Promise<void>,
  inTransactions: boolean,
) {
  const { actual, projected, withTrees, nodes, deferred } = await readAll(onProgress, keepLock);
  for (const owner of longLists(actual.values())) withTrees.add(owner);
  const amounts: Amounts = new Map();
  const corrections: Contribution[] = [];
  for (const each of actual.values()) {
    each.owners = each.owners.filter((owner) => withTrees.has(owner));
    count(amounts, each, 1);
    const projection = projected.get(each.pk);
    const isCorrect = projection ? isSame(each, projection) : each.counted === null;
    if (!isCorrect) corrections.push(each);
  }
  const orphans = [...projected.values()].filter(
    ({ pk, counted }) => counted !== null && !actual.has(pk),
  );
  const writeAll = async (writes: Parameters<typeof batchWrite>[0]) => {
    // One request at a time, so that at most one is written after an unnoticed pause.
    for (const some of chunks(writes, inTransactions ? maxActions : 25)) {
      await keepLock();
      await (inTransactions ? transact(some.map(inTransaction)) : batchWrite(some));
    }
  };
  // First of all, because nodes written below include these counts. If the rebuild were interrupted
  // later, the consumer would add them again.
  await writeAll(deferred.map((key) => ({ delete: key })));
  const corrected = [...corrections, ...orphans.map(removed)];
  await writeAll(corrected.map((put) => ({ put: projectionItem(put) })));
  await writeAll([...amounts.values()].map(({ key, by }) => ({ put: { ...key, ...by } })));
  const obsolete = nodes.filter((key) => !amounts.has(keyString(key)));
  await writeAll(obsolete.map((key) => ({ delete: key })));
  for (const owner of withTrees) {
    await keepLock();
    await markTrees(ownerKey(owner), 'ready');
  }
  const contributions = [...actual.values()];
  const users = contributions.filter(({ counted }) => counted === 'USER').length;
  const listed = contributions.filter(({ counted }) => counted !== null).length;
  return { reviews: listed - users, users, corrected_projections: corrected.length };
}

/** Reads everything that totals and rank trees depend on. */
async function readAll(onProgress: (items: number) => void, keepLock: () => Promise<void>) {
  const actual = new Map<string, Contribution>();
  const projected = new Map<string, Contribution>();
  const withTrees = new Set<string>();
  /** Keys of all totals and nodes. */
  const nodes: Key[] = [];
  const deferred: Key[] = [];
  const pages = scanItems({
    FilterExpression:
      'sk IN (:review, :user, :projected) OR begins_with(pk, :nodes) OR pk = :deferred OR begins_with(sk, :totals) OR (sk IN (:entity, :counts) AND attribute_exists(rank_tree))',
    ProjectionExpression:
      'pk, sk, version, counted, #time, popularity, owners, rank_tree, #all, facet, kind, entity, author, #date, popularity_rank',
    ExpressionAttributeNames: { '#all': 'all', '#date': 'date', '#time': 'time' },
    ExpressionAttributeValues: {
      ':review': reviewKey('').sk,
      ':user': userKey('').sk,
      ':entity': entityKey('').sk,
      ':counts': countsKey('').sk,
      ':projected': projectionKey({ pk: '' }).sk,
      ':nodes': 'TREE#',
      ':deferred': deferredKey().pk,
      ':totals': 'TOTAL#',
    },
  });
  for await (const { items } of pages) {
    for (const item of items) {
      const { pk, sk } = item;
      if (item.rank_tree) withTrees.add(pk);
      if (sk === projectionKey(item).sk) projected.set(pk, readProjection(item));
      else if (/^(TREE#|TOTALS$)/.test(pk)) nodes.push({ pk, sk });
      else if (pk === deferredKey().pk) deferred.push({ pk, sk });
      else if (sk !== entityKey('').sk && sk !== countsKey('').sk)
        actual.set(pk, contribution(item));
    }
    onProgress(actual.size);
    await keepLock();
  }
  return { actual, projected, withTrees, nodes, deferred };
}

/** Returns the entities and authors with more reviews than a reader may skip. */
function longLists(contributions: Iterable<Contribution>): string[] {
  const lengths = new Map<string, number>();
  for (const { owners } of contributions) {
    for (const owner of owners) lengths.set(owner, (lengths.get(owner) ?? 0) + 1);
  }
  return [...lengths].flatMap(([owner, length]) => (length > leafCapacity ? [owner] : []));
}

function inTransaction(write: Parameters<typeof batchWrite>[0][number]): Write {
  return 'put' in write ? { Put: { Item: write.put } } : { Delete: { Key: write.delete } };
}
