import { isDeepStrictEqual } from 'node:util';
import { pick } from '../../base/pick.ts';
import type { Item, Key } from '../../base/table/item.ts';
import type { Write } from '../../base/table/transact.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import {
  type Entity,
  type EntityRecord,
  entityOf,
  recordIn,
  recordKey,
} from '../../core/entity/record.ts';
import { entityKey } from '../../core/keys.ts';
import {
  entityOfEntry,
  entriesOf,
  reviewedIn,
  riseKey,
  type Thing,
  wordsIn,
} from '../things/public.ts';
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
  return [await checkEntries(wordsIn({ ...thing, records }), thing, source), ...links];
}

/** A thing, and the entities whose records were looked for. */
interface ThingAsRead extends Thing {
  read: readonly { entity: Entity; record: EntityRecord | undefined }[];
}

/** Reads a thing: its counts, and its records of the types of its reviews and of these. */
export async function thingOf(
  id: string,
  types: readonly EntityType[],
  source: Source,
): Promise<ThingAsRead> {
  const reviewed = reviewedIn(id, await source.item(entityKey(id)));
  const read: { entity: Entity; record: EntityRecord | undefined }[] = [];
  for (const entity_type of new Set([...types, ...reviewed.counts.types.keys()])) {
    const entity = { entity_id: id, entity_type };
    const record = recordIn(entity, await source.item(recordKey(entity)));
    read.push({ entity, record });
  }
  return { ...reviewed, records: read.flatMap(({ record }) => record ?? []), read };
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

/**
 * Finds entries of a thing that are missing, or say something else. They may be on their way. The
 * repair writes them. Entries of a thing that has risen wait for the job of the minute.
 */
export async function checkEntries(
  entries: readonly Item[],
  thing: ThingAsRead,
  source: Source,
): Promise<Finding> {
  const differences: Difference[] = [];
  const repair: Write[] = [];
  if (await source.item(riseKey(thing.id))) return { differences };
  for (const entry of entries) {
    const stored = await source.item(entry);
    if (isDeepStrictEqual(stored, entry)) continue;
    const fault = { attribute: 'item', stored: stored ? 'another' : 'none', counted: 'entry' };
    differences.push({ ...pick(entry, ['pk', 'sk']), ...fault, isRepairable: true });
    repair.push({ Put: { Item: entry } });
  }
  return { differences, repair: [...repair, ...unchanged(thing)], isBehind: true };
}

/**
 * Finds an entry that no thing has, and deletes it on repair. `name` is the key of the entry, as
 * `keyString` formats it. An entry of a type that this service does not have stays.
 */
export async function checkEntry(name: string, source: Source): Promise<Finding[]> {
  const [pk = '', sk = ''] = name.split('\n');
  const entry = await source.item({ pk, sk });
  const [entity] = entry ? entityOfEntry(entry) : [];
  const thing = entity && (await thingOf(entity.entity_id, [entity.entity_type], source));
  if (!entry || (thing && entriesOf([thing]).has(name))) return [];
  if (thing && (await source.item(riseKey(thing.id)))) return [];
  const isRepairable = thing !== undefined;
  const fault = { pk, sk, attribute: 'item', stored: 'entry', counted: 'none', isRepairable };
  const repair: Write[] = [{ Delete: { Key: { pk, sk } } }, ...(thing ? unchanged(thing) : [])];
  return [{ differences: [fault], repair: thing && repair, isBehind: true }];
}

/** Conditions that the items of a thing are as they were read, and that no words of it wait. */
function unchanged({ id, version, read }: ThingAsRead): Write[] {
  return [
    { ConditionCheck: { Key: entityKey(id), was: { version } } },
    { ConditionCheck: { Key: riseKey(id), was: { pk: undefined } } },
    ...read.map(({ entity, record }): Write => {
      const was = { version: record?.version };
      return { ConditionCheck: { Key: recordKey(entity), was } };
    }),
  ];
}
