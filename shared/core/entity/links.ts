import { invalidRequest } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Write } from '../../base/table/transact.ts';
import {
  type Entity,
  type EntityRecord,
  readRecord,
  recordIn,
  recordKey,
  recordWrites,
} from './record.ts';
import { isPublicName } from './state.ts';

// Things that are the same: one leads to another, and a chain of them to its end. No review moves,
// so that parting them loses nothing.

/**
 * Most things that lead to one. The page of that one reads the lists of all. Moderators feel it,
 * who then have to look for the cause of so many.
 */
export const mostLed = 10;

/** Returns true for a thing that leads to another, or that others lead to. */
export function isJoined({ leads_to, led_from }: EntityRecord): boolean {
  return leads_to !== undefined || led_from !== undefined;
}

/** A thing that is joined or parted, and what it is joined with or parted from. */
interface Joined {
  record: EntityRecord;
  /** The thing at the end of the chain. */
  end: EntityRecord;
  /** The things that lead to either of the two. */
  led: readonly EntityRecord[];
}

/** A record before a change, if there was one, and after. */
export interface RecordChange {
  before?: EntityRecord | undefined;
  after: EntityRecord;
}

/**
 * Returns the changes that make a thing lead to another, and all that led to it with it. `after` is
 * its record with `same_as`. Throws ApiError 400 if it would lead to itself, or too many to one.
 */
export function joinChanges({ record, end, led }: Joined, after: EntityRecord): RecordChange[] {
  const { entity_id, led_from: following = [] } = record;
  const leads_to = end.entity_id;
  if (leads_to === entity_id) throw invalidRequest('A thing cannot lead to itself');
  const led_from = [...(end.led_from ?? []), entity_id, ...following];
  if (led_from.length > mostLed) throw invalidRequest(`At most ${mostLed} things lead to one`);
  const isFollowing = (each: EntityRecord) => following.includes(each.entity_id);
  // A record that only a search has found would expire.
  const expires_at = undefined;
  return [
    { before: record, after: { ...after, leads_to, led_from: undefined, expires_at } },
    { before: end, after: { ...end, led_from, expires_at } },
    ...led.filter(isFollowing).map((before) => ({ before, after: { ...before, leads_to } })),
  ];
}

/**
 * Returns the changes that let a thing stand alone again, with those that led to it before. `after`
 * is its record without `same_as`.
 */
export function partChanges({ record, end, led }: Joined, after: EntityRecord): RecordChange[] {
  const leads_to = record.entity_id;
  const following = followersOf(record, led);
  const ids = following.map(({ entity_id }) => entity_id);
  const rest = (end.led_from ?? []).filter((id) => id !== leads_to && !ids.includes(id));
  return [
    { before: record, after: { ...after, leads_to: undefined, led_from: listOf(ids) } },
    { before: end, after: { ...end, led_from: listOf(rest) } },
    ...following.map((before) => ({ before, after: { ...before, leads_to } })),
  ];
}

const listOf = (ids: string[]) => (ids.length > 0 ? ids : undefined);

/** Returns what moderators have called the same as this, and the same as that. */
function followersOf({ entity_id }: EntityRecord, led: readonly EntityRecord[]): EntityRecord[] {
  const next = led.filter(({ same_as }) => same_as === entity_id);
  return next.flatMap((each) => [each, ...followersOf(each, led)]);
}

/**
 * Returns a change of a record, with the changes of the things that it is joined with or parted
 * from. Throws like `joinChanges`, and ApiError 400 unless the other thing is public.
 */
export async function changesWith({ before, after }: RecordChange): Promise<RecordChange[]> {
  if (!before || before.same_as === after.same_as) return [{ before, after }];
  if (after.same_as === undefined) {
    const end = await readOther(before, before.leads_to);
    return partChanges(await readJoined(before, end), after);
  }
  if (before.same_as !== undefined) throw invalidRequest('It leads to another thing already');
  const other = await readOther(before, after.same_as);
  const end = other.leads_to === undefined ? other : await readOther(before, other.leads_to);
  return joinChanges(await readJoined(before, end), after);
}

/** Returns the writes of changes of records. */
export function writesOf(changes: readonly RecordChange[]): Write[] {
  return changes.flatMap(({ before, after }) => recordWrites(before, after));
}

/** Reads a thing of the same type. Throws ApiError 400 if it has no public name. */
async function readOther({ entity_type }: Entity, entity_id = ''): Promise<EntityRecord> {
  const other = await readRecord({ entity_type, entity_id });
  if (other && isPublicName(other)) return other;
  throw invalidRequest('The other thing has no name here, or is of another type');
}

async function readJoined(record: EntityRecord, end: EntityRecord): Promise<Joined> {
  const { entity_type } = record;
  const ids = [...new Set([...(record.led_from ?? []), ...(end.led_from ?? [])])];
  const entities = ids.map((entity_id) => ({ entity_type, entity_id }));
  const items = await getItems(entities.map(recordKey), { consistent: true });
  const led = entities.flatMap((entity, i) => recordIn(entity, items[i]) ?? []);
  return { record, end, led };
}
