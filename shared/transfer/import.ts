import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../chunks.ts';
import { isRemains, isRevision } from '../review/erase.ts';
import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { reviewKey, userKey } from '../table/keys.ts';
import { collect, queryItems } from '../table/query.ts';
import { StaleRead } from '../table/transact.ts';
import { backOff } from '../time.ts';
import { bump, isWrittenAhead, nothing, partOf, type Told, type Touch } from './part.ts';
import { chunksOf, keysOf, remainsKey, type Sourced, sources, type Unit, unitsOf } from './unit.ts';
import { packed, write } from './write.ts';

/** What became of the records: how many were written, were there already or were refused; by kind, and by reason. */
export interface Outcome {
  written: Record<string, number>;
  present: Record<string, number>;
  refused: Record<string, number>;
}

/** Chunks at work at the same time. */
const mostAtWork = 3;
/** How often what is stale is read again. */
const attempts = 5;
/** Milliseconds between two looks at a deletion that is not finished. */
const pause = 250;

/** What must be known of an item that is there. */
const read = [
  'deleted_at',
  'user_id',
  'review_id',
  'marked_at',
  'edits',
  'is_hidden',
  'published_on',
  'version',
  'state',
  'round',
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

  function tell({ written, present, refused }: Told): void {
    for (const kind of written) bump(outcome.written, kind);
    for (const kind of present) bump(outcome.present, kind);
    for (const { where, reason } of refused) {
      bump(outcome.refused, reason);
      onRefused(where, reason);
    }
    done += written.length + present.length + refused.length;
    onProgress(done);
  }

  async function apply(units: readonly Unit[], attempt = 0): Promise<void> {
    const known = await readAll(units, pretended);
    const later: Unit[] = [];
    const unfinished: Unit[] = [];
    const parts = units.flatMap((unit) => {
      const part = partOf(unit, known);
      if (part.isUnfinished && left > 0) {
        unfinished.push(unit);
        return [];
      }
      if (isAlone) part.touches = part.touches.filter(isCountedAlone);
      for (const item of part.puts) known.set(keyString(item), item);
      if (part.puts.length > 0) return [part];
      tell(part.told);
      later.push(...part.later);
      return [];
    });
    for (const together of packed(parts)) {
      if (isDryRun) {
        for (const item of together.flatMap(({ puts }) => puts)) {
          pretended.set(keyString(item), of(item));
        }
      } else {
        try {
          await write(together);
        } catch (error) {
          if (!(error instanceof StaleRead)) throw error;
          await again(
            together.map(({ unit }) => unit),
            attempt,
          );
          continue;
        }
      }
      for (const part of together) {
        tell(part.told);
        later.push(...part.later);
      }
    }
    if (later.length > 0) await apply(later);
    if (unfinished.length > 0) {
      await wait();
      await apply(unfinished);
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

  /** Something has changed since it was read: whose unit that is shows in halves. */
  async function again(units: readonly Unit[], attempt: number): Promise<void> {
    const half = Math.ceil(units.length / 2);
    if (units.length > 1) {
      await apply(units.slice(0, half));
      await apply(units.slice(half));
    } else if (attempt < attempts) {
      await backOff(attempt + 1, 2560);
      await apply(units, attempt + 1);
    } else {
      const reason = 'what it belongs to changes all the time';
      tell({
        ...nothing(),
        refused: units.flatMap(sources).map(({ where }) => ({ where, reason })),
      });
    }
  }

  const atWork = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { units, isLast } of chunksOf(unitsOf(records))) {
    const work = apply(units)
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

/** All that decides what becomes of units, as far as it is there. */
async function readAll(units: readonly Unit[], pretended: ReadonlyMap<string, Item>) {
  const keys = new Map(units.flatMap(keysOf).map((key) => [keyString(key), key]));
  const known = new Map<string, Item>();
  // One request after the other, as several chunks are at work beside.
  for (const some of chunks([...keys.values()], 100)) {
    const found = await batchGet(some, { consistent: true, attributes: read });
    for (const [name, item] of found) known.set(name, item);
  }
  await Promise.all(
    units.map(async (unit) => {
      if (unit.kind !== 'review') return;
      const { id, revisions } = unit.review.record;
      if (known.has(keyString(reviewKey(id)))) return;
      const key = remainsKey(id);
      if (await hasRemains(key, revisions.length)) known.set(keyString(key), { ...key });
    }),
  );
  const authors = units.flatMap((unit) => {
    const review = unit.kind === 'votes' && known.get(keyString(reviewKey(unit.reviewId)));
    return review ? [userKey(`${review.user_id}`)] : [];
  });
  for (const key of authors) {
    if (known.has(keyString(key))) continue;
    const found = await batchGet([key], { consistent: true, attributes: read });
    for (const [name, item] of found) known.set(name, item);
  }
  for (const name of [...keys.keys(), ...authors.map(keyString)]) {
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
  const isAhead = (item: Item) =>
    isRevision(item) &&
    item.version !== undefined &&
    isWrittenAhead(revisions) &&
    Number(item.id) < revisions;
  return items.some((item) => isRemains(item) && !isAhead(item));
}

/** Is true for what `recountOwners` does not count. */
function isCountedAlone({ key, amounts }: Touch): boolean {
  return key.pk.startsWith('REVIEW#') || amounts?.applications !== undefined;
}

/** Of an item, what `read` would give. */
function of(item: Item): Item {
  const { pk, sk } = item;
  return { pk, sk, ...Object.fromEntries(read.map((name) => [name, item[name]])) };
}
