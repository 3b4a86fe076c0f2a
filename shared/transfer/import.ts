import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../chunks.ts';
import { ApiError } from '../errors.ts';
import { announceFacet } from '../list/totals.ts';
import { reopenCase } from '../moderation/report-repository.ts';
import { pick } from '../pick.ts';
import { hasRemains, isWrittenAhead } from '../review/erase.ts';
import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { idIn, reviewKey, userKey } from '../table/keys.ts';
import { itemsIn, keyOf, merged, packed } from '../table/merge.ts';
import { StaleRead, transact, type Write } from '../table/transact.ts';
import { backOff } from '../time.ts';
import { chunksOf, keysOf, partitionOf, planOf, remainsKey, unfinished } from './plan.ts';
import type { Sourced, TransferRecord } from './record.ts';

/** What became of the records: how many were written, were there already or were refused; by kind, and by reason. */
export interface Outcome {
  written: Record<string, number>;
  present: Record<string, number>;
  refused: Record<string, number>;
}

/** How records are imported, and who hears of it: see `importRecords`. */
interface ImportOptions {
  isDryRun?: boolean;
  isAlone?: boolean;
  /** Milliseconds. */
  patience?: number;
  onRefused?: (where: string, reason: string) => void;
  onWaiting?: () => void;
  onProgress?: (records: number) => void;
}

type Plan = Sourced & { writes: Write[] };

const mostAtWork = 3;
const attempts = 5;
/** Number of tries of a transaction on a busy table. Each waits for 8 s. */
const transactionAttempts = 5;
/**
 * Revisions that are written ahead at once: all of them together have room for a text of the
 * largest size.
 */
const mostAhead = 10;
/** Milliseconds between two looks at a deletion that is not finished. */
const pause = 250;

/** What must be known of an item that is there. */
const attributes = [
  ...['id', 'deleted_at', 'user_id', 'review_id', 'marked_at', 'edits', 'is_hidden'],
  ...['published_on', 'version', 'state', 'round'],
];

/**
 * Writes records that are not in the table yet, each with what is counted of it, in transactions on
 * condition that nothing has changed since it was read: safe beside traffic, and whoever was
 * interrupted does it again. What is there is left as it is. A record that cannot be written is
 * told to `onRefused`, and the others go on. With `isDryRun` it reads and writes nothing. With
 * `isAlone` nobody else writes to the table, so that authors and entities can be left as they are,
 * for `recountOwners` to count. What is being deleted is waited for, `patience` milliseconds in
 * all, which `onWaiting` is told once; then it is refused. Throws ApiError 503 when the table stays
 * busy.
 */
export async function importRecords(
  records: AsyncIterable<Sourced>,
  { isDryRun, isAlone, patience = 0, onRefused, onWaiting, onProgress }: ImportOptions = {},
): Promise<Outcome> {
  const outcome: Outcome = { written: {}, present: {}, refused: {} };
  /** What would be there by now. */
  const pretended = new Map<string, Item>();
  let done = 0;
  let left = patience;
  let waiting: Promise<void> | undefined;

  function tell(what: keyof Outcome, name: string): void {
    outcome[what][name] = (outcome[what][name] ?? 0) + 1;
    done++;
    onProgress?.(done);
  }

  function refuse({ where, record }: Sourced, reason: string): void {
    tell('refused', reason);
    const isUnfinished = reason === unfinished && 'id' in record;
    onRefused?.(isUnfinished ? `${where}, ${record.kind} ${record.id}` : where, reason);
  }

  async function apply(sources: readonly Sourced[], attempt = 0): Promise<void> {
    const known = await readAll(
      sources.map(({ record }) => record),
      pretended,
    );
    const plans: Plan[] = [];
    const later: Sourced[] = [];
    const cases: string[] = [];
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
      else if (plan.length === 0) {
        tell('present', record.kind);
        // Its case may have been closed since, because its reports were erased.
        if (record.kind === 'case' && record.item.state === 'open') cases.push(idIn(record.item));
      } else {
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
    if (!isDryRun) for (const reviewId of cases) await reopenCase(reviewId);
    if (later.length > 0) {
      await wait();
      await apply(later);
    }
  }

  /** Takes a pause, the same for all that wait. */
  async function wait(): Promise<void> {
    if (left === patience && !waiting) onWaiting?.();
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
      if (await hasRemains(record.id, record.revisions.length))
        known.set(keyString(key), { ...key });
    }),
  );
  for (const name of seen) {
    const item = pretended.get(name);
    if (item) known.set(name, item);
  }
  return known;
}

/**
 * Writes one transaction, and before it what it has no room for. Throws StaleRead, or ApiError 503
 * when the table stays busy.
 */
async function write(writes: readonly Write[]): Promise<void> {
  for (const { facet } of itemsIn(writes)) if (facet) await announceFacet(`${facet}`);
  const ahead = writes.filter((each) => itemsIn([each]).some(isWrittenAhead));
  for (const some of chunks(ahead, mostAhead)) {
    // Those of a review that is there count its votes.
    const isUnwritten = some.map((each): Write => {
      const Key = { pk: keyOf(each).pk, sk: reviewKey('').sk };
      return { ConditionCheck: { Key, was: { pk: undefined } } };
    });
    await insist(merged([...isUnwritten, ...some]));
  }
  await insist(writes.filter((each) => !ahead.includes(each)));
}

/** Writes a transaction to a table that may be busy for a while. */
async function insist(writes: readonly Write[], attempt = 1): Promise<void> {
  try {
    await transact(writes);
  } catch (error) {
    const isBusy = error instanceof ApiError && error.status === 503;
    if (!isBusy || attempt === transactionAttempts) throw error;
    await insist(writes, attempt + 1);
  }
}

/** Is false for what `recountOwners` counts. */
function isNotOfOwner(write: Write): boolean {
  return 'Put' in write || !['USER', 'ENTITY'].includes(keyOf(write).sk);
}

/** Of an item, what `readAll` would give. */
function of(item: Item): Item {
  return { pk: item.pk, sk: item.sk, ...pick(item, attributes) };
}
