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

/** The page to read: after an offset, or after a sort key. */
export interface PageRequest extends Sorting {
  limit: number;
  offset: number;
  after?: SortKey;
}

/** Filter that all partitions of a list share. */
interface Filter {
  /** Absent where all entries match. */
  accept?: (entry: Entry) => boolean;
  /** Estimated share of entries that are accepted, from 0 to 1. It sets the page size of reads. */
  selectivity?: number;
}

/** A list in a single partition. */
export interface NearList extends Filter {
  partition: Partition;
}

/** A list and its partitions. */
export interface List extends Filter {
  /** Partitions that together hold all entries. */
  partitions: readonly Partition[];
  /** Rank trees of the list. Absent if the list is short enough to be read up to any offset. */
  trees?: readonly Tree[];
}

/** Entries, and the sort key after which the next page begins. The last page has no `next`. */
export interface ListPage {
  entries: Entry[];
  next?: SortKey;
}

/**
 * Reads a page. A page near the start of a single partition is read from the index alone. Other
 * pages are found by rank trees, if the list has any. `near` is the partition, if it is known
 * before the list.
 */
export async function readPage(
  list: List | Promise<List>,
  request: PageRequest,
  near?: NearList,
): Promise<ListPage> {
  const [page, { partitions, trees, ...filter }] = await Promise.all([
    request.limit === 0 ? { entries: [] } : readNearPage(near ?? asNearList(await list), request),
    list,
  ]);
  if (page) return page;
  if (trees) return readByRank(filter, trees, request);
  const perPartition = await Promise.all(
    partitions.map((partition) => readFirst({ partition, ...filter }, request)),
  );
  return toPage(inOrder(perPartition, request).slice(skipOf(request)), request);
}

/**
 * Returns a list with trees in one partition. A list without trees is short and read as a whole.
 */
function asNearList({ partitions: [partition, ...more], trees, ...filter }: List) {
  return partition && more.length === 0 && trees ? { partition, ...filter } : undefined;
}

/**
 * Reads the page from the start of its partition. Returns undefined if that takes many more entries
 * than may be skipped, and reads nothing if that is likely.
 */
async function readNearPage(
  list: NearList | undefined,
  request: PageRequest,
): Promise<ListPage | undefined> {
  if (!list) return undefined;
  const skip = skipOf(request);
  // The 2 are the entry of the cursor and the first entry of the next page. A list with a filter
  // has several trees, which cost more units and round trips than one.
  const most = (list.accept ? 2 : 1) * leafCapacity + request.limit + 2;
  if (skip > leafCapacity || entriesToRead(skip + request.limit + 1, list) > most) return undefined;
  const entries = await readFirst(list, request, most);
  const isComplete = entries.length > skip + request.limit || entries.isAll;
  return isComplete ? toPage(entries.slice(skip), request) : undefined;
}

/**
 * Reads accepted entries of a partition, from its start or the cursor: enough for the page and one
 * more, out of about `most` entries.
 */
async function readFirst(
  list: NearList,
  request: PageRequest,
  most = Number.POSITIVE_INFINITY,
): Promise<Entry[] & { isAll: boolean }> {
  const { partition, accept = () => true } = list;
  const wanted = skipOf(request) + request.limit + 1;
  // One more for the entry of the cursor.
  const pageSize = Math.min(entriesToRead(wanted, list) + 1, most);
  const range = rangeFrom(request);
  const entries: Entry[] = [];
  let read = 0;
  for await (const page of entriesOf(partition, request, range, pageSize)) {
    entries.push(...page.filter((entry) => isAfter(request)(entry) && accept(entry)));
    read += page.length;
    // A page that is not full is the last page.
    const isTooFar = page.length >= pageSize && read + pageSize > most;
    if (entries.length >= wanted || isTooFar) return Object.assign(entries, { isAll: false });
  }
  return Object.assign(entries, { isAll: true });
}

/**
 * Returns the number of entries to read for `wanted` matches. Three standard deviations make it too
 * low only once in 1,000 reads.
 */
function entriesToRead(wanted: number, { selectivity = 1 }: Filter): number {
  return selectivity < 1 ? Math.ceil((wanted + 3 * Math.sqrt(wanted)) / selectivity) : wanted;
}

async function readByRank(
  { accept }: Filter,
  trees: readonly Tree[],
  request: PageRequest,
): Promise<ListPage> {
  const { after } = request;
  const take = request.limit + 1;
  const window = await descend(trees, request, { after, skip: skipOf(request), take });
  const { skip, end } = window;
  // One more, because a range begins with the entry of the cursor.
  const most = accept ? Number.POSITIVE_INFINITY : skip + take + 1;
  const perPartition = await Promise.all(
    rangesToRead(window, trees, request, after).flatMap(({ partitions, ...range }) =>
      [...partitions].map((partition) => collect(entriesOf(partition, request, range, most), most)),
    ),
  );
  const entries = inOrder(perPartition, request)
    .filter((entry) => isAfter(request)(entry) && (accept?.(entry) ?? true))
    .slice(skip, skip + take);
  const page = toPage(entries, request);
  // Fewer entries than counted: some were just deleted, and more may follow.
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

function inOrder(perPartition: readonly Entry[][], sorting: Sorting): Entry[] {
  const [only = [], ...more] = perPartition;
  return more.length === 0 ? only : perPartition.flat().sort(byPlace(sorting));
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

function toPage(entries: readonly Entry[], { limit, order }: PageRequest): ListPage {
  const last = entries[limit - 1];
  return {
    entries: entries.slice(0, limit),
    ...(entries.length > limit && last && { next: sortKeyIn(last, order) }),
  };
}
