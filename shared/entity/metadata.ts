import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../describe-error.ts';
import { batchGet } from '../table/batch.ts';
import { type Key, keyString } from '../table/item.ts';
import { metadataKey, paceKey } from '../table/keys.ts';
import { transact, tryTransact } from '../table/transact.ts';
import { type EntityGroup, type EntityType, groupOf } from './entity-type.ts';
import { askFor, batchSize, type Provider, pageOf, providerOf } from './metadata-provider.ts';
import type { Metadata } from './presented.ts';

/**
 * An entity as a review names it. Reviews of one entity may name different types, so each type is
 * looked up.
 */
interface Entity {
  entity_id: string;
  entity_type: EntityType;
}

/** Milliseconds that a page waits for all its names, and our own share of them. */
const forPage = 1_000;
const forUs = 100;

/**
 * Milliseconds until a name is due again, until a missing name is, and until a failed request is
 * repeated.
 */
const good = { found: 30 * 86_400_000, missing: 3_600_000, leased: 10_000 };

/** Milliseconds that a due name stays in the table while its database is down. */
const keptBeyond = 30 * 86_400_000;

/** Names by `keyString` of their keys: null if the database has none. */
type Names = Map<string, string | null>;

/**
 * Returns the metadata of each entity, in their order, within `patience` milliseconds. An entry is
 * null if no database is configured, does not know the entity, or has not answered in time. Names
 * stay in the table while their database is down. Takes at most 100 distinct entities. Never
 * throws: a review is worth showing without a name.
 */
export async function findMetadata(
  entities: readonly Entity[],
  patience = forPage,
): Promise<(Metadata | null)[]> {
  const wanted = namedElsewhere(entities);
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
  await findKept(namedElsewhere(entities), names);
  return named(entities, names);
}

/** The distinct entities of which a database is configured. */
function namedElsewhere(entities: readonly Entity[]): Map<string, Entity> {
  return new Map(
    entities.flatMap((entity): [string, Entity][] =>
      providerOf(groupOf(entity.entity_type)) ? [[keyString(keyOf(entity)), entity]] : [],
    ),
  );
}

function named(entities: readonly Entity[], names: Names): (Metadata | null)[] {
  return entities.map((entity) => {
    const { entity_id: id, entity_type: type } = entity;
    const provider = providerOf(groupOf(type));
    const name = names.get(keyString(keyOf(entity)));
    return provider && name ? { id, type, name, url: pageOf(provider, type, id) } : null;
  });
}

/**
 * Reads names from the table, then requests those that are due. Adds each to `names` as it arrives.
 */
async function find(
  wanted: ReadonlyMap<string, Entity>,
  names: Names,
  signal: AbortSignal,
): Promise<void> {
  const due = await findKept(wanted, names);
  await Promise.all(
    requestsFor(due).map((request) => refresh(request, names, signal).catch(report)),
  );
}

/** Puts the names that are in the table into `names`. Gives the entities that are due. */
async function findKept(wanted: ReadonlyMap<string, Entity>, names: Names): Promise<Entity[]> {
  const items = await batchGet([...wanted.values()].map(keyOf));
  const due: Entity[] = [];
  for (const [key, entity] of wanted) {
    const item = items.get(key);
    if (typeof item?.name === 'string') names.set(key, item.name);
    if (Number(item?.due_at ?? 0) <= Date.now()) due.push(entity);
  }
  return due;
}

/** A request to a database. */
interface Request {
  group: EntityGroup;
  provider: Provider;
  type: EntityType;
  ids: string[];
}

/** As few requests as the databases let us send, the largest first. */
function requestsFor(entities: readonly Entity[]): Request[] {
  const requests: Request[] = [];
  for (const { entity_type: type, entity_id } of entities) {
    const group = groupOf(type);
    const provider = providerOf(group);
    if (!provider) continue;
    const open = requests.find(
      (request) => request.type === type && request.ids.length < batchSize(provider),
    );
    if (open) open.ids.push(entity_id);
    else requests.push({ group, provider, type, ids: [entity_id] });
  }
  const sent = new Map<EntityGroup, number>();
  return requests
    .sort((a, b) => b.ids.length - a.ids.length)
    .filter(({ group, provider }) => {
      sent.set(group, 1 + (sent.get(group) ?? 0));
      // The others would have to wait for longer than the page does.
      return provider.interval === 0 || sent.get(group) === 1;
    });
}

async function refresh(
  { group, provider, type, ids }: Request,
  names: Names,
  signal: AbortSignal,
): Promise<void> {
  if (provider.interval > 0 && !(await take(paceKey(group), provider.interval))) return;
  const taken = await Promise.all(ids.map((id) => take(metadataKey(type, id), good.leased)));
  const ours = ids.filter((_, i) => taken[i]);
  if (ours.length === 0) return;
  const found = await askFor(provider, type, ours, signal);
  const now = Date.now();
  const kept = [...found].map(([id, name]) => {
    names.set(keyString(metadataKey(type, id)), name);
    const due_at = now + (name === null ? good.missing : good.found);
    return { ...metadataKey(type, id), name, due_at, expires_at: seconds(due_at + keptBeyond) };
  });
  await transact(kept.map((Item) => ({ Put: { Item } })));
}

/**
 * Makes a due item due again in some milliseconds. Returns true for one of all concurrent callers.
 */
async function take(Key: Key, milliseconds: number): Promise<boolean> {
  const now = Date.now();
  return tryTransact([
    {
      Update: {
        Key,
        UpdateExpression: 'SET due_at = :later, expires_at = if_not_exists(expires_at, :end)',
        ConditionExpression: 'attribute_not_exists(due_at) OR due_at <= :now',
        ExpressionAttributeValues: {
          ':now': now,
          ':later': now + milliseconds,
          ':end': seconds(now + keptBeyond),
        },
      },
    },
  ]);
}

function keyOf({ entity_type, entity_id }: Entity): Key {
  return metadataKey(entity_type, entity_id);
}

function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

function report(error: unknown): void {
  console.warn({ message: 'No metadata', error: describeError(error) });
}
