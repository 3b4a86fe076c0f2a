import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../chunks.ts';
import { ApiError } from '../errors.ts';
import { registerFacet } from '../list/totals.ts';
import { hideAll } from '../moderation/hide-all.ts';
import { reopenCase } from '../moderation/report-repository.ts';
import { pick } from '../pick.ts';
import { hasRemains, isWrittenAhead } from '../review/erase.ts';
import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { idIn, reviewKey, userKey } from '../table/keys.ts';
import { itemsIn, keyOf, merged, packed } from '../table/merge.ts';
import { tryTransact, type Write } from '../table/transact.ts';
import { backOff } from '../time.ts';
import { chunksOf, keysOf, planOf, recordKey, remainsKey, unfinished } from './plan.ts';
import type { SourcedRecord, TransferRecord } from './record.ts';

/** Numbers of records written and already present by kind, and refused by reason. */
export type ImportResult = Record<'written' | 'present' | 'refused', Record<string, number>>;

interface ImportOptions {
  isDryRun?: boolean;
  isAlone?: boolean;
  patience?: number;
  onRefused?: (where: string, reason: string) => void;
  /** Called once, at the first wait. */
  onWaiting?: () => void;
  onProgress?: (records: number) => void;
}

const maxConcurrentChunks = 3;
/** Attempts after stale reads, and of a transaction on a busy table: each takes up to 8 s. */
const attempts = 5;
/** Revisions written ahead at once: so many of the longest texts fit a transaction. */
const mostAhead = 10;
/** Milliseconds between two checks of an unfinished deletion. */
const pause = 250;

/** Attributes that an import reads of existing items. */
const attributes = [
  ...['id', 'deleted_at', 'user_id', 'review_id', 'marked_at', 'edits', 'is_hidden'],
  ...['published_on', 'version', 'state', 'round', 'reported', 'moderators'],
];

/**
 * Writes the records that the table lacks, with all numbers counted from them. Each transaction is
 * conditional on what was read. An import is therefore safe beside traffic, and can be interrupted
 * and repeated. It reports refused records and continues. Throws ApiError 503 if the table stays
 * busy.
 *
 * `isDryRun` writes nothing. With `isAlone` nothing else may write to the table, and authors and
 * entities stay uncounted, for `recountOwners`. Records wait for unfinished deletions for up to
 * `patience` milliseconds in total, and later ones are refused.
 */
export async function importRecords(
  records: AsyncIterable<SourcedRecord>,
  { isDryRun, isAlone, patience = 0, onRefused, onWaiting, onProgress }: ImportOptions = {},
): Promise<ImportResult> {
  const result: ImportResult = { written: {}, present: {}, refused: {} };
  /** Items that a dry run pretends to have written, by `keyString`. */
  const dryRunItems = new Map<string, Item>();
  let done = 0;
  let remaining = patience;
  let waiting: Promise<void> | undefined;

  function countOutcome(what: keyof ImportResult, name: string): void {
    result[what][name] = (result[what][name] ?? 0) + 1;
    onProgress?.(++done);
  }

  function refuse({ where, record }: SourcedRecord, reason: string): void {
    countOutcome('refused', reason);
    const isUnfinished = reason === unfinished && 'id' in record;
    onRefused?.(isUnfinished ? `${where}, ${record.kind} ${record.id}` : where, reason);
  }

  async function apply(sources: readonly SourcedRecord[], attempt = 0): Promise<void> {
    const records = sources.map(({ record }) => record);
    const known = await readAll(records, dryRunItems);
    const find = (key: Key) => known.get(keyString(key));
    const plans: (SourcedRecord & { writes: Write[] })[] = [];
    const later: SourcedRecord[] = [];
    const cases: string[] = [];
    const hiding: string[] = [];
    const waitingPartitions = new Set<string>();
    for (const source of sources) {
      const { record } = source;
      if (record.kind === 'decision' && record.item.decision === 'hide_all') {
        hiding.push(`${record.item.user_id}`);
      }
      const { pk } = recordKey(record);
      const plan = planOf(record, find);
      if (remaining > 0 && (plan === unfinished || waitingPartitions.has(pk))) {
        // Later records of the partition wait as well.
        waitingPartitions.add(pk);
        later.push(source);
      } else if (typeof plan === 'string') refuse(source, plan);
      else if (plan.length === 0) {
        countOutcome('present', record.kind);
        // The case may have been closed since, because its reports were erased.
        if (record.kind === 'case' && record.item.state === 'open') cases.push(idIn(record.item));
      } else {
        plans.push({ ...source, writes: isAlone ? plan.filter(isNotOfOwner) : plan });
        for (const item of itemsIn(plan)) known.set(keyString(item), item);
      }
    }
    for (const batch of packed(plans)) {
      const writes = merged(batch.flatMap((plan) => plan.writes));
      if (isDryRun) {
        for (const item of itemsIn(writes)) dryRunItems.set(keyString(item), asRead(item));
      }
      if (isDryRun || (await write(writes))) {
        for (const { record } of batch) countOutcome('written', record.kind);
      } else await retryInHalves(batch, attempt);
    }
    if (!isDryRun) {
      for (const reviewId of cases) await reopenCase(reviewId);
      // The decision was being carried out when it was exported.
      for (const userId of hiding) await hideAll(userId);
    }
    if (later.length > 0) {
      await wait();
      await apply(later);
    }
  }

  /** Waits; all waiting records share one pause. */
  async function wait(): Promise<void> {
    if (remaining === patience && !waiting) onWaiting?.();
    waiting ??= sleep(pause).then(() => {
      remaining -= pause;
      waiting = undefined;
    });
    await waiting;
  }

  /** Applies records again after a read became stale. Halving finds the record concerned. */
  async function retryInHalves(sources: readonly SourcedRecord[], attempt: number): Promise<void> {
    const [source] = sources;
    const half = Math.ceil(sources.length / 2);
    if (sources.length > 1) {
      await apply(sources.slice(0, half));
      await apply(sources.slice(half));
    } else if (attempt < attempts) {
      await backOff(attempt + 1, 2560);
      await apply(sources, attempt + 1);
    } else if (source) refuse(source, 'related data keeps changing: import it again later');
  }

  const running = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { sources, isLast } of chunksOf(records)) {
    const work = apply(sources)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => running.delete(work));
    running.add(work);
    // The next records may refer to records that are still being written.
    if (isLast) await Promise.all(running);
    else if (running.size >= maxConcurrentChunks) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw failure;
  return result;
}

/** Reads all existing items that decide how records are treated. */
async function readAll(records: readonly TransferRecord[], dryRunItems: ReadonlyMap<string, Item>) {
  const known = new Map<string, Item>();
  const seen = new Set<string>();
  const read = async (keys: readonly Key[]) => {
    const unseen = keys.filter((key) => !seen.has(keyString(key)) && seen.add(keyString(key)));
    // One request at a time, because several chunks are processed in parallel.
    for (const some of chunks(unseen, 100)) {
      const found = await batchGet(some, { consistent: true, attributes });
      for (const [name, item] of found) known.set(name, item);
    }
    pretend();
  };
  // Other chunks pretend to write meanwhile, so this comes again after the last read.
  const pretend = () => {
    for (const name of seen) {
      const item = dryRunItems.get(name);
      if (item) known.set(name, item);
    }
  };
  await read(records.flatMap(keysOf));
  const authors = records.flatMap((record) => {
    const review = record.kind === 'vote' && known.get(keyString(reviewKey(record.review_id)));
    return review ? [userKey(`${review.user_id}`)] : [];
  });
  await read(authors);
  await Promise.all(
    records.map(async (record) => {
      if (record.kind !== 'review' || known.has(keyString(reviewKey(record.id)))) return;
      const key = remainsKey(record.id);
      if (await hasRemains(record.id, record.revisions.length)) {
        known.set(keyString(key), { ...key });
      }
    }),
  );
  pretend();
  return known;
}

/**
 * Writes one transaction, and before it the revisions that do not fit. Returns false if what was
 * read is stale. Throws ApiError 503 if the table stays busy.
 */
async function write(writes: readonly Write[]): Promise<boolean> {
  for (const { facet } of itemsIn(writes)) if (facet) await registerFacet(`${facet}`);
  const ahead = writes.filter((each) => itemsIn([each]).some(isWrittenAhead));
  for (const some of chunks(ahead, mostAhead)) {
    // Only for a review that does not exist yet: other revisions hold counts of votes.
    const isUnwritten = some.map((each): Write => {
      const Key = { pk: keyOf(each).pk, sk: reviewKey('').sk };
      return { ConditionCheck: { Key, was: { pk: undefined } } };
    });
    if (!(await transactOnBusyTable(merged([...isUnwritten, ...some])))) return false;
  }
  return transactOnBusyTable(writes.filter((each) => !ahead.includes(each)));
}

/** Writes as `tryTransact` does, with several attempts while the table is busy. */
async function transactOnBusyTable(writes: readonly Write[], attempt = 1): Promise<boolean> {
  try {
    return await tryTransact(writes);
  } catch (error) {
    const isBusy = error instanceof ApiError && error.status === 503;
    if (!isBusy || attempt === attempts) throw error;
    return transactOnBusyTable(writes, attempt + 1);
  }
}

/** Is false for counts of authors and entities, which `recountOwners` computes. */
function isNotOfOwner(write: Write): boolean {
  return 'Put' in write || !['USER', 'ENTITY'].includes(keyOf(write).sk);
}

/** Reduces an item to the attributes that `readAll` returns. */
const asRead = ({ pk, sk, ...item }: Item): Item => ({ pk, sk, ...pick(item, attributes) });
