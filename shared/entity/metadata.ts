import { setTimeout as sleep } from 'node:timers/promises';
import { authUrl } from '../auth-url.ts';
import { chunks } from '../chunks.ts';
import { describeError } from '../describe-error.ts';
import { pick } from '../pick.ts';
import { batchGet, getItems } from '../table/batch.ts';
import { type Key, keyString } from '../table/item.ts';
import { paceKey } from '../table/keys.ts';
import { packed } from '../table/merge.ts';
import { tryTransact, type Write } from '../table/transact.ts';
import type { Description } from './database-answer.ts';
import { type EntityType, entityTypes, groupOf } from './entity-type.ts';
import { askFor, batchSize, type Provider, pageOf, providerOf } from './metadata-provider.ts';
import { inEpochSeconds, keptBeyond, take } from './pace.ts';
import { pictureOf } from './picture.ts';
import type { Metadata } from './presented.ts';
import {
  type Entity,
  type EntityRecord,
  isByPerson,
  recordIn,
  recordKey,
  recordWrites,
  whereUnnamed,
} from './record.ts';

// Records of entities for pages and answers: stored ones, and those that a database is asked for.

/** Milliseconds that a page waits for all its names, and our own share of them. */
const forPage = 1_000;
const forUs = 100;

/** Milliseconds until a name, a missing name and a failed request are due again. */
const dueAfter = { found: 30 * 86_400_000, missing: 3_600_000, leased: 10_000 };

/** An entity with a name. Pages also know its artists or authors, and its year. */
export interface KnownEntity extends Metadata {
  by?: string | undefined;
  year?: string | undefined;
}

/** Records by `keyString` of their keys. */
type Records = Map<string, EntityRecord>;

/**
 * Returns the metadata of each entity, in their order, within `patience` milliseconds. An entry is
 * null if its name is not stored, and no configured database knows the entity or has answered in
 * time. Takes at most 100 distinct entities. Never throws: a review is worth showing without a
 * name.
 */
export async function findMetadata(
  entities: readonly Entity[],
  patience = forPage,
): Promise<(KnownEntity | null)[]> {
  const wanted = distinct(entities);
  const records: Records = new Map();
  if (wanted.size > 0) {
    const isEnough = new AbortController();
    await Promise.race([
      find(wanted, records, AbortSignal.timeout(patience - forUs)).catch(report),
      sleep(patience, undefined, { signal: isEnough.signal }).catch(() => {}),
    ]);
    isEnough.abort();
  }
  return knownAmong(entities, records);
}

/** Like `findMetadata`, from the table alone: for functions that only read. */
export async function findKeptMetadata(
  entities: readonly Entity[],
): Promise<(KnownEntity | null)[]> {
  const records: Records = new Map();
  await findKept(distinct(entities), records);
  return knownAmong(entities, records);
}

/**
 * Returns the type of which an entity has a name here, if there is one alone. Reads a record of
 * each type, so half a unit for each.
 */
export async function findNamedType(entity_id: string): Promise<EntityType | undefined> {
  const known = await findKeptMetadata(
    entityTypes.map((entity_type) => ({ entity_id, entity_type })),
  );
  const [only, ...others] = known.flatMap((each) => each ?? []);
  return others.length === 0 ? only?.type : undefined;
}

/** Stores records that come with data, for services without a database. Others stay as they are. */
export async function keepRecords(
  entities: readonly (Entity & Description & { url: string })[],
): Promise<void> {
  const items = await getItems(entities.map(recordKey), { consistent: true });
  const written_at = new Date().toISOString();
  await writeRecords(
    entities.flatMap((entity, i) => {
      if (recordIn(entity, items[i])) return [];
      return [recordWrites(undefined, { ...entity, origin: 'operator', written_at })];
    }),
  );
}

function distinct(entities: readonly Entity[]) {
  return new Map(entities.map((entity) => [keyString(recordKey(entity)), entity]));
}

function knownAmong(entities: readonly Entity[], records: Records): (KnownEntity | null)[] {
  return entities.map((entity) => {
    const record = records.get(keyString(recordKey(entity)));
    return record ? knownEntity(record) : null;
  });
}

/** Returns an entity for pages. The page of a thing without one elsewhere is the page here. */
export function knownEntity(record: EntityRecord): KnownEntity {
  const { entity_id: id, entity_type: type, name, about = null } = record;
  const image = pictureOf(type, id) ?? record.image ?? null;
  const provider = providerOf(groupOf(type));
  const elsewhere = provider ? pageOf(provider, type, id) : record.url;
  const url = elsewhere ?? `${authUrl()}/entity/${id}`;
  return { id, type, name, url, about, image, by: record.by, year: record.year };
}

/** Presents an entity as answers have it. */
export function presentMetadata(known: KnownEntity | null): Metadata | null {
  return known && pick(known, ['id', 'type', 'name', 'url', 'about', 'image']);
}

/** Adds records of the table to `records`, then those that are due, as they arrive. */
async function find(wanted: ReadonlyMap<string, Entity>, records: Records, signal: AbortSignal) {
  const requests = requestsFor(await findKept(wanted, records));
  await Promise.all(requests.map((request) => refresh(request, records, signal).catch(report)));
}

/** Adds the records that are in the table to `records`. Returns the entities that are due. */
async function findKept(wanted: ReadonlyMap<string, Entity>, records: Records): Promise<Entity[]> {
  const items = await batchGet([...wanted.values()].map(recordKey));
  const due: Entity[] = [];
  for (const [key, entity] of wanted) {
    const item = items.get(key);
    const record = recordIn(entity, item);
    if (record) records.set(key, record);
    const isDue = Number(item?.due_at ?? 0) <= Date.now();
    if (isDue && !(record && isByPerson(record))) due.push(entity);
  }
  return due;
}

interface Request {
  provider: Provider;
  type: EntityType;
  ids: string[];
}

/** Makes as few requests as the databases let us send, the largest first. */
function requestsFor(entities: readonly Entity[]): Request[] {
  const byType = Map.groupBy(entities, ({ entity_type }) => entity_type);
  const requests = [...byType].flatMap(([type, some]) => {
    const provider = providerOf(groupOf(type));
    if (!provider) return [];
    const ids = some.map(({ entity_id }) => entity_id);
    return chunks(ids, batchSize(provider)).map((ids) => ({ provider, type, ids }));
  });
  const sorted = requests.sort((a, b) => b.ids.length - a.ids.length);
  const firstTo = (type: EntityType) =>
    sorted.find((request) => groupOf(request.type) === groupOf(type));
  // Others than the first would have to wait for longer than the page does.
  return sorted.filter((each) => each.provider.interval === 0 || each === firstTo(each.type));
}

async function refresh({ provider, type, ids }: Request, records: Records, signal: AbortSignal) {
  const pace = { Key: paceKey(groupOf(type)), milliseconds: provider.interval };
  if (pace.milliseconds > 0 && !(await take(pace))) return;
  const keyOf = (id: string) => recordKey({ entity_id: id, entity_type: type });
  const recordOf = (id: string) => records.get(keyString(keyOf(id)));
  const taken = await Promise.all(
    ids.map((id) =>
      take({
        Key: keyOf(id),
        milliseconds: dueAfter.leased,
        isKept: recordOf(id) !== undefined,
      }),
    ),
  );
  const ours = ids.filter((_, i) => taken[i]);
  if (ours.length === 0) return;
  const answer = await askFor(provider, type, ours, signal);
  const now = Date.now();
  const writes = [...answer].map(([id, description]) => {
    const before = recordOf(id);
    if (description === null) return missing(keyOf(id), before, now + dueAfter.missing);
    const record: EntityRecord = {
      entity_id: id,
      entity_type: type,
      ...description,
      url: pageOf(provider, type, id),
      origin: provider.group,
      written_at: new Date(now).toISOString(),
      due_at: now + dueAfter.found,
    };
    records.set(keyString(keyOf(id)), record);
    return recordWrites(before, record);
  });
  await writeRecords(writes);
}

/** An entity that the database does not know, or knows no longer, is due at a time (epoch ms). */
function missing(Key: Key, before: EntityRecord | undefined, due_at: number): Write[] {
  // A name stays, because databases merge entities.
  if (before) return recordWrites(before, { ...before, due_at });
  const set = { name: null, due_at, expires_at: inEpochSeconds(due_at + keptBeyond) };
  return [{ Update: { Key, set, ...whereUnnamed } }];
}

/**
 * Writes records of different entities, and leaves out those that have changed since they were
 * read.
 */
export async function writeRecords(records: readonly Write[][]): Promise<void> {
  for (const together of packed(records.map((writes) => ({ writes })))) {
    const isWritten = await tryTransact(together.flatMap(({ writes }) => writes));
    if (isWritten || together.length === 1) continue;
    await Promise.all(together.map(({ writes }) => tryTransact(writes)));
  }
}

function report(error: unknown): void {
  console.warn({ message: 'No metadata', error: describeError(error) });
}
