import { isDeepStrictEqual } from 'node:util';
import { chunks } from '../chunks.ts';
import type { Entity } from '../entity/record.ts';
import { batchGet, batchWrite } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { entityKey } from '../table/keys.ts';
import { collect, queryItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';
import { type Change, changeOf } from './changes.ts';
import { idOfMark, markOf, marksKey, type Rise, riseIn, riseKey } from './rise.ts';
import { settleEntries } from './settle.ts';
import { byKey, ratingOf, readThings, slowEntriesOf, type Thing, wordsIn } from './thing.ts';
import { wordEntriesAtAll } from './words.ts';

// A thing rises at its 1st, 10th and 100th review. A mark waits until its slow entries are written.

/**
 * Things that have risen, in one run: four times what a large community publishes in its busiest
 * minute. Each takes 14 writes, so a run takes seconds. Those left over wait a minute more.
 */
const mostRisen = 500;

/** Marks the things that counts alone have raised, and whose words stand as these were before. */
export async function markRisen(
  changes: readonly Change[],
  things: readonly Thing[],
): Promise<readonly Thing[]> {
  const raised = things.flatMap((thing, i) => {
    const before = changes[i]?.isNamed ? undefined : changes[i]?.counts[0];
    if (!before || thing.risen || before.counts.all >= thing.counts.all) return [];
    const former = { ...thing, ...before };
    return isDeepStrictEqual(wordsIn(former), wordsIn(thing)) ? [] : [former];
  });
  if (raised.length === 0) return things;
  const standing = await batchGet(raised.flatMap(wordsIn), { consistent: true });
  const stands = (entry: Item) => isDeepStrictEqual(standing.get(keyString(entry)), entry);
  const marked = raised.filter((former) => wordsIn(former).every(stands));
  const rises = new Map(marked.map((former) => [former.id, riseOf(former)]));
  await batchWrite([...rises].map(([id, rise]) => ({ put: markOf(id, rise) })));
  return things.map((each) => ({ ...each, risen: each.risen ?? rises.get(each.id) }));
}

/**
 * Writes the slow entries of things that have risen, and forgets that they have. Call it every
 * minute. What has changed meanwhile waits for the next call. Reads half a unit if there are none.
 * Returns the entities with reviews among them.
 */
export async function settleRisen(): Promise<Entity[]> {
  const marks = await collect(queryItems(marksKey, { pageSize: mostRisen }), mostRisen);
  const settled: Entity[] = [];
  for (const some of chunks(marks, 100)) {
    const changes = new Map<string, Change>();
    const rises = new Map(some.map((mark) => [idOfMark(mark), riseIn(mark)]));
    for (const [id, rise] of rises) {
      const change = changeOf(changes, id);
      for (const type of rise?.types ?? []) change.types.add(type);
    }
    const things = await settleSlow([...changes.values()], rises);
    await Promise.all(things.map(forgetRise));
    settled.push(
      ...things.flatMap(({ records, counts }) =>
        records.filter(({ entity_type }) => counts.types.has(entity_type)),
      ),
    );
  }
  return settled;
}

/** Writes the slow entries of things that have risen. */
export async function settleSlow(
  changes: readonly Change[],
  rises: ReadonlyMap<string, Rise | undefined>,
): Promise<readonly Thing[]> {
  const things = await readThings(changes);
  const next = things.map((thing) => {
    const { types, places } = riseOf(thing);
    const rise = rises.get(thing.id);
    return markOf(thing.id, {
      types: [...new Set([...(rise?.types ?? []), ...types])],
      places: [...byKey([...(rise?.places ?? []), ...places]).values()],
    });
  });
  // Named before they are written, so that an interruption leaves no unknown one.
  await batchWrite(next.map((put) => ({ put })));
  const records = [...things, ...changes].flatMap((each) => each.records);
  const words = records.flatMap(wordEntriesAtAll);
  const places = next.flatMap((mark) => riseIn(mark)?.places ?? []);
  const candidates = byKey<Key>([...words, ...places]);
  const standing = await batchGet([...candidates.values()], { consistent: true });
  const counted = new Map(things.map((thing) => [thing.id, thing]));
  await settleEntries(things, standing, slowEntriesOf, () => readThings(changes, counted));
  return things;
}

/** Deletes the mark of a thing, unless it has been counted again since it was read. */
async function forgetRise({ id, version }: Thing): Promise<void> {
  await tryTransact([
    { Delete: { Key: riseKey(id) } },
    { ConditionCheck: { Key: entityKey(id), was: { version } } },
  ]);
}

function riseOf(thing: Thing): Rise {
  return { types: thing.records.map(({ entity_type }) => entity_type), places: ratingOf(thing) };
}
