import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBRecord } from 'aws-lambda';
import type { EntityRecord } from '../entity/record.ts';
import { batchGet } from '../table/batch.ts';
import type { Item } from '../table/item.ts';
import { type Change, changesIn } from './changes.ts';
import { listEntries } from './listing.ts';
import { settle } from './settle.ts';
import { markRisen, settleSlow } from './settle-risen.ts';
import {
  byKey,
  type Entries,
  entriesOf,
  isSlow,
  placesIn,
  readThings,
  type Thing,
} from './thing.ts';
import { wordEntriesAtAll } from './words.ts';

// Keeps the entries that things are found and listed by. They depend on two items of a thing, whose
// stream records may come to two consumers at once.

/**
 * Follows counts and records of things in stream records. It reads the items as they are now, so
 * repeated and late records change nothing. A publication costs four write units at most, a name
 * ten. Returns the ids of things that have risen, whose slow entries wait for `settleRisen`.
 */
export async function keepThings(records: readonly DynamoDBRecord[]): Promise<Set<string>> {
  const changes = changesIn(records);
  if (changes.length === 0) return new Set();
  const things = await markRisen(changes, await readThings(changes));
  await settle(changes, things, await readStanding(changes, things));
  // People see a corrected name at once, and no removed one.
  const rises = new Map(things.flatMap(({ id, risen }) => (risen ? [[id, risen] as const] : [])));
  const renamed = changes.filter(({ id, isNamed }) => isNamed && rises.has(id));
  if (renamed.length > 0) await settleSlow(renamed, rises);
  return new Set(rises.keys());
}

/**
 * Returns the entries that were there. Mostly the counts alone have changed, so entries follow from
 * the counts before. Of a thing whose record has changed, the entries are read.
 */
async function readStanding(
  changes: readonly Change[],
  things: readonly Thing[],
): Promise<Entries> {
  const left = things.map((thing, i) => entriesBefore(changes[i], thing));
  const uncertain = things.flatMap((thing, i) => {
    const { isNamed, records = [] } = changes[i] ?? {};
    if (!isNamed) return [];
    const words = records.flatMap(wordEntriesAtAll);
    const places = thing.counts.all > 0 ? records.flatMap((each) => listEntries(thing, each)) : [];
    const all = [...(left[i] ?? []), ...words, ...places, ...placesIn(thing)];
    return thing.risen ? all.filter((entry) => !isSlow(entry)) : all;
  });
  const read = await batchGet([...byKey(uncertain).values()], { consistent: true });
  const certain = left.filter((_, i) => !changes[i]?.isNamed).flat();
  return new Map([...byKey(certain), ...read]);
}

/**
 * Returns the entries of a thing with the counts before. Those that not all of these counts have
 * may be there or not, and equal no entry. A name that is not to be found may have been until just
 * now, so places that its thing has left are among them.
 */
function entriesBefore(change: Change | undefined, thing: Thing): Item[] {
  const shown = { ...thing, records: thing.records.map(asFindable) };
  const now = entriesOf([shown]);
  const counts = change?.counts ?? [];
  const images = counts.map((each) => entriesOf([{ ...thing, ...each }]));
  const left = counts.flatMap((each) =>
    [...entriesOf([{ ...shown, ...each }])].filter(([name]) => !now.has(name)),
  );
  return [...new Map([...left, ...images.flatMap((image) => [...image])])].map(([name, item]) => {
    const isCertain = images.every((image) => isDeepStrictEqual(image.get(name), item));
    return isCertain ? item : { pk: item.pk, sk: item.sk, isDoubtful: true };
  });
}

const asFindable = (record: EntityRecord): EntityRecord => ({
  ...record,
  state: undefined,
  leads_to: undefined,
});
