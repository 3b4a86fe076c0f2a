import { isDeepStrictEqual } from 'node:util';
import type { EntityType } from '../entity/entity-type.ts';
import { type EntityRecord, entityOf, recordIn, recordKey } from '../entity/record.ts';
import { pick } from '../pick.ts';
import type { Item, Key } from '../table/item.ts';
import { entityKey } from '../table/keys.ts';
import { entityOfEntry, entriesOf, reviewedIn, type Thing, wordsIn } from '../things/thing.ts';
import type { Difference, Finding } from './finding.ts';
import type { Source } from './source.ts';

// Checks that the lists of things and the index of names say what things and their records say.

/** Finds words of a name that the index of names lacks. */
export async function checkName(pk: string, source: Source): Promise<Finding[]> {
  const entity = entityOf(pk);
  if (!entity) return [];
  const { entity_id, entity_type } = entity;
  const thing = await thingOf(entity_id, [entity_type], source);
  const records = thing.records.filter((record) => record.entity_type === entity_type);
  const links = await Promise.all(records.map((record) => checkLinks(record, source)));
  return [await checkEntries(wordsIn({ ...thing, records }), source), ...links];
}

/** Reads a thing: its counts, and its records of the types of its reviews and of these. */
export async function thingOf(
  id: string,
  types: readonly EntityType[],
  source: Source,
): Promise<Thing> {
  const reviewed = reviewedIn(id, await source.item(entityKey(id)));
  const records: EntityRecord[] = [];
  for (const entity_type of new Set([...types, ...reviewed.counts.types.keys()])) {
    const entity = { entity_id: id, entity_type };
    const record = recordIn(entity, await source.item(recordKey(entity)));
    if (record) records.push(record);
  }
  return { ...reviewed, records };
}

/** Compares the two ends of each link between things that are the same. */
async function checkLinks(record: EntityRecord, source: Source): Promise<Finding> {
  const { entity_type, entity_id, leads_to, led_from = [] } = record;
  const differences: Difference[] = [];
  const expect = (key: Key, attribute: string, isThere: boolean) => {
    if (isThere) return;
    differences.push({
      ...key,
      attribute,
      stored: 'none',
      counted: entity_id,
      isRepairable: false,
    });
  };
  if (leads_to !== undefined) {
    const end = recordKey({ entity_type, entity_id: leads_to });
    const ids = [(await source.item(end))?.led_from].flat();
    expect(end, 'led_from', ids.includes(entity_id));
  }
  for (const id of led_from) {
    const led = recordKey({ entity_type, entity_id: id });
    expect(led, 'leads_to', (await source.item(led))?.leads_to === entity_id);
  }
  return { differences, version: record.version };
}

/** Finds entries of a thing that are missing, or say something else. They may be on their way. */
export async function checkEntries(entries: readonly Item[], source: Source): Promise<Finding> {
  const differences: Difference[] = [];
  for (const entry of entries) {
    const stored = await source.item(entry);
    if (isDeepStrictEqual(stored, entry)) continue;
    const fault = { attribute: 'item', stored: stored ? 'another' : 'none', counted: 'entry' };
    differences.push({ ...pick(entry, ['pk', 'sk']), ...fault, isRepairable: false });
  }
  return { differences, isBehind: true };
}

/** Finds an entry that no thing has. `name` is the key of the entry, as `keyString` formats it. */
export async function checkEntry(name: string, source: Source): Promise<Finding[]> {
  const [pk = '', sk = ''] = name.split('\n');
  const entry = await source.item({ pk, sk });
  const [entity] = entry ? entityOfEntry(entry) : [];
  const thing = entity && (await thingOf(entity.entity_id, [entity.entity_type], source));
  if (!entry || (thing && entriesOf([thing]).has(name))) return [];
  const fault = { pk, sk, attribute: 'item', stored: 'entry', counted: 'none' };
  return [{ differences: [{ ...fault, isRepairable: false }], isBehind: true }];
}
