import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import type { IndexAttributes, Item, Key } from '../../base/table/item.ts';
import { parseItem } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import { putNew, type Write } from '../../base/table/transact.ts';
import { absentOr, type Where } from '../../base/table/write.ts';
import { deskPartitions, metadataKey } from '../keys.ts';
import {
  type EntityGroup,
  type EntityType,
  entityTypes,
  groupOf,
  isOwnType,
  StoredEntityType,
} from './entity-type.ts';

// The record of an entity: its name and what tells it apart, from a database or from people.

/** An entity as a review names it. Reviews of one entity may name different types. */
export interface Entity {
  entity_id: string;
  entity_type: EntityType;
}

/** Databases, and people by the right that they had. */
const origins = ['musicdb', 'bookdb', 'member', 'moderator', 'operator'] as const;
export type Origin = (typeof origins)[number];

/** States of a thing that is not public, see state.ts. */
const entityStates = ['waiting', 'removed'] as const;

/** Most characters of a name that a database gave, and of a line about an entity. */
export const mostCharacters = 200;

const Words = v.pipe(
  v.string(),
  v.check((text) => [...text].length <= mostCharacters, `must have at most ${mostCharacters}`),
);
const Address = v.pipe(v.string(), v.maxLength(2048));

/** A record as stored. Times are ISO 8601, but for `due_at` (epoch ms). */
export const EntityRecord = v.object({
  entity_id: v.string(),
  entity_type: StoredEntityType,
  name: v.pipe(v.string(), v.minLength(1)),
  /** A line that tells it from others of its name: artist or author, year, place. */
  about: v.optional(Words),
  /** Artists or authors, and the year: part of `about`, if a database gave it. */
  by: v.optional(Words),
  year: v.optional(v.pipe(v.string(), v.regex(/^\d{4}$/))),
  /** Page for people. The configured database of the type has its own, whatever this is. */
  url: v.optional(Address),
  image: v.optional(Address),
  /** Absent if older code stored the record, from a database. */
  origin: v.optional(v.picklist(origins)),
  /** The person who wrote it, unless a database or the operator did, or the account is gone. */
  user_id: v.optional(v.string()),
  written_at: v.optional(v.string()),
  /** Absent if it is public, see state.ts. */
  state: v.optional(v.picklist(entityStates)),
  /** The thing that a moderator has called the same, of the same type. */
  same_as: v.optional(v.string()),
  /** The thing that it leads to: `same_as`, or the end of the chain that begins there. */
  leads_to: v.optional(v.string()),
  /** The things that lead here. */
  led_from: v.optional(v.array(v.string())),
  /** The id that its database has for it now. Moderators are offered it as what it leads to. */
  merged_into: v.optional(v.string()),
  /** Set if a moderator has accepted or confirmed what a member wrote. */
  is_confirmed: v.optional(v.literal(true)),
  /** Time at which a database is asked again. Means nothing for a record that is settled. */
  due_at: v.optional(v.number()),
  /** Set for a record that only a search has found (epoch seconds). */
  expires_at: v.optional(v.number()),
  /** Rises with every change. Absent if older code stored the record. */
  version: v.optional(v.number()),
});
export type EntityRecord = v.InferOutput<typeof EntityRecord>;

/** The words of a database or a file about an entity: short texts that can be displayed. */
export type Description = Pick<EntityRecord, 'name' | 'about' | 'by' | 'year'>;

/** The version of a record that a form showed. An empty text means that it had none. */
export const SeenVersion = v.pipe(
  v.string(),
  v.regex(/^\d{0,15}$/, 'must be a number'),
  v.transform((text) => (text === '' ? undefined : Number(text))),
);

/** Milliseconds after which a database is asked again for a name that it gave. */
export const renewedAfter = 30 * 86_400_000;

/** Fields that join things which are the same. They stay when the words change. */
export const linkFields = ['same_as', 'leads_to', 'led_from'] as const;

/** Fields of the state of a thing, and of the trust in its name. */
export const stateFields = ['state', 'is_confirmed', ...linkFields] as const;

const wordFields = ['name', 'about', 'by', 'year', 'url', 'image'] as const;

/** Fields of a record. A change of anything else is no change of the entity. */
const changingFields = [...wordFields, 'origin', 'user_id', ...stateFields] as const;

/**
 * Returns the list of a record: of the moderators, of the database that may overwrite it, of the
 * person who wrote it, or none.
 */
function standingOf(record: EntityRecord): 'waiting' | 'due' | 'written' | 'plain' {
  if (record.state === 'waiting') return 'waiting';
  if (!isSettled(record) && isDue(record)) return 'due';
  return record.user_id === undefined ? 'plain' : 'written';
}

/**
 * Index attributes of a record. Whatever a person wrote is listed by the person too, who can thus
 * be erased from it.
 */
export function indexesOf(record: EntityRecord): IndexAttributes {
  const { entity_id, user_id, written_at } = record;
  const author = user_id === undefined ? undefined : `NAMER#${user_id}`;
  const written = `${written_at}#${entity_id}`;
  switch (standingOf(record)) {
    case 'waiting':
      return { all: deskPartitions.name, author, date: written };
    case 'due':
      return { ...queuedIn(record, record), author };
    case 'written':
      return { all: undefined, author, date: written };
    case 'plain':
      return { all: undefined, author, date: undefined };
  }
}

/** Returns the index partition of the entities that a database is asked for. */
export const queueOf = (group: EntityGroup) => `DUE#${group}`;

/**
 * Index attributes of an item in the queue of its database, by the time when it is due (epoch ms).
 * None for an item that is never due, or only waits to expire.
 */
export function queuedIn({ entity_id, entity_type }: Entity, times: Times): IndexAttributes {
  if (!isDue(times)) return { all: undefined, date: undefined };
  const date = `${new Date(times.due_at).toISOString()}#${entity_id}`;
  return { all: queueOf(groupOf(entity_type)), date };
}

type Times = Pick<EntityRecord, 'due_at' | 'expires_at'>;

const isDue = (times: Times): times is Times & { due_at: number } =>
  times.due_at !== undefined && times.expires_at === undefined;

export const recordKey = ({ entity_type, entity_id }: Entity): Key =>
  metadataKey(entity_type, entity_id);

/** Sort key of all records. */
export const recordSort = metadataKey('', '').sk;

/** Returns the entity in the partition key of a record. Other items lie in such partitions too. */
export function entityOf(pk: string): Entity | undefined {
  const [, entity_type = '', entity_id] = pk.split('#');
  if (entity_id === undefined || !entityTypes.includes(entity_type as EntityType)) return undefined;
  return { entity_type: entity_type as EntityType, entity_id };
}

/** Reads the record of an entity, strongly consistent. */
export async function readRecord(entity: Entity): Promise<EntityRecord | undefined> {
  return recordIn(entity, await getItem(recordKey(entity)));
}

/** Returns the record in an item, or undefined if the item has no name. */
export function recordIn(entity: Entity, item: Item | undefined): EntityRecord | undefined {
  if (typeof item?.name !== 'string') return undefined;
  const { entity_id, entity_type } = entity;
  return parseItem(EntityRecord, { ...item, entity_id, entity_type });
}

/** Returns true if a database gave the name, or older code stored it, which asked nobody else. */
export function isByDatabase({ origin }: Pick<EntityRecord, 'origin'>): boolean {
  return origin === undefined || origin === 'musicdb' || origin === 'bookdb';
}

/**
 * Returns true if no database overwrites the record: a moderator or the operator has written,
 * confirmed or removed it, or no database knows its type.
 */
export function isSettled({
  entity_type,
  origin,
  is_confirmed,
  state,
}: Pick<EntityRecord, 'entity_type' | 'origin' | 'is_confirmed' | 'state'>): boolean {
  if (state === 'removed' || is_confirmed || isOwnType(entity_type)) return true;
  return origin === 'moderator' || origin === 'operator';
}

/** Returns the record that a database gives, in the place of `before`. */
export function renewed(before: EntityRecord | undefined, record: EntityRecord): EntityRecord {
  return { ...record, ...(before && pick(before, linkFields)) };
}

/** Returns true if people read the same words in both. Their author makes no difference. */
export function hasSameWords(one: EntityRecord, other: EntityRecord): boolean {
  return wordFields.every((name) => one[name] === other[name]);
}

function isSameRecord(one: EntityRecord, other: EntityRecord): boolean {
  return isDeepStrictEqual(pick(one, changingFields), pick(other, changingFields));
}

/**
 * Returns the writes that store a record in the place of `before`, or of none. Every write of a
 * record goes through here. They fail, as a stale read, if it has changed since it was read.
 */
export function recordWrites(before: EntityRecord | undefined, after: EntityRecord): Write[] {
  const Key = recordKey(after);
  // An erasure takes the person out of a record, and leaves its version.
  const was = before && pick(before, ['name', 'version', 'user_id']);
  if (before && was && isSameRecord(before, after)) {
    const unread = pick(after, ['due_at', 'expires_at', 'merged_into']);
    const set = { ...unread, ...indexesOf(after) };
    return [{ Update: { Key, set, was } }];
  }
  // Above every version before, also of a record that has expired.
  const version = Math.max(Date.now(), (before?.version ?? 0) + 1);
  const Item = { ...Key, ...indexesOf(after), ...after, version };
  if (was) return [{ Put: { Item, was } }];
  // What only a search has found replaces nothing, not even an item that waits for a name.
  if (after.expires_at !== undefined) return [putNew(Item)];
  return [{ Put: { Item, where: whereUnnamed } }];
}

/** Returns the write that removes from a record the person who wrote it. The name stays. */
export function anonymous({ pk, sk }: Key, user_id: string): Write {
  // The time stays for the queue of names that wait.
  const set = { user_id: undefined, author: undefined };
  return { Update: { Key: { pk, sk }, set, was: { user_id } } };
}

/** Condition that there is a record with a name that this person may read. */
export function whereNamedFor(userId: string): Where {
  const isPublic: Where = [['state', 'absent']];
  const isOwn: Where = [
    ['state', '=', 'waiting'],
    ['user_id', '=', userId],
  ];
  return [['name', 'text'], { any: [isPublic, isOwn] }];
}

/** Condition that there is no record. The item may wait for a name. */
const whereUnnamed: Where = [absentOr('name', '=', null)];
