import type { DynamoDBRecord } from 'aws-lambda';
import { batchGet } from '../../base/table/batch.ts';
import type { Item, Key } from '../../base/table/item.ts';
import { type Change, changesIn } from './changes.ts';
import { listEntries } from './listing.ts';
import { settle } from './settle.ts';
import { markRisen, settleWords } from './settle-risen.ts';
import { byKey, hasOtherLevel, isByRating, placesIn, readThings, type Thing } from './thing.ts';

// Keeps the entries that things are found and listed by. They depend on two items of a thing, whose
// stream records may come to two consumers at once.

/**
 * Follows counts and records of things in stream records. It reads the items as they are now, so
 * repeated and late records change nothing. A publication costs four write units at most, a name
 * ten. Returns the ids of things that have risen, whose words wait for `settleRisen`.
 */
export async function keepThings(records: readonly DynamoDBRecord[]): Promise<Set<string>> {
  const changes = changesIn(records);
  if (changes.length === 0) return new Set();
  const read = await readThings(changes);
  const places = read.map((thing, i) => placesBefore(changes[i] as Change, thing));
  const things = await markRisen(changes, read, places);
  await settlePlaces(changes, things, places.flat());
  // People see a corrected name at once, and no removed one.
  const renamed = changes.filter((change, i) => {
    const thing = things[i] as Thing;
    return change.isNamed || (!thing.risen && hasOtherLevel(change.counts, thing));
  });
  const rises = new Map(things.flatMap(({ id, risen }) => (risen ? [[id, risen] as const] : [])));
  if (renamed.length > 0) await settleWords(renamed, rises);
  return new Set(rises.keys());
}

/** Writes the places of things in lists, but for those that wait. */
async function settlePlaces(
  changes: readonly Change[],
  things: readonly Thing[],
  candidates: readonly Key[],
): Promise<void> {
  const waiting = byKey(
    things.flatMap(({ risen }, i) => (changes[i]?.isNamed ? [] : (risen?.places ?? []))),
  );
  const standing = await batchGet([...byKey(candidates).values()], { consistent: true });
  // Later counts of a thing come in later records. Only its record may have another consumer.
  const counted = new Map(
    things.filter((_, i) => changes[i]?.isNamed === false).map((thing) => [thing.id, thing]),
  );
  await settle({
    things,
    standing: new Map([...standing].filter(([name]) => !waiting.has(name))),
    entriesOf: (some) => byKey(some.flatMap(placesNow)),
    readAgain: () => readThings(changes, counted),
  });
}

/** Returns the places of a thing that do not wait. */
function placesNow(thing: Thing): Item[] {
  const waits = thing.risen?.places.length === 0;
  return placesIn(thing).filter((place) => !(waits && isByRating(place)));
}

/**
 * Returns the keys of all places that may stand: with the counts before each stream record and with
 * those of now, under each type. One image does not tell which place was written, because the write
 * before it may have followed from later counts.
 */
function placesBefore({ counts, isNamed }: Change, thing: Thing): Key[] {
  const reviewed = [...counts, thing].filter(({ counts }) => counts.all > 0);
  const places = reviewed.flatMap((each) =>
    thing.records.flatMap((record) => listEntries(each, record)),
  );
  return isNamed && thing.risen ? [...places, ...thing.risen.places] : places;
}
