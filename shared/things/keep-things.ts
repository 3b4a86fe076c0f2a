import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { recordRun } from '../background/last-run.ts';
import { chunks } from '../chunks.ts';
import type { EntityType } from '../entity/entity-type.ts';
import {
  type Entity,
  type EntityRecord,
  entityOf,
  recordIn,
  recordKey,
  recordSort,
} from '../entity/record.ts';
import { TableBusy } from '../errors.ts';
import { pick } from '../pick.ts';
import { countsIn } from '../review/owner-counts.ts';
import { batchGet, batchWrite } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { entityKey, idIn, lastRunKey } from '../table/keys.ts';
import { collect, getItem, queryIndex, queryItems, scanItems } from '../table/query.ts';
import { tryTransact, tryUpdate } from '../table/transact.ts';
import { listEntries, type Reviewed } from './listing.ts';
import { idOfMark, markOf, marksKey, type Rise, riseIn, riseKey } from './rise.ts';
import {
  byKey,
  type Entries,
  entityOfEntry,
  entriesOf,
  isEntry,
  isSlow,
  placesIn,
  ratingOf,
  readThings,
  reviewedIn,
  slowEntriesOf,
  type Thing,
  wordsIn,
} from './thing.ts';
import { levels, wordEntries } from './words.ts';

// Keeps the entries that things are found and listed by. They depend on two items of a thing, whose
// stream records may come to two consumers at once.

/** A thing in stream records, with the items that were there before. */
interface Change {
  id: string;
  /** Types of the changed records, and of the reviews before. */
  types: Set<EntityType>;
  counts: Reviewed[];
  records: EntityRecord[];
  /** True if a record has changed, also one that had no name before. */
  isNamed: boolean;
}

/** Times that entries are written because their items have changed meanwhile. */
const mostRounds = 10;

/**
 * Things that have risen, in one run: four times what a large community publishes in its busiest
 * minute. Each takes 14 writes, so a run takes seconds. Those left over wait a minute more.
 */
const mostRisen = 500;

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

/** Marks the things that counts alone have raised, and whose words stand as these were before. */
async function markRisen(
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

function riseOf(thing: Thing): Rise {
  return { types: thing.records.map(({ entity_type }) => entity_type), places: ratingOf(thing) };
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
async function settleSlow(
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
  const words = records.flatMap((record) => levels.flatMap((level) => wordEntries(record, level)));
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

/** Writes the entries of things in the place of those before. */
async function settle(
  changes: readonly Change[],
  things: readonly Thing[],
  before: Entries,
): Promise<void> {
  // Later counts of a thing come in later records. Only its record may have another consumer.
  const counted = new Map(
    things.filter((_, i) => changes[i]?.isNamed === false).map((thing) => [thing.id, thing]),
  );
  await settleEntries(things, before, entriesOf, () => readThings(changes, counted));
}

/**
 * Writes entries in the place of those before. Reads the things again, until nothing has changed
 * since: another consumer may have written an entry that was old by then.
 */
async function settleEntries(
  read: readonly Thing[],
  before: Entries,
  entries: (things: readonly Thing[]) => Entries,
  readAgain: () => Promise<Thing[]>,
): Promise<void> {
  let things = read;
  let standing = before;
  for (let round = 0; round < mostRounds; round++) {
    const after = entries(things);
    const writes = differences(standing, after);
    if (writes.length === 0) return;
    await batchWrite(writes);
    standing = after;
    things = await readAgain();
  }
  throw new TableBusy();
}

function differences(before: Entries, after: Entries) {
  const isNew = ([name, item]: [string, Item]) => !isDeepStrictEqual(before.get(name), item);
  const deleted = [...before].filter(([name]) => !after.has(name));
  return [
    ...Array.from(after)
      .filter(isNew)
      .map(([, put]) => ({ put })),
    ...deleted.map(([, { pk, sk }]) => ({ delete: { pk, sk } })),
  ];
}

/** Returns the changes of things in stream records, by thing. */
function changesIn(records: readonly DynamoDBRecord[]): Change[] {
  const changes = new Map<string, Change>();
  for (const { dynamodb: { Keys, OldImage, NewImage } = {} } of records) {
    const pk = `${Keys?.pk?.S}`;
    if (Keys?.sk?.S === entityKey('').sk) {
      const id = idIn({ pk });
      const before = reviewedIn(id, plain(OldImage));
      const change = changeOf(changes, id);
      change.counts.push(before);
      for (const type of before.counts.types.keys()) change.types.add(type);
    }
    const entity = Keys?.sk?.S === recordSort ? entityOf(pk) : undefined;
    if (!entity) continue;
    const before = recordIn(entity, plain(OldImage));
    const after = recordIn(entity, plain(NewImage));
    // Most writes of a record only say when it is due.
    if (isDeepStrictEqual(before && shownOf(before), after && shownOf(after))) continue;
    const change = changeOf(changes, entity.entity_id);
    change.isNamed = true;
    change.types.add(entity.entity_type);
    if (before) change.records.push(before);
  }
  return [...changes.values()];
}

function changeOf(changes: Map<string, Change>, id: string): Change {
  const existing = changes.get(id);
  if (existing) return existing;
  const change: Change = { id, types: new Set(), counts: [], records: [], isNamed: false };
  changes.set(id, change);
  return change;
}

/** The fields that entries depend on. */
function shownOf(record: EntityRecord) {
  return pick(record, [
    'name',
    'about',
    'url',
    'image',
    'origin',
    'user_id',
    'state',
    'leads_to',
    'expires_at',
  ]);
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
    const words = records.flatMap((record) =>
      levels.flatMap((level) => wordEntries(record, level)),
    );
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

/**
 * Writes the entries of all things by one scan, after a bulk import or an upgrade, and deletes
 * those that belong to none. Returns the number of names.
 */
export async function rebuildThings(
  onProgress: (items: number) => void = () => {},
): Promise<number> {
  let read = 0;
  let names = 0;
  await settleRisen();
  for await (const { items } of scanItems()) {
    for (const some of chunks(items.filter(isOfThing), 100)) names += await rebuildSome(some);
    read += items.length;
    onProgress(read);
  }
  await recordRun('thing-rows');
  return names;
}

/** Builds the entries if that has never been done with rows as they are now. */
export async function buildThings(): Promise<void> {
  if ((await getItem(lastRunKey('thing-rows'))) === undefined) await rebuildThings();
}

const isOfThing = (item: Item) =>
  isEntityItem(item) ||
  (isEntry(item) && item.pk !== marksKey.pk) ||
  recordedIn(item) !== undefined;
const isEntityItem = ({ sk }: Item) => sk === entityKey('').sk;

/** Returns the entity whose record with a name the item is. */
function recordedIn({ pk, sk, name }: Item): Entity | undefined {
  return sk === recordSort && typeof name === 'string' ? entityOf(pk) : undefined;
}

/** Writes the words of records, and the places of counted entities. Corrects the entries. */
async function rebuildSome(items: readonly Item[]): Promise<number> {
  const counted = items.filter(isEntityItem);
  const named = items.flatMap((item) => recordedIn(item) ?? []);
  const entries = items.filter(isEntry);
  await Promise.all(counted.map(dateFirst));
  const changes = new Map<string, Change>();
  for (const { pk } of counted) changeOf(changes, idIn({ pk })).isNamed = true;
  for (const { entity_id, entity_type } of [...named, ...entries.flatMap(entityOfEntry)]) {
    const change = changeOf(changes, entity_id);
    change.isNamed = true;
    change.types.add(entity_type);
  }
  // What rises meanwhile is settled as any other thing that has risen.
  const risen = (await readThings([...changes.values()])).filter((thing) => thing.risen);
  for (const { id } of risen) changes.delete(id);
  const all = [...changes.values()];
  const things = await readThings(all);
  const isCounted = new Set(counted.map(idIn));
  const isNamed = new Set(named.map((entity) => keyString(recordKey(entity))));
  const due = things.flatMap((thing) => {
    const records = thing.records.filter((record) => isNamed.has(keyString(recordKey(record))));
    return [...wordsIn({ ...thing, records }), ...(isCounted.has(thing.id) ? placesIn(thing) : [])];
  });
  const isDue = byKey(due);
  // Other entries of these things are written where the scan meets their items.
  const others = [...entriesOf(things)].filter(([name]) => !isDue.has(name));
  const isOfRisen = (entry: Item) => risen.some(({ id }) => entry.sk.endsWith(id));
  await settle(
    all,
    things,
    new Map([...others, ...byKey(entries.filter((each) => !isOfRisen(each)))]),
  );
  return named.length;
}

/**
 * Dates the first review of an entity that older code or a bulk import has counted. An import into
 * a service in use has dated the first one that it met.
 */
async function dateFirst(item: Item): Promise<void> {
  const id = idIn(item);
  if (countsIn(item).all === 0) return;
  const [first] = await collect(queryIndex('entity-by-date', id, { pageSize: 1 }), 1);
  const [first_on] = first?.date?.split('#') ?? [];
  const before = reviewedIn(id, item).first_on;
  if (first_on === undefined || (before !== undefined && before <= first_on)) return;
  await tryUpdate({ Key: entityKey(id), set: { first_on }, was: { first_on: before } });
}

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

/** Returns an image of the stream as an item, without what no record or count has. */
function plain(image: Image): Item | undefined {
  return image && (contentOf({ M: image }) as Item);
}

function contentOf({ S, N, L, M }: AttributeValue): unknown {
  if (L) return L.map(contentOf);
  if (!M) return N === undefined ? S : Number(N);
  return Object.fromEntries(Object.entries(M).map(([name, value]) => [name, contentOf(value)]));
}
