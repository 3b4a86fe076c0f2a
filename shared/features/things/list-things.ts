import * as v from 'valibot';
import { invalidRequest } from '../../base/errors.ts';
import { openCursor, sealCursor } from '../../base/list/cursor.ts';
import { batchGet } from '../../base/table/batch.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { type EntityType, entityTypes } from '../../core/entity/entity-type.ts';
import { type EntityRecord, recordIn } from '../../core/entity/record.ts';
import { entityKey } from '../../core/keys.ts';
import type { ReviewCounts } from '../../core/review/counts.ts';
import { averageRating, countsIn } from '../../core/review/owner-counts.ts';
import type { FoundThing } from './found.ts';
import { thingKey } from './kinds.ts';
import type { ThingSort } from './listing.ts';
import { entityOfEntry } from './thing.ts';

// Pages of things, from the places that the stream keeps. Any page costs the same.

/** A page of things, and the cursor of the next one. */
export interface ThingPage {
  things: FoundThing[];
  next?: string;
}

/** A place in a list, as keys have it: numbers, a time and an id. */
const Place = v.pipe(v.string(), v.regex(/^[\d#T:.Z-]*#[\da-f-]{36}$/), v.maxLength(100));

/**
 * Most things of a page of the latest. Its places hold no numbers, which would cost each
 * publication two more units. So 31 places of 1 KB take 4 units, and the counts of 30 things 15.
 */
export const mostLatest = 30;

/**
 * Types whose lists make the most reviewed of all, on the page that everybody opens first. Each
 * takes half a unit. A thing of a type with fewer reviews is not among them.
 */
const mostTypes = 4;

/** Places of 1 KB that half a read unit reads. So many of each type are read first. */
const placesOfHalf = 4;

/** Read units for the places after the first. With the first of 19 types they make 19.5. */
const unitsMore = 10;

/**
 * Lists things of a type, or of all types. Throws ApiError 400 for the cursor of another list. A
 * forged one reads only what another page reads.
 */
export async function listThings({
  sort,
  entity_type,
  limit,
  cursor,
}: {
  sort: ThingSort;
  entity_type?: EntityType;
  limit: number;
  cursor?: string;
}): Promise<ThingPage> {
  const binding = JSON.stringify([sort, entity_type]);
  const after = cursor === undefined ? undefined : openCursor(binding, Place, cursor);
  if (cursor !== undefined && after === undefined) {
    throw invalidRequest('cursor must be one that came with a page of the very same list');
  }
  const isLatest = sort === 'latest';
  const { things, next } = isLatest
    ? await listLatest(entity_type, Math.min(limit, mostLatest), after)
    : await listRows(sort, entity_type === undefined ? entityTypes : [entity_type], limit, after);
  return { things, ...(next !== undefined && { next: sealCursor(binding, next) }) };
}

/** Lists the most reviewed things of the types that have most reviews, by their `counts`. */
export async function listMostReviewed(
  counts: ReadonlyMap<EntityType, Pick<ReviewCounts, 'all'>>,
  limit: number,
): Promise<FoundThing[]> {
  const types = [...counts].toSorted(([, a], [, b]) => b.all - a.all).map(([type]) => type);
  if (types.length === 0) return [];
  const { things } = await listRows('reviews', types.slice(0, mostTypes), limit);
  return things;
}

async function listRows(
  sort: ThingSort,
  types: readonly EntityType[],
  limit: number,
  after?: string,
): Promise<ThingPage> {
  const { places, isEnd } = await readPlaces(sort, types, limit, after);
  const shown = places.slice(0, limit);
  // A thing that is moving may be in two places.
  const rows = Map.groupBy(shown.flatMap(rowIn), ({ record }) => record.entity_id);
  const things = [...rows.values()].flatMap(([first]) => first ?? []);
  return { things, ...nextAfter(shown, isEnd && shown.length === places.length) };
}

/** Reads the latest things, whose numbers come from their counts. */
async function listLatest(
  entity_type: EntityType | undefined,
  limit: number,
  after: string | undefined,
): Promise<ThingPage> {
  const list = await readSome('latest', entity_type, limit + 1, after);
  const shown = list.places.slice(0, limit);
  const records = shown.flatMap(recordOf);
  const items = await batchGet(records.map(({ entity_id }) => entityKey(entity_id)));
  const things = records.flatMap((record): FoundThing[] => {
    const counts = countsIn(items.get(keyString(entityKey(record.entity_id))));
    if (counts.all === 0) return [];
    return [{ record, review_count: counts.all, average_rating: averageRating(counts) }];
  });
  return { things, ...nextAfter(shown, list.isEnd && shown.length === list.places.length) };
}

function nextAfter(shown: readonly Item[], isEnd: boolean): { next?: string } {
  const last = shown.at(-1);
  return isEnd || !last ? {} : { next: placeOf(last) };
}

interface Places {
  /** From the highest down, as far as it is certain that none lies between. */
  places: Item[];
  /** True if there are none below. */
  isEnd: boolean;
}

/**
 * Merges the lists of types in two round trips: a few places of each, then more of those that are
 * used up. A page may end before it is full, where one list has been read no further.
 */
async function readPlaces(
  sort: ThingSort,
  types: readonly EntityType[],
  limit: number,
  after: string | undefined,
): Promise<Places> {
  const [only] = types;
  if (types.length === 1) return readSome(sort, only, limit + 1, after);
  const first = await Promise.all(types.map((type) => readSome(sort, type, placesOfHalf, after)));
  const isUsedUp = usedUpWithin(first, limit);
  const more = Math.min(limit, shareOf(first.filter(isUsedUp).length, unitsMore));
  const read = await Promise.all(
    first.map(async (list, i) => {
      if (!isUsedUp(list)) return list;
      const rest = await readSome(sort, types[i], more, placeOf(list.places.at(-1) as Item));
      return { places: [...list.places, ...rest.places], isEnd: rest.isEnd };
    }),
  );
  const open = read.filter(({ isEnd }) => !isEnd);
  // Below the highest end of what was read, a list may have more.
  const ends = open.map(({ places }) => placeOf(places.at(-1) as Item));
  const lowest = ends.toSorted().at(-1) ?? '';
  const places = descending(read).filter((item) => placeOf(item) >= lowest);
  return { places, isEnd: open.length === 0 };
}

/** Returns the places that each of so many lists may read for these read units together. */
export function shareOf(lists: number, units: number): number {
  return placesOfHalf * Math.max(1, Math.floor((2 * units) / lists));
}

/** Returns a test for lists that end within the first places of all, and go on. */
function usedUpWithin(lists: readonly Places[], limit: number): (list: Places) => boolean {
  const last = descending(lists)[limit - 1];
  return ({ places, isEnd }) => {
    const end = places.at(-1);
    return !isEnd && end !== undefined && (last === undefined || placeOf(end) > placeOf(last));
  };
}

function descending(lists: readonly Places[]): Item[] {
  return lists
    .flatMap(({ places }) => places)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
}

async function readSome(
  sort: ThingSort,
  type: EntityType | undefined,
  most: number,
  after: string | undefined,
): Promise<Places> {
  const list = thingKey(sort, type);
  const until = after === undefined ? undefined : `${list.sk}${after}`;
  const pages = queryItems(list, { pageSize: most, descending: true, consistent: false, until });
  const read = await collect(pages, most);
  // The range includes `until`.
  const places = read.filter(({ sk }) => sk !== until);
  return { places, isEnd: read.length < most };
}

/** Returns the place of an entry in its list: what follows the beginning that all have. */
const placeOf = ({ sk }: Item) => sk.slice(sk.indexOf('#') + 1);

/** Reads a row. One that newer code has stored otherwise is left out. */
function rowIn(item: Item): FoundThing[] {
  const { review_count, average_rating } = item as Item & Omit<FoundThing, 'record'>;
  return recordOf(item).map((record) => ({ record, review_count, average_rating }));
}

/** Returns the record of an entry, as far as the entry has it. */
function recordOf(item: Item): EntityRecord[] {
  return entityOfEntry(item).flatMap((entity) => recordIn(entity, item) ?? []);
}
