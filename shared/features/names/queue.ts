import type { DynamoDBRecord } from 'aws-lambda';
import { chunks } from '../../base/chunks.ts';
import { getItems } from '../../base/table/batch.ts';
import { type Item, idIn, keyString } from '../../base/table/item.ts';
import { collect, queryIndex, scanItems } from '../../base/table/query.ts';
import { retryStale, StaleRead, tryTransact, tryUpdate } from '../../base/table/transact.ts';
import { epochSeconds } from '../../base/time.ts';
import type { Database } from '../../core/entity/databases.ts';
import { type EntityType, isOwnType } from '../../core/entity/entity-type.ts';
import { providers } from '../../core/entity/metadata-provider.ts';
import {
  type Entity,
  entityOf,
  indexesOf,
  isSettled,
  queuedIn,
  queueOf,
  recordIn,
  recordKey,
} from '../../core/entity/record.ts';
import { entityKey, reviewKey } from '../../core/keys.ts';
import { countsIn } from '../../core/review/owner-counts.ts';

// The queue of each database: entities with public reviews that it is to be asked for, the longest
// due first. An entity without a name waits in an item in the place of its record.

/** Entities that are read of a queue at once: as many as one request asks for. */
const mostAtOnce = 100;

const day = 86_400_000;

/**
 * Milliseconds until an entity is due again, at least. A failed request is repeated soon. The name
 * of an entity that its database no longer knows stays.
 */
const pauses = { failed: 60_000, unknown: 3_600_000, 'looked-up': 3_600_000, named: day };

/**
 * Milliseconds until an entity is due again, at most. An entity waits as long again as it has
 * waited so far, so unknown ones soon cost nothing and hold up no others.
 */
const longestPause = 30 * day;

/** An entity that is due, with its item. */
export interface Due {
  entity: Entity;
  item: Item;
}

/** Returns the entities of the reviews that become public in stream records. */
export function publishedIn(records: readonly DynamoDBRecord[]): Entity[] {
  return records.flatMap(({ dynamodb: { Keys, OldImage, NewImage } = {} }) => {
    const isPublished = NewImage?.all !== undefined && OldImage?.all === undefined;
    if (Keys?.sk?.S !== reviewKey('').sk || !isPublished) return [];
    const entity_type = `${NewImage.entity_type?.S}` as EntityType;
    return [{ entity_id: `${NewImage.entity_id?.S}`, entity_type }];
  });
}

/**
 * Puts entities with public reviews into the queues, but for those that are in one, whose names are
 * settled, or that no database knows. Reads a unit and writes two for each that is new.
 */
export async function queueEntities(entities: readonly Entity[]): Promise<void> {
  const distinct = new Map(entities.map((entity) => [keyString(recordKey(entity)), entity]));
  const known = [...distinct.values()].filter(({ entity_type }) => !isOwnType(entity_type));
  for (const some of chunks(known, mostAtOnce)) {
    await retryStale(async () => {
      const items = await getItems(some.map(recordKey), { consistent: true });
      const queued = await Promise.all(some.map((entity, i) => queue(entity, items[i])));
      if (queued.includes(false)) throw new StaleRead();
    });
  }
}

/** Returns false if the item has changed since it was read. */
async function queue(entity: Entity, item: Item | undefined): Promise<boolean> {
  const record = recordIn(entity, item);
  if (item?.all !== undefined || (record && isSettled(record))) return true;
  const now = Date.now();
  const due_at = record?.due_at ?? now;
  return tryUpdate({
    Key: recordKey(entity),
    set: {
      due_at,
      ...queuedIn(entity, { due_at }),
      ...(!record && { queued_at: now }),
      expires_at: undefined,
    },
    was: { all: undefined, version: item?.version },
  });
}

/** Puts all entities with public reviews into the queues by one scan, after a bulk import. */
export async function rebuildQueues(): Promise<void> {
  for await (const { items } of scanItems()) {
    const counted = items.filter(({ sk }) => sk === entityKey('').sk);
    await queueEntities(
      counted.flatMap((item) =>
        [...countsIn(item).types.keys()].map((entity_type) => ({
          entity_id: idIn(item),
          entity_type,
        })),
      ),
    );
  }
}

/**
 * Returns the time (ISO 8601) since when the longest due entity waits for a database, or undefined
 * if none waits. Reads half a unit for each database that can be asked.
 */
export async function waitingSince(): Promise<string | undefined> {
  const first = await Promise.all(providers().map(({ group }) => collect(entriesDue(group, 1), 1)));
  const times = first.flat().map(({ date = '' }) => date.slice(0, date.indexOf('#')));
  return times.sort()[0];
}

function entriesDue(group: Database, pageSize: number) {
  const range = { high: `${new Date().toISOString()}#~` };
  return queryIndex('all-by-date', queueOf(group), { range, pageSize });
}

/**
 * Reads the longest due entities of a queue, half a unit if there is none. Takes those out of it
 * that have lost their public reviews. Returns true in `isEmpty` if there was neither.
 */
export async function readDue(group: Database): Promise<{ due: Due[]; isEmpty: boolean }> {
  const entries = await collect(entriesDue(group, mostAtOnce), mostAtOnce);
  const entities = entries.flatMap(({ pk }) => entityOf(pk) ?? []);
  const [items, owners] = await Promise.all([
    getItems(entities.map(recordKey), { consistent: true }),
    readOwners(entities),
  ]);
  const now = Date.now();
  const queued = entities.flatMap((entity, i): Due[] => {
    const item = items[i];
    // The index may be behind.
    return item?.all !== undefined && Number(item.due_at) <= now ? [{ entity, item }] : [];
  });
  const isReviewed = ({ entity: { entity_id, entity_type } }: Due) =>
    countsIn(owners.get(entity_id)).types.has(entity_type);
  const unreviewed = queued.filter((each) => !isReviewed(each));
  await Promise.all(unreviewed.map((each) => leave(each, owners.get(each.entity.entity_id))));
  return { due: queued.filter(isReviewed), isEmpty: queued.length === 0 };
}

/** Reads the counts of the entities, by id: several may be one id of different types. */
async function readOwners(entities: readonly Entity[]): Promise<Map<string, Item | undefined>> {
  const ids = [...new Set(entities.map(({ entity_id }) => entity_id))];
  const items = await getItems(ids.map(entityKey), { consistent: true });
  return new Map(ids.map((id, i) => [id, items[i]]));
}

/**
 * Takes an entity out of its queue, unless somebody reviews it meanwhile. A name stays, and an item
 * without a name expires.
 */
async function leave({ entity, item }: Due, owner: Item | undefined): Promise<void> {
  const record = recordIn(entity, item);
  const set = record
    ? { due_at: undefined, ...indexesOf({ ...record, due_at: undefined }) }
    : { due_at: undefined, ...queuedIn(entity, {}), expires_at: epochSeconds() };
  const isUnreviewed = owner ? { version: owner.version } : { pk: undefined };
  await tryTransact([
    { Update: { Key: recordKey(entity), set, was: stateOf(item) } },
    { ConditionCheck: { Key: entityKey(entity.entity_id), was: isUnreviewed } },
  ]);
}

/**
 * Makes an entity due again later, because its database failed, or does not know it. One that is
 * unknown by its id as well is not looked up again. Returns it as it then is.
 */
export async function postpone(
  { entity, item }: Due,
  why: 'failed' | 'unknown' | 'looked-up',
): Promise<Due> {
  const now = Date.now();
  const isNamed = recordIn(entity, item) !== undefined;
  const waited = isNamed ? pauses.named : now - Number(item.queued_at ?? now);
  const pause = Math.min(longestPause, Math.max(pauses[why], waited));
  // At random, so that one entity that makes its requests fail meets others each time.
  const due_at = now + Math.ceil(pause * (1 + Math.random()));
  const looked_up = why === 'looked-up' || item.looked_up === true || undefined;
  const set = { due_at, ...queuedIn(entity, { due_at }), looked_up };
  await tryUpdate({ Key: recordKey(entity), set, was: stateOf(item) });
  return { entity, item: { ...item, due_at, looked_up } };
}

const stateOf = ({ due_at, version }: Item) => ({ due_at, version });
