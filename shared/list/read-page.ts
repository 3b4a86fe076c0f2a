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
import { keyRangesOf } from './key-ranges.ts';
import { leafCapacity } from './rank-tree.ts';

// The reads of a page, as its plan says: near the start, by rank trees, or from a short list.

export interface PageRequest extends Sorting {
  limit: number;
  offset: number;
  after?: SortKey;
}

export interface Filter {
  /** Absent where all entries match. */
  accept?: (entry: Entry) => boolean;
  /** Estimated share of entries that are accepted, from 0 to 1. It sets the page size of reads. */
  selectivity?: number;
}

/** Entries to read from the start of a partition, or from the cursor in it. */
export interface PartitionStart extends Filter {
  partition: Partition;
  /** Entries that one Query reads. */
  pageSize: number;
  /** Entries after which reading stops, even if the page is not complete. */
  most: number;
}

/** The ways to read a page, in the order in which they are tried. */
export interface ListPlan extends Filter {
  /** The one partition that holds the list and little else, if the page is near its start. */
  near?: PartitionStart;
  /** Rank trees, which find any page. Absent if the list is short. */
  trees?: readonly Tree[];
  /** Partitions that together hold all entries. A short list is read up to the page. */
  partitions: readonly Partition[];
}

/** Entries, and the sort key after which the next page begins; the last page has no `next`. */
export interface ListPage {
  entries: Entry[];
  next?: SortKey;
}

/**
 * Reads a page of a list as its plan says. A `near` that is known before the plan is read at once.
 * The plan is then used only if `near` does not reach the page.
 */
export async function readPage(
  plan: ListPlan | Promise<ListPlan>,
  request: PageRequest,
  near?: PartitionStart,
): Promise<ListPage> {
  if (request.limit === 0) return { entries: [] };
  const [page, { trees, partitions, ...filter }] = await Promise.all([
    readNearPage(near ?? (await plan).near, request),
    plan,
  ]);
  if (page) return page;
  if (trees) return readFarPage(trees, filter, request);
  return readShortList(partitions, filter, request);
}

/**
 * Returns how to read a page from the start of a partition. Returns undefined if that is likely to
 * take many more entries than may be skipped.
 */
export function nearPageOf(
  partition: Partition,
  filter: Filter,
  request: PageRequest,
): PartitionStart | undefined {
  const skip = skipOf(request);
  // The 2 are the entry of the cursor and the first entry of the next page. A list with a filter
  // has several trees, which cost more units and round trips than one.
  const most = (filter.accept ? 2 : 1) * leafCapacity + request.limit + 2;
  const expected = entriesToRead(skip + request.limit + 1, filter);
  if (skip > leafCapacity || expected > most) return undefined;
  return { partition, ...filter, pageSize: Math.min(expected + 1, most), most };
}

async function readNearPage(near: PartitionStart | undefined, request: PageRequest) {
  if (!near) return undefined;
  const skip = skipOf(request);
  const { entries, isAll } = await readStart(near, request);
  const isComplete = isAll || entries.length > skip + request.limit;
  return isComplete ? toPage(entries.slice(skip), request) : undefined;
}

async function readShortList(
  partitions: readonly Partition[],
  filter: Filter,
  request: PageRequest,
): Promise<ListPage> {
  const skip = skipOf(request);
  // One more for the entry of the cursor.
  const pageSize = entriesToRead(skip + request.limit + 1, filter) + 1;
  const starts = await Promise.all(
    partitions.map((partition) =>
      readStart({ partition, ...filter, pageSize, most: Number.POSITIVE_INFINITY }, request),
    ),
  );
  const entries = inOrder(
    starts.map((start) => start.entries),
    request,
  );
  return toPage(entries.slice(skip), request);
}

/** Reads accepted entries, enough for the page and one more. `isAll` is true at the end. */
async function readStart(
  { partition, accept = () => true, pageSize, most }: PartitionStart,
  request: PageRequest,
): Promise<{ entries: Entry[]; isAll: boolean }> {
  const wanted = skipOf(request) + request.limit + 1;
  const range = request.descending ? { high: request.after } : { low: request.after };
  const entries: Entry[] = [];
  let read = 0;
  for await (const page of entriesOf(partition, request, range, pageSize)) {
    entries.push(...page.filter((entry) => isAfter(request)(entry) && accept(entry)));
    read += page.length;
    // A page that is not full is the last page.
    const isTooFar = page.length >= pageSize && read + pageSize > most;
    if (entries.length >= wanted || isTooFar) return { entries, isAll: false };
  }
  return { entries, isAll: true };
}

/** Three standard deviations more than expected are too few once in 1,000 reads. */
function entriesToRead(wanted: number, { selectivity = 1 }: Filter): number {
  return selectivity < 1 ? Math.ceil((wanted + 3 * Math.sqrt(wanted)) / selectivity) : wanted;
}

/** Finds the page by rank trees, and reads the key ranges that hold it. */
async function readFarPage(
  trees: readonly Tree[],
  { accept }: Filter,
  request: PageRequest,
): Promise<ListPage> {
  const take = request.limit + 1;
  const target = { after: request.after, skip: skipOf(request), take };
  const window = await descend(trees, request, target);
  const { skip, end } = window;
  // One more, because a range begins with the entry of the cursor.
  const most = accept ? Number.POSITIVE_INFINITY : skip + take + 1;
  const perRange = await Promise.all(
    keyRangesOf(window, trees, request).flatMap(({ partitions, ...range }) =>
      [...partitions].map((partition) => collect(entriesOf(partition, request, range, most), most)),
    ),
  );
  const entries = inOrder(perRange, request)
    .filter((entry) => isAfter(request)(entry) && (accept?.(entry) ?? true))
    .slice(skip, skip + take);
  const page = toPage(entries, request);
  // Fewer entries than counted: some were just deleted, and more may follow.
  return page.next === undefined ? { ...page, next: end } : page;
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

function isAfter({ order, after }: PageRequest): (entry: Entry) => boolean {
  return (entry) => sortKeyIn(entry, order) !== after;
}

function toPage(entries: readonly Entry[], { limit, order }: PageRequest): ListPage {
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  if (!last || entries.length <= limit) return { entries: page };
  return { entries: page, next: sortKeyIn(last, order) };
}
