import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../chunks.ts';
import { ApiError } from '../errors.ts';
import { announceFacet } from '../list/totals.ts';
import { isRemains, isRevision } from '../review/erase.ts';
import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { reviewKey, userKey } from '../table/keys.ts';
import { keyOf, merged } from '../table/merge.ts';
import { collect, queryItems } from '../table/query.ts';
import { maxActions, StaleRead, transact, type Write } from '../table/transact.ts';
import { backOff } from '../time.ts';
import { bytesIn, isWrittenAhead, keysOf, planOf, remainsKey, unfinished } from './plan.ts';
import type { Sourced, TransferRecord } from './record.ts';

/** What became of the records: how many were written, were there already or were refused; by kind, and by reason. */
export interface Outcome {
  written: Record<string, number>;
  present: Record<string, number>;
  refused: Record<string, number>;
}

/** A record with its writes. */
interface Plan extends Sourced {
  writes: Write[];
}

/** Partitions that are read, and then written, at once, and the most records of them. */
const chunkSize = 50;
const mostRecords = 5_000;
/** Chunks at work at the same time. */
const mostAtWork = 3;
/** How often what is stale is read again. */
const attempts = 5;
/** How often a transaction is tried on a busy table. Each time it waits for 8 s. */
const transactionAttempts = 5;
/** In bytes of JSON; DynamoDB takes 4 MB of items in a transaction. */
const mostBytes = 3_000_000;
/** Revisions that are written ahead at once: all of them together have room for a text of the largest size. */
const mostAhead = 10;
/** Milliseconds between two looks at a deletion that is not finished. */
const pause = 250;

/** What must be known of an item that is there. */
const attributes = [
  ...['id', 'deleted_at', 'user_id', 'review_id', 'marked_at', 'edits', 'is_hidden'],
  ...['published_on', 'version', 'state', 'round'],
];

/**
 * Writes records that are not in the table yet, each with what is counted of it, in transactions on condition that nothing has changed since
 * it was read: safe beside traffic, and whoever was interrupted does it again. What is there is left as it is. A record that cannot be
 * written is told to `onRefused`, and the others go on. With `isDryRun` it reads and writes nothing. With `isAlone` nobody else writes to the
 * table, so that authors and entities can be left as they are, for `recountOwners` to count. What is being deleted is waited for, `patience`
 * milliseconds in all, which `onWaiting` is told once; then it is refused. Throws ApiError 503 when the table stays busy.
 */
export async function importRecords(
  records: AsyncIterable<Sourced>,
  {
    isDryRun = false,
    isAlone = false,
    patience = 0,
    onRefused = () => {},
    onWaiting = () => {},
    onProgress = () => {},
  }: {
    isDryRun?: boolean;
    isAlone?: boolean;
    patience?: number;
    onRefused?: (where: string, reason: string) => void;
    onWaiting?: () => void;
    onProgress?: (records: number) => void;
  } = {},
): Promise<Outcome> {
  const outcome: Outcome = { written: {}, present: {}, refused: {} };
  /** What would be there by now. */
  const pretended = new Map<string, Item>();
  let done = 0;
  let left = patience;
  let waiting: Promise<void> | undefined;

  function tell(what: keyof Outcome, name: string): void {
    outcome[what][name] = (outcome[what][name] ?? 0) + 1;
    onProgress(++done);
  }

  function refuse({ where, record }: Sourced, reason: string): void {
    tell('refused', reason);
    const isUnfinished = reason === unfinished && 'id' in record;
    onRefused(isUnfinished ? `${where}, ${record.kind} ${record.id}` : where, reason);
  }

  async function apply(sources: readonly Sourced[], attempt = 0): Promise<void> {
    const known = await readAll(
      sources.map(({ record }) => record),
      pretended,
    );
    const plans: Plan[] = [];
    const later: Sourced[] = [];
    const partitions = new Set<string>();
    for (const source of sources) {
      const { record } = source;
      const partition = partitionOf(record);
      const plan = planOf(record, known);
      if (left > 0 && (plan === unfinished || partitions.has(partition))) {
        // What follows of it waits as well.
        partitions.add(partition);
        later.push(source);
      } else if (typeof plan === 'string') refuse(source, plan);
      else if (plan.length === 0) tell('present', record.kind);
      else {
        plans.push({ ...source, writes: isAlone ? plan.filter(isNotOfOwner) : plan });
        for (const item of itemsIn(plan)) known.set(keyString(item), item);
      }
    }
    for (const together of packed(plans)) {
      const writes = merged(together.flatMap((plan) => plan.writes));
      try {
        if (isDryRun) for (const item of itemsIn(writes)) pretended.set(keyString(item), of(item));
        else await write(writes);
        for (const { record } of together) tell('written', record.kind);
      } catch (error) {
        if (!(error instanceof StaleRead)) throw error;
        await again(together, attempt);
      }
    }
    if (later.length > 0) {
      await wait();
      await apply(later);
    }
  }

  /** Takes a pause, the same for all that wait. */
  async function wait(): Promise<void> {
    if (left === patience && !waiting) onWaiting();
    waiting ??= sleep(pause).then(() => {
      left -= pause;
      waiting = undefined;
    });
    await waiting;
  }

  /** Something has changed since it was read: which record it belongs to shows in halves. */
  async function again(sources: readonly Sourced[], attempt: number): Promise<void> {
    const half = Math.ceil(sources.length / 2);
    if (sources.length > 1) {
      await apply(sources.slice(0, half));
      await apply(sources.slice(half));
    } else if (attempt < attempts) {
      await backOff(attempt + 1, 2560);
      await apply(sources, attempt + 1);
    } else {
      for (const source of sources) refuse(source, 'what it belongs to changes all the time');
    }
  }

  const atWork = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { sources, isLast } of chunksOf(records)) {
    const work = apply(sources)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => atWork.delete(work));
    atWork.add(work);
    // What follows may name what is still being written.
    if (isLast) await Promise.all(atWork);
    else if (atWork.size >= mostAtWork) await Promise.race(atWork);
    if (failure) break;
  }
  await Promise.all(atWork);
  if (failure) throw failure;
  return outcome;
}

/**
 * Records that are at work together: those of a partition that follow each other are, such as a review and its votes.
 * `isLast` where what comes next may name them: it begins with another kind, or goes on with the partition.
 */
async function* chunksOf(
  records: AsyncIterable<Sourced>,
): AsyncGenerator<{ sources: Sourced[]; isLast: boolean }> {
  let sources: Sourced[] = [];
  let [kind, partition, partitions] = ['', '', 0];
  for await (const source of records) {
    const next = partitionOf(source.record);
    const isNext = next !== partition;
    const isOther = isNext && source.record.kind !== kind;
    if (isOther || (isNext && partitions >= chunkSize) || sources.length >= mostRecords) {
      if (sources.length > 0) yield { sources, isLast: isOther || !isNext };
      [sources, partitions] = [[], 0];
    }
    if (isNext) [kind, partition, partitions] = [source.record.kind, next, partitions + 1];
    sources.push(source);
  }
  if (sources.length > 0) yield { sources, isLast: true };
}

function partitionOf(record: TransferRecord): string {
  if (record.kind === 'user') return userKey(record.id).pk;
  if (record.kind === 'review') return reviewKey(record.id).pk;
  return record.kind === 'vote' ? reviewKey(record.review_id).pk : record.item.pk;
}

/** All that decides what becomes of records, as far as it is there. */
async function readAll(records: readonly TransferRecord[], pretended: ReadonlyMap<string, Item>) {
  const known = new Map<string, Item>();
  const seen = new Set<string>();
  const read = async (keys: readonly Key[]) => {
    const unseen = keys.filter((key) => !seen.has(keyString(key)) && seen.add(keyString(key)));
    // One request after the other, as several chunks are at work beside.
    for (const some of chunks(unseen, 100)) {
      const found = await batchGet(some, { consistent: true, attributes });
      for (const [name, item] of found) known.set(name, item);
    }
  };
  await read(records.flatMap(keysOf));
  await read(
    records.flatMap((record) => {
      const review = record.kind === 'vote' && known.get(keyString(reviewKey(record.review_id)));
      return review ? [userKey(`${review.user_id}`)] : [];
    }),
  );
  await Promise.all(
    records.map(async (record) => {
      if (record.kind !== 'review' || known.has(keyString(reviewKey(record.id)))) return;
      const key = remainsKey(record.id);
      if (await hasRemains(key, record.revisions.length)) known.set(keyString(key), { ...key });
    }),
  );
  for (const name of seen) {
    const item = pretended.get(name);
    if (item) known.set(name, item);
  }
  return known;
}

/** Finds what a deleted review has left, but for revisions that an import wrote ahead and rewrites. */
async function hasRemains(partition: Key, revisions: number): Promise<boolean> {
  const items = await collect(queryItems(partition));
  // Another import has written it since it was looked for.
  if (items.some(({ sk }) => sk === reviewKey('').sk)) return false;
  const isOfThis = (Item: Item) =>
    isAhead({ Put: { Item } }) && isWrittenAhead(revisions) && Number(Item.id) < revisions;
  return items.some((item) => isRemains(item) && !isOfThis(item));
}

/** Plans by transaction. */
function* packed<T extends { writes: readonly Write[] }>(plans: readonly T[]): Generator<T[]> {
  let together: T[] = [];
  let touched = new Set<string>();
  let bytes = 0;
  for (const plan of plans) {
    const writes = plan.writes.filter((write) => !isAhead(write));
    const names = writes.map((write) => keyString(keyOf(write)));
    const size = itemsIn(writes).reduce((sum, item) => sum + bytesIn(item), 0);
    const isFull = new Set([...touched, ...names]).size > maxActions || bytes + size > mostBytes;
    if (together.length > 0 && isFull) {
      yield together;
      [together, touched, bytes] = [[], new Set(), 0];
    }
    together.push(plan);
    for (const name of names) touched.add(name);
    bytes += size;
  }
  if (together.length > 0) yield together;
}

/** Writes one transaction, and before it what it has no room for. Throws StaleRead, or ApiError 503 when the table stays busy. */
async function write(writes: readonly Write[]): Promise<void> {
  for (const { facet } of itemsIn(writes)) {
    if (facet !== undefined) await announceFacet(`${facet}`);
  }
  const { ahead = [], together = [] } = Object.groupBy(writes, (each) =>
    isAhead(each) ? 'ahead' : 'together',
  );
  for (const some of chunks(ahead, mostAhead)) {
    await insist(merged(some.flatMap((each) => [isUnwritten(each), each])));
  }
  await insist(together);
}

/** Writes a transaction of a table that may be busy for a while. */
async function insist(writes: readonly Write[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await transact(writes);
      return;
    } catch (error) {
      const isBusy = error instanceof ApiError && error.status === 503;
      if (!isBusy || attempt === transactionAttempts) throw error;
    }
  }
}

/** Is true for an earlier revision that is written before its review. */
function isAhead(write: Write): boolean {
  return itemsIn([write]).some((item) => isRevision(item) && item.version !== undefined);
}

/** The condition that the review of a revision is not there, with votes that the revision counts. */
function isUnwritten(revision: Write): Write {
  const Key = { ...reviewKey(''), pk: keyOf(revision).pk };
  return { ConditionCheck: { Key, ConditionExpression: 'attribute_not_exists(pk)' } };
}

function itemsIn(writes: readonly Write[]): Item[] {
  return writes.flatMap((write) => ('Put' in write ? [write.Put.Item as Item] : []));
}

/** Is false for what `recountOwners` counts. */
function isNotOfOwner(write: Write): boolean {
  return 'Put' in write || !['USER', 'ENTITY'].includes(keyOf(write).sk);
}

/** Of an item, what `readAll` would give. */
function of(item: Item): Item {
  const { pk, sk } = item;
  return { pk, sk, ...Object.fromEntries(attributes.map((name) => [name, item[name]])) };
}
