import { batchGet } from '../../base/table/batch.ts';
import { type Item, type Key, keyString } from '../../base/table/item.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import {
  type Entity,
  type EntityRecord,
  entityOf,
  recordIn,
  recordKey,
} from '../../core/entity/record.ts';
import { hasFindableName, isFindable } from '../../core/entity/state.ts';
import { entityKey, metadataKey } from '../../core/keys.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { thingKey } from './kinds.ts';
import { listEntries, listedRecord, type Reviewed } from './listing.ts';
import { type Rise, riseIn, riseKey } from './rise.ts';
import { levelOf, levels, wordEntries } from './words.ts';

// A thing as its two items tell: the counts of an entity, and its record. Its entries follow.

/** A reviewed or named entity. */
export interface Thing extends Reviewed {
  /** Its records with a name, of any type, also those that are not to be found. */
  records: readonly EntityRecord[];
  /** Set while its words, or a place by rating, wait. */
  risen?: Rise;
}

/** A thing to read: its id, and types beside those of its reviews. */
interface ThingKey {
  id: string;
  types: ReadonlySet<EntityType>;
}

/** Entries by their key. */
export type Entries = Map<string, Item>;

/** Reads the counts of an entity from its item. Without an item there are none. */
export function reviewedIn(id: string, item: Readonly<Record<string, unknown>> = {}): Reviewed {
  const { first_on, version } = item;
  return {
    id,
    counts: countsIn(item),
    ...(typeof first_on === 'string' && { first_on }),
    ...(version !== undefined && { version: Number(version) }),
  };
}

/**
 * Reads things, strongly consistent: their counts, unless they are `counted`, then the records of
 * the types that they have, and whether those with a name have risen.
 */
export async function readThings(
  keys: readonly ThingKey[],
  counted: ReadonlyMap<string, Reviewed> = new Map(),
): Promise<Thing[]> {
  const uncounted = keys.filter(({ id }) => !counted.has(id)).map(({ id }) => entityKey(id));
  const owners = await batchGet(uncounted, { consistent: true });
  const reviewed = keys.map(
    ({ id }) => counted.get(id) ?? reviewedIn(id, owners.get(keyString(entityKey(id)))),
  );
  const entities = keys.map(({ id, types }, i) =>
    [...new Set([...types, ...(reviewed[i]?.counts.types.keys() ?? [])])].map((entity_type) => ({
      entity_id: id,
      entity_type,
    })),
  );
  const items = await batchGet(entities.flat().map(recordKey), { consistent: true });
  const records = entities.map((some) =>
    some.flatMap((entity) => recordIn(entity, items.get(keyString(recordKey(entity)))) ?? []),
  );
  const named = keys.filter((_, i) => (records[i] ?? []).length > 0).map(({ id }) => riseKey(id));
  const marks = await batchGet(named, { consistent: true });
  return reviewed.map((each, i) => ({
    ...each,
    records: records[i] ?? [],
    risen: riseIn(marks.get(keyString(riseKey(each.id)))),
  }));
}

/** Returns the entries that a thing is found by. */
export function wordsIn(thing: Thing): Item[] {
  return thing.records
    .filter(hasFindableName)
    .flatMap((record) => wordEntries(record, levelIn(thing, record.entity_type)));
}

/** Returns the entries that a thing is found by, and those at lower levels. */
export function wordsUpTo(thing: Thing): Item[] {
  return thing.records.filter(hasFindableName).flatMap((record) => {
    const current = levelIn(thing, record.entity_type);
    return levels
      .filter((level) => level <= current)
      .flatMap((level) => wordEntries(record, level));
  });
}

/** Returns the entries that a thing is listed by. */
export function placesIn(thing: Thing): Item[] {
  const record = listedRecord(thing, thing.records.filter(isFindable));
  return record ? listEntries(thing, record) : [];
}

/** Returns true for a place by rating, which may wait where a thing has risen. */
export function isByRating({ pk }: Pick<Key, 'pk'>): boolean {
  return pk.startsWith(thingKey('rating', '').pk);
}

/** Returns all entries of things. */
export function entriesOf(things: readonly Thing[]): Entries {
  return byKey(things.flatMap((thing) => [...wordsIn(thing), ...placesIn(thing)]));
}

/** Returns true if a name of a thing had another level with any of these counts. */
export function hasOtherLevel(before: readonly Reviewed[], thing: Thing): boolean {
  return thing.records.some(({ entity_type }) =>
    before.some((each) => levelIn(each, entity_type) !== levelIn(thing, entity_type)),
  );
}

const levelIn = ({ counts }: Reviewed, type: EntityType) => levelOf(counts.types.get(type) ?? 0);

/** Returns items by their key. Of two with one key, the later stays. */
export function byKey<T extends Key>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [keyString(item), item]));
}

/** Returns true for an item that a thing is found or listed by. */
export function isEntry({ pk }: Pick<Key, 'pk'>): boolean {
  return /^(WORD|THINGS)#/.test(pk);
}

/** Returns the entity of an entry, none if this service does not have its type. */
export function entityOfEntry({ pk, sk, entity_type }: Item): Entity[] {
  const [before = '', id = ''] = sk.split('#').slice(-2);
  const [, , type = entity_type] = pk.split('#');
  const entity = entityOf(metadataKey(pk.startsWith('WORD#') ? before : `${type}`, id).pk);
  return entity ? [entity] : [];
}
