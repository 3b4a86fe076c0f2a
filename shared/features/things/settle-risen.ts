import { isDeepStrictEqual } from 'node:util';
import { chunks } from '../../base/chunks.ts';
import { batchGet, batchWrite } from '../../base/table/batch.ts';
import { type Item, type Key, keyString } from '../../base/table/item.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { tryTransact } from '../../base/table/transact.ts';
import type { Entity } from '../../core/entity/record.ts';
import { entityKey } from '../../core/keys.ts';
import { type Change, changeOf } from './changes.ts';
import { idOfMark, markOf, marksKey, type Rise, riseIn, riseKey } from './rise.ts';
import { settle } from './settle.ts';
import {
  byKey,
  hasOtherLevel,
  isByRating,
  placesIn,
  readThings,
  type Thing,
  wordsIn,
  wordsUpTo,
} from './thing.ts';
import { wordEntriesAtAll } from './words.ts';

// A thing rises at its 1st, 10th and 100th review. Its mark stays until its words are written.

/**
 * Things that have risen, in one run: four times what a large community publishes in its busiest
 * minute. Each takes 14 writes, so a run takes seconds. Those left over wait a minute more.
 */
const mostRisen = 500;

/**
 * Marks the things that counts alone have raised, and whose words stand as these were before.
 * `places` are the keys of the places of each that may stand.
 */
export async function markRisen(
  changes: readonly Change[],
  things: readonly Thing[],
  places: readonly (readonly Key[])[],
): Promise<readonly Thing[]> {
  const raised = things.flatMap((thing, i) => {
    const before = changes[i]?.isNamed ? undefined : changes[i]?.counts[0];
    if (!before || thing.risen || before.counts.all >= thing.counts.all) return [];
    if (!hasOtherLevel([before], thing)) return [];
    const words = wordsIn({ ...thing, ...before });
    const types = thing.records.map(({ entity_type }) => entity_type);
    return [{ id: thing.id, types, words, places: (places[i] ?? []).filter(isByRating) }];
  });
  if (raised.length === 0) return things;
  const keys = byKey<Key>(raised.flatMap((each) => [...each.words, ...each.places]));
  const standing = await batchGet([...keys.values()], { consistent: true });
  const stands = (word: Item) => isDeepStrictEqual(standing.get(keyString(word)), word);
  const rises = new Map<string, Rise>();
  for (const { id, types, words, places } of raised) {
    const left = byKey(places.filter((place) => standing.has(keyString(place))));
    if (words.every(stands)) rises.set(id, { types, places: [...left.values()] });
  }
  await batchWrite([...rises].map(([id, rise]) => ({ put: markOf(id, rise) })));
  return things.map((each) => ({ ...each, risen: each.risen ?? rises.get(each.id) }));
}

/**
 * Writes what waits of things that have risen, and forgets that they have. Call it every minute.
 * What has changed meanwhile waits for the next call. Reads half a unit if there are none. Returns
 * the entities with reviews among them.
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
    await settleWords([...changes.values()], rises);
    const things = await settleRatings([...changes.values()], rises);
    await Promise.all(things.map(forgetRise));
    settled.push(
      ...things.flatMap(({ records, counts }) =>
        records.filter(({ entity_type }) => counts.types.has(entity_type)),
      ),
    );
  }
  return settled;
}

/**
 * Writes the words of things in the place of those that stand, whatever their level was. Marks the
 * `rises` again first, so that an interruption leaves no unknown types.
 */
export async function settleWords(
  changes: readonly Change[],
  rises: ReadonlyMap<string, Rise | undefined>,
): Promise<void> {
  const things = await readThings(changes);
  const marks = things.flatMap((thing) => {
    const rise = rises.get(thing.id);
    if (!rise) return [];
    const named = thing.records.map(({ entity_type }) => entity_type);
    const types = [...new Set([...rise.types, ...named])];
    return types.length > rise.types.length ? [markOf(thing.id, { ...rise, types })] : [];
  });
  await batchWrite(marks.map((put) => ({ put })));
  const candidates = byKey(things.flatMap((thing, i) => wordsBefore(changes[i] as Change, thing)));
  await settle({
    things,
    standing: await batchGet([...candidates.values()], { consistent: true }),
    entriesOf: (some) => byKey(some.flatMap(wordsIn)),
    readAgain: () => readThings(changes),
  });
}

/** Writes the places by rating that wait, and deletes the former ones. Returns the things. */
async function settleRatings(
  changes: readonly Change[],
  rises: ReadonlyMap<string, Rise | undefined>,
): Promise<readonly Thing[]> {
  const things = await readThings(changes);
  const entriesOf = (some: readonly Thing[]) => byKey(some.flatMap(placesIn).filter(isByRating));
  const former = [...rises.values()].flatMap((rise) => rise?.places ?? []);
  const candidates = byKey<Key>([...entriesOf(things).values(), ...former]);
  return settle({
    things,
    standing: await batchGet([...candidates.values()], { consistent: true }),
    entriesOf,
    readAgain: () => readThings(changes),
  });
}

/**
 * Returns the keys of all words that may stand. Words of a new name stand at no higher level,
 * unless the thing has risen. They stand at a lower one if the record of the name comes again.
 */
function wordsBefore({ records, isNamed }: Change, thing: Thing): Key[] {
  const isNew = isNamed && !thing.risen;
  const words = isNew ? wordsUpTo(thing) : thing.records.flatMap(wordEntriesAtAll);
  return [...words, ...records.flatMap(wordEntriesAtAll)];
}

/** Deletes the mark of a thing, unless it has been counted again since it was read. */
async function forgetRise({ id, version }: Thing): Promise<void> {
  await tryTransact([
    { Delete: { Key: riseKey(id) } },
    { ConditionCheck: { Key: entityKey(id), was: { version } } },
  ]);
}
