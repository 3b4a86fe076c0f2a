import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { chunks } from '../chunks.ts';
import { describeError } from '../describe-error.ts';
import { batchGet, batchWrite } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { metadataKey, paceKey } from '../table/keys.ts';
import { transact } from '../table/transact.ts';
import { type EntityType, groupOf } from './entity-type.ts';
import { askFor, batchSize, type Provider, pageOf, providerOf } from './metadata-provider.ts';
import { epochSeconds, keptBeyond, take } from './pace.ts';
import type { Metadata } from './presented.ts';

// Names and pages of entities: stored ones, and those that a database is asked for.

/** An entity as a review names it. Reviews of one entity may name different types. */
interface Entity {
  entity_id: string;
  entity_type: EntityType;
}

/** Milliseconds that a page waits for all its names, and our own share of them. */
const forPage = 1_000;
const forUs = 100;

/** Milliseconds until a name, a missing name and a failed request are due again. */
const dueAfter = { found: 30 * 86_400_000, missing: 3_600_000, leased: 10_000 };

/** A name, and the page where its database described the entity when the name was stored. */
const StoredName = v.object({ name: v.string(), url: v.optional(v.string()) });
type StoredName = v.InferOutput<typeof StoredName>;

/** Names by `keyString` of their keys: null if the database has none. */
type Names = Map<string, StoredName | null>;

/**
 * Returns the metadata of each entity, in their order, within `patience` milliseconds. An entry is
 * null if its name is not stored, and no configured database knows the entity or has answered in
 * time. Takes at most 100 distinct entities. Never throws: a review is worth showing without a
 * name.
 */
export async function findMetadata(
  entities: readonly Entity[],
  patience = forPage,
): Promise<(Metadata | null)[]> {
  const wanted = distinct(entities);
  const names: Names = new Map();
  if (wanted.size > 0) {
    const isEnough = new AbortController();
    await Promise.race([
      find(wanted, names, AbortSignal.timeout(patience - forUs)).catch(report),
      sleep(patience, undefined, { signal: isEnough.signal }).catch(() => {}),
    ]);
    isEnough.abort();
  }
  return named(entities, names);
}

/** Like `findMetadata`, from the table alone: for functions that only read. */
export async function findKeptMetadata(entities: readonly Entity[]): Promise<(Metadata | null)[]> {
  const names: Names = new Map();
  await findKept(distinct(entities), names);
  return named(entities, names);
}

/** Stores names that come with data, for services without a music or book database. */
export async function keepNames(
  entities: readonly (Entity & { name: string; url: string })[],
): Promise<void> {
  const due_at = Date.now() + dueAfter.found;
  await batchWrite(
    entities.map(({ name, url, ...entity }) => ({ put: { ...keyOf(entity), name, url, due_at } })),
  );
}

function distinct(entities: readonly Entity[]) {
  return new Map(entities.map((entity) => [keyString(keyOf(entity)), entity]));
}

function named(entities: readonly Entity[], names: Names): (Metadata | null)[] {
  return entities.map((entity) => {
    const { entity_id: id, entity_type: type } = entity;
    const provider = providerOf(groupOf(type));
    const stored = names.get(keyString(keyOf(entity)));
    const url = provider ? pageOf(provider, type, id) : stored?.url;
    return stored && url ? { id, type, name: stored.name, url } : null;
  });
}

/** Adds names of the table to `names`, then those that are due, as they arrive. */
async function find(wanted: ReadonlyMap<string, Entity>, names: Names, signal: AbortSignal) {
  const requests = requestsFor(await findKept(wanted, names));
  await Promise.all(requests.map((request) => refresh(request, names, signal).catch(report)));
}

/** Adds the names that are in the table to `names`. Returns the entities that are due. */
async function findKept(wanted: ReadonlyMap<string, Entity>, names: Names): Promise<Entity[]> {
  const items = await batchGet([...wanted.values()].map(keyOf));
  const due: Entity[] = [];
  for (const [key, entity] of wanted) {
    const item = items.get(key);
    const stored = v.safeParse(StoredName, item);
    if (stored.success) names.set(key, stored.output);
    if (Number(item?.due_at ?? 0) <= Date.now()) due.push(entity);
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

async function refresh({ provider, type, ids }: Request, names: Names, signal: AbortSignal) {
  const pace = { Key: paceKey(groupOf(type)), milliseconds: provider.interval };
  if (pace.milliseconds > 0 && !(await take(pace))) return;
  const isNamed = (id: string) => Boolean(names.get(keyString(metadataKey(type, id))));
  const taken = await Promise.all(
    ids.map((id) =>
      take({
        Key: metadataKey(type, id),
        milliseconds: dueAfter.leased,
        isKept: isNamed(id),
      }),
    ),
  );
  const ours = ids.filter((_, i) => taken[i]);
  if (ours.length === 0) return;
  const answer = await askFor(provider, type, ours, signal);
  const now = Date.now();
  const items = [...answer].map(([id, name]) => {
    const Key = metadataKey(type, id);
    if (name === null) {
      names.set(keyString(Key), null);
      const due_at = now + dueAfter.missing;
      return { ...Key, name, due_at, expires_at: epochSeconds(due_at + keptBeyond) };
    }
    const stored = { name, url: pageOf(provider, type, id) };
    names.set(keyString(Key), stored);
    return { ...Key, ...stored, due_at: now + dueAfter.found };
  });
  await transact(items.map((Item) => ({ Put: { Item } })));
}

const keyOf = ({ entity_type, entity_id }: Entity) => metadataKey(entity_type, entity_id);

function report(error: unknown): void {
  console.warn({ message: 'No metadata', error: describeError(error) });
}
