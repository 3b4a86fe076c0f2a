// Names that people give to entities, as records of them.

import { pick } from '../../base/pick.ts';
import {
  type Entity,
  type EntityRecord,
  isSettled,
  linkFields,
  type Origin,
} from '../../core/entity/record.ts';
import { isNewcomer } from '../../core/review/newcomer.ts';
import type { Namer as Account } from '../../core/user/daily-limit.ts';
import { canModerate } from '../../core/user/user-type.ts';

/** Most characters of a name, and of the line below it. */
export const longestNaming = 200;

/** The person who names something. The operator has no account. */
export type Namer = Account | undefined;

/** The words by which a person calls an entity. */
interface Words {
  name: string;
  about?: string | undefined;
  url?: string | undefined;
}

/** Fields of a record that tell who wrote it, when, and whether it is public. */
type Written = Pick<EntityRecord, 'origin' | 'user_id' | 'written_at' | 'state' | 'is_confirmed'>;

/**
 * Returns a record with these words, in the place of `before`. It keeps the picture and the links
 * to what is the same. It keeps the artist and the year of a database only if the line stays the
 * same. What a member writes is due: its database is asked first of all.
 */
export function recordOf(
  entity: Entity,
  { name, about, url }: Words,
  by: Written,
  before?: EntityRecord,
): EntityRecord {
  const isSameLine = about !== undefined && about === before?.about;
  const record = {
    ...pick(entity, ['entity_id', 'entity_type']),
    name,
    about,
    url,
    ...(isSameLine && pick(before, ['by', 'year'])),
    image: before?.image,
    ...(before && pick(before, linkFields)),
    ...by,
  };
  return isSettled(record) ? record : { ...record, due_at: Date.parse(`${by.written_at}`) };
}

/** Returns the origin of what a person writes. */
export function originOf(namer: Namer): Origin {
  if (!namer) return 'operator';
  return canModerate(namer) ? 'moderator' : 'member';
}

/** Returns the fields of a record that tell who wrote it, and that this was now. */
export function writtenBy(namer: Namer): Written {
  return { origin: originOf(namer), user_id: namer?.id, written_at: new Date().toISOString() };
}

/**
 * Returns the fields as `writtenBy` does. What somebody names whose reviews are held waits with the
 * first of them.
 */
export async function writtenNow(namer: Account): Promise<Written> {
  const isHeld = await isNewcomer(namer.id);
  return { ...writtenBy(namer), state: isHeld ? 'waiting' : undefined };
}

/**
 * Returns true if a review by this person may name its thing: nothing has named it so far, or
 * somebody else whose name waits.
 */
export function mayBeNamed(record: EntityRecord | undefined, { id }: Pick<Account, 'id'>): boolean {
  return record === undefined || (record.state === 'waiting' && record.user_id !== id);
}
