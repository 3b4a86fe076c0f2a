// Names that people give to entities: what they write, and the first name of an entity.
import * as v from 'valibot';
import {
  type Entity,
  type EntityRecord,
  isSettled,
  linkFields,
  type Origin,
  readRecord,
  recordWrites,
} from '../entity/record.ts';
import { invalidRequest } from '../errors.ts';
import { pick } from '../pick.ts';
import { isNewcomer } from '../review/newcomer.ts';
import type { Write } from '../table/transact.ts';
import type { Namer as Account } from '../user/daily-limit.ts';
import { isModeratorName, keysOfName, speaksAsRole } from '../user/moderator-name.ts';
import { canModerate } from '../user/user-type.ts';
import { Name, parseWebUrl } from '../values.ts';
import { entryOf, logEntry } from './decision-log.ts';

/** Most characters of a name, and of the line below it. */
export const longestNaming = 200;

/** An address in a text, which would advertise on every list. */
const link = /:\/\/|\bwww\.|\b[\w-]+\.[a-z]{2,}\/\S/i;

/** A text of one line, with single spaces. */
function Line<T extends v.GenericSchema<string, string>>(schema: T) {
  return v.pipe(
    v.string('must be a string'),
    v.transform((text) => text.replaceAll(/\s+/gu, ' ').trim()),
    schema,
    v.check((text) => !link.test(text), 'must not contain an address of a website'),
    v.check((text) => !speaksAsRole(text), 'must not look like a message of a moderator'),
  );
}

const emptyAsAbsent = v.transform((text: string) => text || undefined);

/** Fields of a record that people write. An empty field is absent. */
export const namingFields = {
  name: Line(Name(longestNaming)),
  /** Artist or author, year, place: what tells it from others of its name. */
  about: v.optional(v.pipe(Line(v.union([v.literal(''), Name(longestNaming)])), emptyAsAbsent), ''),
  url: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.check(
        (url) => url === '' || parseWebUrl(url) !== null,
        'must be the whole address of a page, as https://example.org/page',
      ),
      emptyAsAbsent,
    ),
    '',
  ),
};

export const Naming = v.object(namingFields);
export type Naming = v.InferOutput<typeof Naming>;

/** The person who names something. The operator has no account. */
export type Namer = Account | undefined;

/** Fields of a record that tell who wrote it, when, and whether it is public. */
type Written = Pick<EntityRecord, 'origin' | 'user_id' | 'written_at' | 'state' | 'is_confirmed'>;

/**
 * Returns a record with these words, in the place of `before`. It keeps the picture and the links
 * to what is the same. It keeps the artist and the year of a database only if the line stays the
 * same. What a member writes is due: its database is asked first of all.
 */
export function recordOf(
  entity: Entity,
  { name, about, url }: Partial<Naming> & Pick<Naming, 'name'>,
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
function originOf(namer: Namer): Origin {
  if (!namer) return 'operator';
  return canModerate(namer) ? 'moderator' : 'member';
}

/** Returns the fields of a record that tell who wrote it, and that this was now. */
export function writtenBy(namer: Namer): Written {
  return { origin: originOf(namer), user_id: namer?.id, written_at: new Date().toISOString() };
}

/** Throws ApiError 400 for the name of a moderator, which only moderators may give. */
export async function checkNaming({ name, about = '' }: Naming, namer: Namer): Promise<void> {
  if (originOf(namer) !== 'member') return;
  const keys = [...keysOfName(name), ...(about === '' ? [] : keysOfName(about))];
  const distinct = [...new Map(keys.map((key) => [key.pk, key])).values()];
  if (await isModeratorName(distinct)) {
    throw invalidRequest('name and line must not be the name of a moderator');
  }
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

/**
 * Returns the writes that give an entity its first name, to be written with something else. None if
 * it has a name by now, or a moderator has removed it. One that waits gives way, but for another
 * that would wait. They fail as a stale read if somebody names it meanwhile. Throws like
 * `checkNaming`.
 */
export async function firstName(entity: Entity, naming: Naming, namer: Account): Promise<Write[]> {
  const [before] = await Promise.all([readRecord(entity), checkNaming(naming, namer)]);
  if (!mayBeNamed(before, namer)) return [];
  const record = recordOf(entity, naming, await writtenNow(namer));
  if (before && record.state === 'waiting') return [];
  const by = { reason: 'other', note: '', moderator_id: namer.id } as const;
  const entry = entryOf('name', { before, after: record }, by);
  return [...recordWrites(before, record), logEntry(entry)];
}
