import {
  type Bounds,
  byPlace,
  type Entry,
  firstPageSize,
  limits,
  type Partition,
  type Range,
  readBetween,
  readEntries,
  readNearEntries,
  type Sorting,
  type SortValue,
  sortValueOf,
} from '../table/read-entries.ts';
import { type Calendar, locate } from './locate.ts';

/** Which page of a list: what comes after an offset, or after a place. */
export interface PageRequest extends Sorting {
  limit: number;
  offset: number;
  after?: SortValue;
}

/** Where the entries of a list lie. */
export interface List {
  /** Partitions that have it all. Where there are more than one, or some entries do not match, with share and density. */
  partitions: readonly Partition[];
  /** Absent where the list is short enough to be read up to any offset. */
  calendars?: readonly Calendar[];
  /** Absent where all entries match. */
  accept?: (entry: Entry) => boolean;
}

/** Entries, and the place after which the next page begins; none after the last page. */
export interface Page {
  entries: Entry[];
  next?: SortValue;
}

/** Reads a page: what lies near is skipped to, what lies far away is found by the calendars. */
export async function readPage(list: List, request: PageRequest, rounds = 2): Promise<Page> {
  if (list.calendars === undefined) {
    return toPage(await readEntries(list.partitions, rangeOf(list, request)), request);
  }
  const near = await readNearPage(list, request, rounds);
  return near ?? readFarPage(list, list.calendars, request);
}

/**
 * The page, if it is found in so many rounds of a Query of each partition that still has some, and without reading more than may be
 * skipped, and half a unit of each partition.
 */
export async function readNearPage(
  list: List,
  request: PageRequest,
  rounds: number,
): Promise<Page | undefined> {
  const range = rangeOf(list, request);
  const most = limits.skipped + range.take + limits.halfUnit * list.partitions.length;
  const entries = await readNearEntries(list.partitions, range, { most, rounds });
  return entries && toPage(entries, request);
}

/** Read units that the first pages of these partitions take. */
export function unitsOf(partitions: readonly Partition[], { offset, limit }: PageRequest): number {
  const pages = partitions.map((each) => firstPageSize(each, offset + limit) / limits.halfUnit);
  return pages.reduce((sum, halves) => sum + Math.ceil(halves) / 2, 0);
}

async function readFarPage(
  { accept }: List,
  calendars: readonly Calendar[],
  request: PageRequest,
): Promise<Page> {
  const { after, limit } = request;
  const range = rangeOf({ accept }, request);
  const { stretches, skip, end } = await locate(calendars, request, range);
  // One more, as a stretch begins with the place itself.
  const most = accept ? Number.POSITIVE_INFINITY : skip + range.take + 1;
  const found = await Promise.all(
    stretches.flatMap((stretch) =>
      [...stretch.partitions].map((partition) =>
        readBetween(partition, request, clamp(stretch, request), most),
      ),
    ),
  );
  const entries = found
    .flat()
    .filter((entry) => sortValueOf(entry, request.order) !== after && (accept?.(entry) ?? true))
    .sort(byPlace(request))
    .slice(skip, skip + range.take);
  const page = toPage(entries, request);
  // Fewer than were counted: some have just gone, and there may be more behind.
  return entries.length <= limit ? { ...page, next: end } : page;
}

function clamp({ low, high }: Bounds, { after, descending }: PageRequest): Bounds {
  if (after === undefined) return { low, high };
  return descending
    ? { low, high: high > after ? after : high }
    : { low: low < after ? after : low, high };
}

/** One more than the page has, to know whether there is a next one. */
function rangeOf(
  { accept }: Pick<List, 'accept'>,
  { order, descending, limit, offset, after }: PageRequest,
): Range {
  const skip = after === undefined ? offset : 0;
  return { order, descending, after, skip, take: limit + 1, accept };
}

function toPage(entries: readonly Entry[], { limit, order }: PageRequest): Page {
  const last = entries[limit - 1];
  return {
    entries: entries.slice(0, limit),
    ...(entries.length > limit && last && { next: sortValueOf(last, order) }),
  };
}
