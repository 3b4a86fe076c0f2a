import {
  byPlace,
  collect,
  type Entry,
  type KeyRange,
  queryIndex,
  type Sorting,
  type SortKey,
  sortKeyIn,
} from '../table/query.ts';
import { locate, type Partition, type Tree } from './locate.ts';
import { leafCapacity } from './rank-tree.ts';

/** Which page of a list: what comes after an offset, or after a place. */
export interface PageRequest extends Sorting {
  limit: number;
  offset: number;
  after?: SortKey;
}

/** Where the entries of a list lie. */
export interface List {
  /** Partitions that have it all. */
  partitions: readonly Partition[];
  /** Absent where all entries match. */
  accept?: (entry: Entry) => boolean;
  /** About which part of the entries is accepted, from 0 to 1: it sets how many are read at once. */
  selectivity?: number;
  /** Rank trees that count it; absent where the list is short enough to be read up to any offset. */
  trees?: readonly Tree[];
}

/** Entries, and the place after which the next page begins; none after the last page. */
export interface Page {
  entries: Entry[];
  next?: SortKey;
}

/** Reads a page: of one partition from its start where the page may be near, else by the rank trees where there are some. */
export async function readPage(
  list: List,
  request: PageRequest,
  { isFar = false } = {},
): Promise<Page> {
  const { partitions, trees } = list;
  if (!trees) {
    const found = await Promise.all(partitions.map((each) => readFirst(each, list, request)));
    return toPage(inOrder(found, request).slice(skipOf(request)), request);
  }
  const [only, ...more] = partitions;
  const near =
    only && more.length === 0 && !isFar ? await readNearPage(only, list, request) : undefined;
  return near ?? readByRank(list, trees, request);
}

/** The page, if it is found in this partition without reading much more than may be skipped. Nothing is read where that is unlikely. */
export async function readNearPage(
  partition: Partition,
  list: Pick<List, 'accept' | 'selectivity'>,
  request: PageRequest,
): Promise<Page | undefined> {
  const skip = skipOf(request);
  // The place itself and the first of the next page besides. Trees of several contents cost more than a single one, and more round trips.
  const most = (list.accept ? 2 : 1) * leafCapacity + request.limit + 2;
  if (skip > leafCapacity || lengthOf(skip + request.limit + 1, list) > most) return undefined;
  const entries = await readFirst(partition, list, request, most);
  const isFound = entries.length > skip + request.limit || entries.isAll;
  return isFound ? toPage(entries.slice(skip), request) : undefined;
}

/** What passes of a partition, from its start or the place on: as much as a page and one more need, of the first `most` entries. */
async function readFirst(
  partition: Partition,
  list: Pick<List, 'accept' | 'selectivity'>,
  request: PageRequest,
  most = Number.POSITIVE_INFINITY,
): Promise<Entry[] & { isAll: boolean }> {
  const { accept = () => true } = list;
  const wanted = skipOf(request) + request.limit + 1;
  // One more for the place itself.
  const pageSize = Math.min(lengthOf(wanted, list) + 1, most);
  const range = rangeFrom(request);
  const entries: Entry[] = [];
  let read = 0;
  for await (const page of entriesOf(partition, request, range, pageSize)) {
    entries.push(...page.filter((entry) => isAfter(request)(entry) && accept(entry)));
    read += page.length;
    // A page that is not full is the last one.
    const isTooFar = page.length >= pageSize && read + pageSize > most;
    if (entries.length >= wanted || isTooFar) return Object.assign(entries, { isAll: false });
  }
  return Object.assign(entries, { isAll: true });
}

/** How many entries nearly always have so many that match: chance puts fewer than three standard deviations below the mean in one of 1,000. */
function lengthOf(wanted: number, { selectivity = 1 }: Pick<List, 'selectivity'>): number {
  return selectivity < 1 ? Math.ceil((wanted + 3 * Math.sqrt(wanted)) / selectivity) : wanted;
}

async function readByRank(
  { accept }: Pick<List, 'accept'>,
  trees: readonly Tree[],
  request: PageRequest,
): Promise<Page> {
  const take = request.limit + 1;
  const location = await locate(trees, request, {
    after: request.after,
    skip: skipOf(request),
    take,
  });
  const { stretches, skip, end } = location;
  // One more, as a stretch begins with the place itself.
  const most = accept ? Number.POSITIVE_INFINITY : skip + take + 1;
  const found = await Promise.all(
    stretches.flatMap(({ partitions, ...range }) =>
      [...partitions].map((partition) => collect(entriesOf(partition, request, range, most), most)),
    ),
  );
  const entries = inOrder(found, request)
    .filter((entry) => isAfter(request)(entry) && (accept?.(entry) ?? true))
    .slice(skip, skip + take);
  const page = toPage(entries, request);
  // Fewer than were counted: some have just gone, and there may be more behind.
  return entries.length <= request.limit ? { ...page, next: end } : page;
}

function entriesOf(
  { scope, value }: Partition,
  { order, descending }: Sorting,
  range: KeyRange,
  pageSize: number,
): AsyncGenerator<Entry[]> {
  return queryIndex(`${scope}-by-${order}`, value, { descending, range, pageSize });
}

/** Partitions merged into one order. */
function inOrder(found: readonly Entry[][], sorting: Sorting): Entry[] {
  const [only = [], ...more] = found;
  return more.length === 0 ? only : found.flat().sort(byPlace(sorting));
}

function skipOf({ offset, after }: PageRequest): number {
  return after === undefined ? offset : 0;
}

function rangeFrom({ after, descending }: PageRequest): KeyRange {
  return descending ? { high: after } : { low: after };
}

function isAfter({ order, after }: PageRequest): (entry: Entry) => boolean {
  return (entry) => sortKeyIn(entry, order) !== after;
}

function toPage(entries: readonly Entry[], { limit, order }: PageRequest): Page {
  const last = entries[limit - 1];
  return {
    entries: entries.slice(0, limit),
    ...(entries.length > limit && last && { next: sortKeyIn(last, order) }),
  };
}
