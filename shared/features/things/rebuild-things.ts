import { lastRunKey, recordRun } from '../../base/background/last-run.ts';
import { chunks } from '../../base/chunks.ts';
import { type Item, idIn, keyString } from '../../base/table/item.ts';
import { collect, getItem, type Progress, queryIndex, scanItems } from '../../base/table/query.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { type Entity, entityOf, recordKey, recordSort } from '../../core/entity/record.ts';
import { entityKey } from '../../core/keys.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { type Change, changeOf } from './changes.ts';
import { marksKey } from './rise.ts';
import { settle } from './settle.ts';
import { settleRisen } from './settle-risen.ts';
import {
  byKey,
  entityOfEntry,
  entriesOf,
  isEntry,
  placesIn,
  readThings,
  reviewedIn,
  wordsIn,
} from './thing.ts';

/**
 * Writes the entries of all things by one scan, after a bulk import or an upgrade, and deletes
 * those that belong to none. Returns the number of names.
 */
export async function rebuildThings(onProgress?: Progress): Promise<number> {
  let names = 0;
  await settleRisen();
  for await (const { items } of scanItems({ onProgress })) {
    for (const some of chunks(items.filter(isOfThing), 100)) names += await rebuildSome(some);
  }
  await recordRun('thing-entries');
  return names;
}

/** Builds the entries if that has never been done with rows as they are now. */
export async function buildThings(): Promise<void> {
  if ((await getItem(lastRunKey('thing-entries'))) === undefined) await rebuildThings();
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
  // A thing that rises meanwhile has a mark, and the next minute writes its entries.
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
  await settle({
    things,
    standing: new Map([...others, ...byKey(entries.filter((each) => !isOfRisen(each)))]),
    entriesOf,
    readAgain: () => readThings(all),
  });
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
