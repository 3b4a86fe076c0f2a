import type { Entry, SortKey } from '../table/item.ts';
import {
  byPlace,
  collect,
  type KeyRange,
  queryIndex,
  type Sorting,
  sortKeyIn,
} from '../table/query.ts';
import { descend, type Partition, type Tree } from './descend.ts';
import { rangesToRead } from './ranges.ts';
import { leafCapacity } from './rank-tree.ts';

/** Which page of a list: what comes after an offset, or after a place. */
export interface PageRequest extends Sorting {
  limit: number;
  offset: number;
  after?: SortKey;
}

/** The entries of a list, as far as all of its partitions have them in common. */
interface Filter {
  /** Absent where all entries match. */
  accept?: (entry: Entry) => boolean;
  /** About which part of the entries is accepted, from 0 to 1: it sets how many are read at once. */
  selectivity?: number;
}

/** A list that lies in one partition. */
export interface NearList extends Filter {
  partition: Partition;
}

/** A list, and where its entries lie. */
export interface List extends Filter {
  /** Partitions that have it all. */
  partitions: readonly Partition[];
  /** Rank trees that count it; absent where the list is short enough to be read up to any offset. */
  trees?: readonly Tree[];
}

/** Entries, and the place after which the next page begins; none after the last page. */
export interface Page {
  entries: Entry[];
  next?: SortKey;
}

/**
 * Reads a page: of one partition from its start where the page may be near, else by the rank trees
 * where there are some. `near` is that partition, if it is known before the list is.
 */
export async function readPage(
  list: List | Promise<List>,
  request: PageRequest,
  near?: NearList,
): Promise<Page> {
  const [page, { partitions, trees, ...filter }] = await Promise.all([
    request.limit === 0 ? { entries: [] } : readNearPage(near ?? nearIn(await list), request),
    list,
  ]);
  if (page) return page;
  if (trees) return readByRank(filter, trees, request);
  const found = await Promise.all(
    partitions.map((partition) => readFirst({ partition, ...filter }, request)),
  );
  return toPage(inOrder(found, request).slice(skipOf(request)), request);
}

/** A list with trees that lies in one partition. One without is short, and read as a whole. */
function nearIn({ partitions: [partition, ...more], trees, ...filter }: List) {
  return partition && more.length === 0 && trees ? { partition, ...filter } : undefined;
}

/**
 * The page, if it is found without reading much more than may be skipped. Nothing is read where
 * that is unlikely.
 */
async function readNearPage(
  list: NearList | undefined,
  request: PageRequest,
): Promise<Page | undefined> {
  if (!list) return undefined;
  const skip = skipOf(request);
  // The cursor's entry and the first of the next page besides. Several trees cost more units and
  // round trips than one.
  const most = (list.accept ? 2 : 1) * leafCapacity + request.limit + 2;
  if (skip > leafCapacity || lengthOf(skip + request.limit + 1, list) > most) return undefined;
  const entries = await readFirst(list, request, most);
  const isFound = entries.length > skip + request.limit || entries.isAll;
  return isFound ? toPage(entries.slice(skip), request) : undefined;
}

/** What passes of a partition, from its start or the place on: as much as a page and one more need, of the first `most` entries. */
async function readFirst(
  list: NearList,
  request: PageRequest,
  most = Number.POSITIVE_INFINITY,
): Promise<Entry[] & { isAll: boolean }> {
  const { partition, accept = () => true } = list;
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
function lengthOf(wanted: number, { selectivity = 1 }: Filter): number {
  return selectivity < 1 ? Math.ceil((wanted + 3 * Math.sqrt(wanted)) / selectivity) : wanted;
}

async function readByRank(
  { accept }: Filter,
  trees: readonly Tree[],
  request: PageRequest,
): Promise<Page> {
  const { after } = request;
  const take = request.limit + 1;
  const window = await descend(trees, request, { after, skip: skipOf(request), take });
  const { skip, end } = window;
  // One more, as a range begins with the cursor's own entry.
  const most = accept ? Number.POSITIVE_INFINITY : skip + take + 1;
  const found = await Promise.all(
    rangesToRead(window, trees, request, after).flatMap(({ partitions, ...range }) =>
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
