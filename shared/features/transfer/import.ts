// Runs an import: splits records into chunks, writes their plans, waits, and repeats stale ones.

import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../../base/chunks.ts';
import { ApiError, TableBusy } from '../../base/errors.ts';
import { type Item, idIn, keyString } from '../../base/table/item.ts';
import { itemsIn, merged, packed } from '../../base/table/merge.ts';
import { tryTransact, type Write } from '../../base/table/transact.ts';
import { keyOf } from '../../base/table/write.ts';
import { backOff } from '../../base/time.ts';
import { reviewKey } from '../../core/keys.ts';
import { reopenCase, takeUpReports } from '../../core/report/report-repository.ts';
import { isWrittenAhead } from '../../core/review/erase.ts';
import { undoAll } from '../moderation/public.ts';
import { asRead, readExisting } from './existing.ts';
import type { Gaps } from './gaps.ts';
import { decide, type PlannedRecord, transferKey, unfinished } from './plan.ts';
import type { SourcedRecord, TransferRecord } from './record.ts';

/** Numbers of records written and already present by kind, and refused by reason. */
type ImportResult = Record<'written' | 'present' | 'refused', Record<string, number>>;

interface ImportOptions {
  isDryRun?: boolean;
  isAlone?: boolean;
  patience?: number;
  /** Takes each record that is written or present. */
  gaps?: Gaps;
  onRefused?: (where: string, reason: string) => void;
  /** Called once, at the first wait. */
  onWaiting?: () => void;
  onProgress?: (records: number) => void;
  /** Called before the import fails. A repeated import counts what this one wrote as present. */
  onFailure?: (result: ImportResult) => void;
}

const maxConcurrentChunks = 3;
/** Maximums of a chunk that is read and then written. */
const mostPartitions = 50;
const mostRecords = 5_000;
/** Attempts after stale reads, and of a transaction on a busy table: each takes up to 8 s. */
const attempts = 5;
/** Revisions written ahead at once: so many of the longest texts fit a transaction. */
const mostAhead = 10;
/** Milliseconds between two checks of an unfinished deletion. */
const pause = 250;

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
  options: ImportOptions = {},
): Promise<ImportResult> {
  const run = new ImportRun(options);
  const running = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { sources, isLast } of chunksOf(records)) {
    const work = run
      .apply(sources)
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
  if (failure) {
    options.onFailure?.(run.result);
    throw failure;
  }
  return run.result;
}

/**
 * Splits records into chunks to process together. Consecutive records of a partition, such as a
 * review and its votes, stay in one chunk of up to 5,000 records. The chunk after one with `isLast`
 * begins another kind or continues the partition, and may refer to all chunks before it.
 */
async function* chunksOf(
  records: AsyncIterable<SourcedRecord>,
): AsyncGenerator<{ sources: SourcedRecord[]; isLast: boolean }> {
  let sources: SourcedRecord[] = [];
  let kind = '';
  let partition = '';
  let partitions = 0;
  for await (const source of records) {
    const next = transferKey(source.record).pk;
    const isNext = next !== partition;
    const isOther = isNext && source.record.kind !== kind;
    if (isOther || (isNext && partitions >= mostPartitions) || sources.length >= mostRecords) {
      if (sources.length > 0) yield { sources, isLast: isOther || !isNext };
      sources = [];
      partitions = 0;
    }
    if (isNext) {
      kind = source.record.kind;
      partition = next;
      partitions++;
    }
    sources.push(source);
  }
  if (sources.length > 0) yield { sources, isLast: true };
}

/** Applies chunks of records, several at a time, and counts what became of them. */
class ImportRun {
  readonly result: ImportResult = { written: {}, present: {}, refused: {} };
  readonly #options: ImportOptions;
  /** Items that a dry run pretends to have written, by `keyString`. */
  readonly #dryRunItems = new Map<string, Item>();
  /** Records of transactions without an answer, which may have written them. */
  readonly #unanswered = new WeakSet<TransferRecord>();
  /** Milliseconds that records may still wait for unfinished deletions. */
  #patience: number;
  #pause: Promise<void> | undefined;
  #hasWaited = false;
  #done = 0;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#patience = options.patience ?? 0;
  }

  /** Reads what the records depend on, decides, and writes. */
  async apply(sources: readonly SourcedRecord[], attempt = 0): Promise<void> {
    const existing = await readExisting(sources, this.#dryRunItems);
    const mayWait = this.#patience > 0;
    const { planned, present, refused, waiting } = decide(sources, existing, mayWait);
    for (const [source, reason] of refused) this.#refuse(source, reason);
    for (const { record } of present) this.#keep(record, this.#unanswered.has(record));
    const toWrite = this.#options.isAlone ? planned.map(withoutOwners) : planned;
    for (const batch of packed(toWrite)) {
      if (await this.#write(batch)) {
        for (const { record } of batch) this.#keep(record, true);
      } else {
        await this.#retryInHalves(batch, attempt);
      }
    }
    if (!this.#options.isDryRun) {
      await reopenCases(present);
      await takeUpCarried([...present, ...planned], existing);
      await continueHiding([...present, ...planned]);
    }
    if (waiting.length > 0) {
      await this.#wait();
      await this.apply(waiting);
    }
  }

  /** Writes one transaction, or pretends to. Returns false if what was read is stale. */
  async #write(batch: readonly PlannedRecord[]): Promise<boolean> {
    const writes = merged(batch.flatMap((record) => record.writes));
    const onUnanswered = () => {
      for (const { record } of batch) this.#unanswered.add(record);
    };
    if (!this.#options.isDryRun) return write(writes, onUnanswered);
    for (const item of itemsIn(writes)) {
      this.#dryRunItems.set(keyString(item), asRead(item));
    }
    return true;
  }

  /** Applies records again after a read became stale. Halving finds the record concerned. */
  async #retryInHalves(sources: readonly SourcedRecord[], attempt: number): Promise<void> {
    const [source] = sources;
    const half = Math.ceil(sources.length / 2);
    if (sources.length > 1) {
      await this.apply(sources.slice(0, half));
      await this.apply(sources.slice(half));
    } else if (attempt < attempts) {
      await backOff(attempt + 1, 2560);
      await this.apply(sources, attempt + 1);
    } else if (source) {
      this.#refuse(source, 'related data keeps changing: import it again later');
    }
  }

  /** Waits for unfinished deletions; all waiting records share one pause. */
  async #wait(): Promise<void> {
    if (!this.#hasWaited) this.#options.onWaiting?.();
    this.#hasWaited = true;
    this.#pause ??= sleep(pause).then(() => {
      this.#patience -= pause;
      this.#pause = undefined;
    });
    await this.#pause;
  }

  #refuse({ where, record }: SourcedRecord, reason: string): void {
    this.#count('refused', reason);
    const isUnfinished = reason === unfinished && 'id' in record;
    this.#options.onRefused?.(
      isUnfinished ? `${where}, ${record.kind} ${record.id}` : where,
      reason,
    );
  }

  /** Counts a record that is written, or that the table had before. */
  #keep(record: TransferRecord, isWritten: boolean): void {
    this.#options.gaps?.note(record, isWritten);
    this.#count(isWritten ? 'written' : 'present', record.kind);
  }

  #count(outcome: keyof ImportResult, name: string): void {
    const counts = this.result[outcome];
    counts[name] = (counts[name] ?? 0) + 1;
    this.#done++;
    this.#options.onProgress?.(this.#done);
  }
}

/** Opens cases again that were closed since their export, because their reports were erased. */
async function reopenCases(present: readonly SourcedRecord[]): Promise<void> {
  for (const { record } of present) {
    if (record.kind === 'case' && record.item.state === 'open') {
      await reopenCase(idIn(record.item));
    }
  }
}

/** Opens the cases of reviews whose deletion had left reports, after the records of the review. */
async function takeUpCarried(
  sources: readonly SourcedRecord[],
  existing: ReadonlyMap<string, Item>,
): Promise<void> {
  for (const { record } of sources) {
    if (record.kind !== 'review') continue;
    const review = existing.get(keyString(reviewKey(record.id)));
    if (review?.reported !== undefined) await takeUpReports(record.id);
  }
}

/** Carries out decisions that were being carried out when they were exported. */
async function continueHiding(sources: readonly SourcedRecord[]): Promise<void> {
  for (const { record } of sources) {
    if (record.kind === 'decision' && isOfAll(record.item.decision)) {
      await undoAll(`${record.item.user_id}`);
    }
  }
}

const isOfAll = (decision: unknown) => decision === 'hide_all' || decision === 'restore_all';

/** Leaves out the counts of authors and entities, which `recountOwners` computes. */
function withoutOwners(planned: PlannedRecord): PlannedRecord {
  const isOfOwner = (write: Write) =>
    !('Put' in write) && ['USER', 'COUNTS', 'ENTITY'].includes(keyOf(write).sk);
  return { ...planned, writes: planned.writes.filter((write) => !isOfOwner(write)) };
}

/**
 * Writes one transaction, and before it the revisions that do not fit. Returns false if what was
 * read is stale. Throws ApiError 503 if the table stays busy.
 */
async function write(writes: readonly Write[], onUnanswered: () => void): Promise<boolean> {
  const ahead = writes.filter((each) => itemsIn([each]).some(isWrittenAhead));
  for (const revisions of chunks(ahead, mostAhead)) {
    // Only for a review that does not exist yet: other revisions hold counts of votes.
    const isUnwritten = revisions.map((each): Write => {
      const Key = { pk: keyOf(each).pk, sk: reviewKey('').sk };
      return { ConditionCheck: { Key, was: { pk: undefined } } };
    });
    const isCurrent = await transactOnBusyTable(
      merged([...isUnwritten, ...revisions]),
      onUnanswered,
    );
    if (!isCurrent) return false;
  }
  return transactOnBusyTable(
    writes.filter((each) => !ahead.includes(each)),
    onUnanswered,
  );
}

/**
 * Writes as `tryTransact` does, with several attempts while the table is busy. Calls `onUnanswered`
 * before another attempt: the one before may have been written late.
 */
async function transactOnBusyTable(
  writes: readonly Write[],
  onUnanswered: () => void,
  attempt = 1,
): Promise<boolean> {
  try {
    return await tryTransact(writes);
  } catch (error) {
    const isContended = error instanceof ApiError && error.status === 429;
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    const isBusy = isContended || isTimeout || error instanceof TableBusy;
    if (!isBusy || attempt === attempts) throw error;
    onUnanswered();
    return transactOnBusyTable(writes, onUnanswered, attempt + 1);
  }
}
