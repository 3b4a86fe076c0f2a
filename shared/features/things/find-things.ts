import * as v from 'valibot';
import { invalidRequest } from '../../base/errors.ts';
import { openCursor, sealCursor } from '../../base/list/cursor.ts';
import { batchGet } from '../../base/table/batch.ts';
import { keyString } from '../../base/table/item.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import { type Entity, type EntityRecord, recordIn, recordKey } from '../../core/entity/record.ts';
import { isFindable } from '../../core/entity/state.ts';
import { entityKey } from '../../core/keys.ts';
import { averageRating, countsIn } from '../../core/review/owner-counts.ts';
import { folded, fromJoinedWords, hasWord } from './folded.ts';
import type { FoundThing } from './found.ts';
import { namesFrom } from './kinds.ts';
import { entityOfEntry } from './thing.ts';
import { levels, shortened, wordsOf } from './words.ts';

// The search by name. Entries are read level by level, so things with more reviews come first.

/** Most things of a page. */
export const mostFound = 8;

/** Most things of a page that nobody has reviewed and one member has named. */
const mostOfMember = 2;

/**
 * Entries to read of each level, in a window: 160 of 204 bytes at most, so four units. The counts
 * and records of eight things cost eight more. Several words are read in two ways, and a type
 * leaves out what is read, so their windows are as wide at each level.
 */
const windows = {
  oneWord: { 3: 20, 2: 20, 1: 60, 0: 60 },
  ofType: { 3: 40, 2: 40, 1: 40, 0: 40 },
  words: { 3: 20, 2: 20, 1: 20, 0: 20 },
} as const;

type Level = (typeof levels)[number];

interface Entry {
  entity: Entity;
  words: string;
  isReviewed: boolean;
  /** Tells members apart who have named things. */
  by?: string;
  /** True for the name of another thing, which leads to this one. */
  isLeading: boolean;
}

/**
 * A place in a range of keys: the last key that was read, an empty text before the first, or null
 * after the last.
 */
const Position = v.nullable(v.pipe(v.string(), v.maxLength(500)));
type Position = v.InferOutput<typeof Position>;

/** Entries of a level that match, in the order of pages, read between two places. */
interface Window {
  level: Level;
  from: Position[];
  to: Position[];
  entries: Entry[];
}

/** A place in the results: a window, and how many of its entries pages have shown. */
const Place = v.object({
  level: v.picklist(levels),
  from: v.array(Position),
  shown: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});
type Place = v.InferOutput<typeof Place>;

/**
 * Finds things by the beginning of a word of their name or line, or by several words of it. Returns
 * at most eight, for at most twelve read units in two round trips, eventually consistent. Things
 * with more reviews come first, and the very name among equals. `next` is the cursor of the next
 * page. Throws ApiError 400 for the cursor of another search.
 */
export async function findThings(
  name: string,
  { type, cursor }: { type?: EntityType; cursor?: string } = {},
): Promise<{ things: FoundThing[]; next?: string }> {
  const query = queryOf(name);
  if (query.text === '') return { things: [] };
  const binding = JSON.stringify([query.ranges, type]);
  const start = cursor === undefined ? undefined : openCursor(binding, Place, cursor);
  if (cursor !== undefined && !isPlaceOf(query, start)) {
    throw invalidRequest('cursor must be one that came with a page of the very same search');
  }
  const isAhead = (level: Level) => start === undefined || level <= start.level;
  const read = await Promise.all(
    levels
      .filter(isAhead)
      .map((level) => readWindow(query, type, level, level === start?.level ? start.from : [])),
  );
  const { entries, end } = pageOf(read, start?.shown ?? 0);
  const things = await readFound(entries, query);
  return { things, ...(end && { next: sealCursor(binding, end) }) };
}

/**
 * Finds other things of the type that have this name, or are found by it because a thing of this
 * name leads to them. Case, accents and punctuation make no difference. Reads the first page of a
 * search: an eighth of one name is enough to ask which is meant.
 */
export async function findNamesakes(
  { entity_id, entity_type }: Entity,
  name: string,
): Promise<EntityRecord[]> {
  const { things } = await findThings(name, { type: entity_type });
  const isSame = ({ record, other_name = '' }: FoundThing) =>
    isSameName(record.name, name) || `${other_name} `.startsWith(`${folded(name)} `);
  return things
    .filter((each) => each.record.entity_id !== entity_id && isSame(each))
    .map(({ record }) => record);
}

/**
 * Finds the thing of a type that a program means by a name and its line, or by the name alone if
 * only one has it. Throws ApiError 400 if several have it.
 */
export async function findMeant(
  entity_type: EntityType,
  { name, about }: Pick<EntityRecord, 'name' | 'about'>,
): Promise<EntityRecord | undefined> {
  const namesakes = await findNamesakes({ entity_id: '', entity_type }, name);
  if (about !== undefined) return namesakes.find((each) => isSameName(each.about ?? '', about));
  if (namesakes.length > 1) {
    throw invalidRequest(`about must say which is meant: ${namesakes.length} have this name`);
  }
  return namesakes[0];
}

/** Case, accents, punctuation and spaces make no difference. */
function isSameName(one: string, other: string): boolean {
  return folded(one).replaceAll(' ', '') === folded(other).replaceAll(' ', '');
}

/** A name that somebody looks for. */
interface Query {
  name: string;
  text: string;
  /** The beginnings of the keys that are read: of the whole text, and of what else may find it. */
  ranges: string[];
  /** Lists of words, one of which a thing has. */
  words: string[][];
}

/**
 * Several words are also read by the longest of them, so that their order makes no difference. What
 * punctuation alone divides is also read as one word: Spider-Man is Spiderman.
 */
function queryOf(name: string): Query {
  const text = shortened(folded(name));
  const words = text.split(' ');
  const [joined] = /\s/.test(name.trim()) ? [] : fromJoinedWords(name.trim()).map(shortened);
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
  const ranges = [...new Set([text, joined ?? longest])];
  return { name, text, ranges, words: joined === undefined ? [words] : [words, [joined]] };
}

/** Returns true if a text has all words that somebody looks for. */
function isFoundIn(text: string, { words }: Query): boolean {
  return words.some((all) => all.every((word) => hasWord(text, word)));
}

/** Anyone can seal a cursor, so its keys must lie in the ranges of the search. */
function isPlaceOf({ ranges }: Query, place: Place | undefined): boolean {
  return (
    place?.from.length === ranges.length &&
    place.from.every((position, i) => {
      const { sk } = namesFrom(place.level, ranges[i] ?? '');
      return !position || position.startsWith(sk);
    })
  );
}

/** Reads a window of a level: from the places on, or from the first key of each range. */
async function readWindow(
  query: Query,
  type: EntityType | undefined,
  level: Level,
  places: readonly Position[],
): Promise<Window> {
  const { ranges } = query;
  const sizes = ranges.length > 1 ? windows.words : type ? windows.ofType : windows.oneWord;
  const from = ranges.map((_, i) => (places[i] === undefined ? '' : places[i]));
  const read = await Promise.all(
    ranges.map((range, i) => readRange(level, range, sizes[level], from[i] ?? null)),
  );
  const isMatch = ({ entity, words }: Entry) =>
    (type === undefined || entity.entity_type === type) && isFoundIn(words, query);
  const entries = read.flatMap((each) => each.entries).filter(isMatch);
  return { level, from, to: read.map(({ to }) => to), entries: inTurns(distinct(entries)) };
}

async function readRange(
  level: Level,
  words: string,
  size: number,
  from: Position,
): Promise<{ entries: Entry[]; to: Position }> {
  if (from === null) return { entries: [], to: null };
  const after = from === '' ? undefined : from;
  const pages = queryItems(namesFrom(level, words), { pageSize: size, consistent: false, after });
  const items = await collect(pages, size);
  const beginning = namesFrom(level, '').sk.length;
  const entries = items.flatMap((item) =>
    entityOfEntry(item).map((entity): Entry => {
      const { sk, by, leads_to } = item;
      const words = sk.slice(beginning, sk.lastIndexOf(' #'));
      const isLeading = typeof leads_to === 'string';
      const found = isLeading ? { ...entity, entity_id: leads_to } : entity;
      // Its level is that of the thing that leads.
      const isReviewed = level > 0 || isLeading;
      const namer = typeof by === 'string' && { by };
      return { entity: found, words, isReviewed, isLeading, ...namer };
    }),
  );
  // The range includes `after`.
  const isFull = items.length + Number(after !== undefined) >= size;
  return { entries, to: isFull ? (items.at(-1)?.sk ?? null) : null };
}

/** A thing may have several words that begin alike. */
function distinct(entries: readonly Entry[]): Entry[] {
  const byThing = Map.groupBy(entries, ({ entity }) => keyString(recordKey(entity)));
  return [...byThing.values()].flatMap(([first]) => first ?? []);
}

/** Takes two of each member in turn, so that nobody fills a page with names. */
function inTurns(entries: readonly Entry[]): Entry[] {
  const named = new Map<string, number>();
  const turns = entries.map((entry) => {
    if (entry.by === undefined) return { entry, turn: 0 };
    const before = named.get(entry.by) ?? 0;
    named.set(entry.by, before + 1);
    return { entry, turn: Math.floor(before / mostOfMember) };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ entry }) => entry);
}

/**
 * Returns the entries of a page. Pages have `shown` some of the first window. `end` is the place
 * where the next page begins. A page ends with the window that has been read, and where it has two
 * unreviewed things of one member.
 */
function pageOf(read: readonly Window[], shown: number): { entries: Entry[]; end?: Place } {
  const entries: Entry[] = [];
  const unreviewed = new Map<string, number>();
  for (const [i, { level, from, to, entries: all }] of read.entries()) {
    for (let n = i === 0 ? shown : 0; n < all.length; n++) {
      const entry = all[n] as Entry;
      const member = entry.isReviewed ? undefined : entry.by;
      const ofMember = member === undefined ? 0 : (unreviewed.get(member) ?? 0);
      if (entries.length === mostFound || ofMember === mostOfMember) {
        return { entries, end: { level, from, shown: n } };
      }
      entries.push(entry);
      if (member !== undefined) unreviewed.set(member, ofMember + 1);
    }
    if (to.some((position) => position !== null)) {
      return { entries, end: { level, from: to, shown: 0 } };
    }
  }
  return { entries };
}

/** Reads the things of a page, and counts of those with reviews. Sorts by their number. */
async function readFound(entries: readonly Entry[], query: Query): Promise<FoundThing[]> {
  const leading = new Map(
    entries.flatMap(({ entity, isLeading, words }) =>
      isLeading ? [[keyString(recordKey(entity)), words] as const] : [],
    ),
  );
  // A thing may be found by its own name and by one that leads to it.
  const byKey = new Map(entries.map(({ entity }) => [keyString(recordKey(entity)), entity]));
  const entities = [...byKey.values()];
  const owners = entries.filter(({ isReviewed }) => isReviewed);
  const ids = new Set(owners.map(({ entity }) => entity.entity_id));
  const items = await batchGet([...entities.map(recordKey), ...Array.from(ids, entityKey)]);
  const found = entities.flatMap((entity) => {
    const key = keyString(recordKey(entity));
    const record = recordIn(entity, items.get(key));
    const other_name = leading.get(key);
    // The index may be behind.
    if (!record || !isFindable(record)) return [];
    if (other_name === undefined && !isFoundIn(wordsOf(record), query)) return [];
    const counts = countsIn(items.get(keyString(entityKey(entity.entity_id))));
    const average_rating = averageRating(counts);
    const thing = { record, review_count: counts.all, average_rating, other_name };
    return [{ thing, reviews: counts.types.get(entity.entity_type) ?? 0 }];
  });
  const isVeryName = ({ record }: FoundThing) => Number(isSameName(record.name, query.name));
  return found
    .toSorted((a, b) => b.reviews - a.reviews || isVeryName(b.thing) - isVeryName(a.thing))
    .map(({ thing }) => thing);
}
