import type { Entry, SortKey } from '../table/item.ts';
import {
  byPlace,
  collect,
  type KeyRange,
  queryIndex,
  type Sorting,
  sortKeyIn,
} from '../table/query.ts';
import { costOf, descend, endsOf, type Partition, type Tree, type Window } from './descend.ts';
import { boundsOf, entriesPerHalfUnit, leafCapacity } from './rank-tree.ts';

export interface PageRequest extends Sorting {
  limit: number;
  offset: number;
  after?: SortKey;
}

interface Filter {
  /** Absent where all entries match. */
  accept?: (entry: Entry) => boolean;
  /** Estimated share of entries that are accepted, from 0 to 1. It sets the page size of reads. */
  selectivity?: number;
}

export interface NearList extends Filter {
  partition: Partition;
}

export interface List extends Filter {
  /** Partitions that together hold all entries. */
  partitions: readonly Partition[];
  /** Rank trees of the list. Absent if the list is short enough to be read up to any offset. */
  trees?: readonly Tree[];
}

/** Entries, and the sort key after which the next page begins; the last page has no `next`. */
export interface ListPage {
  entries: Entry[];
  next?: SortKey;
}

/**
 * Reads a page near the start of a single partition from the index alone. Other pages are found by
 * rank trees, if the list has any. `near` is the partition, if it is known before the list.
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

/** Returns a list with trees in one partition. A list without trees is short, and read whole. */
function asNearList({ partitions: [partition, ...more], trees, ...filter }: List) {
  return partition && more.length === 0 && trees ? { partition, ...filter } : undefined;
}

/**
 * Reads the page from the start of its partition. Returns undefined if that takes many more entries
 * than may be skipped, and reads nothing if that is likely.
 */
async function readNearPage(list: NearList | undefined, request: PageRequest) {
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

/** Reads accepted entries, enough for the page and one more, of about `most` in the partition. */
async function readFirst(list: NearList, request: PageRequest, most = Number.POSITIVE_INFINITY) {
  const { partition, accept = () => true } = list;
  const wanted = skipOf(request) + request.limit + 1;
  // One more for the entry of the cursor.
  const pageSize = Math.min(entriesToRead(wanted, list) + 1, most);
  const range = request.descending ? { high: request.after } : { low: request.after };
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

/** Three standard deviations more than expected are too few once in 1,000 reads. */
function entriesToRead(wanted: number, { selectivity = 1 }: Filter): number {
  return selectivity < 1 ? Math.ceil((wanted + 3 * Math.sqrt(wanted)) / selectivity) : wanted;
}

async function readByRank({ accept }: Filter, trees: readonly Tree[], request: PageRequest) {
  const { after } = request;
  const take = request.limit + 1;
  const window = await descend(trees, request, { after, skip: skipOf(request), take });
  const { skip, end } = window;
  // One more, because a range begins with the entry of the cursor.
  const most = accept ? Number.POSITIVE_INFINITY : skip + take + 1;
  const perPartition = await Promise.all(
    rangesToRead(window, trees, request).flatMap(({ partitions, ...range }) =>
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

/** A range of sort keys, and the partitions that have entries in it. */
interface PartitionRange extends KeyRange {
  partitions: Set<Partition>;
}

/**
 * Returns the key ranges to read for a window. Skips ranges without matches, unless skipping costs
 * more than reading. Trees lag behind the table by a moment, so a range stays open in every
 * partition at both ends of the list.
 */
function rangesToRead(window: Window, trees: readonly Tree[], request: PageRequest) {
  const ranges = rangesOf(window, request);
  const [near, far] = request.descending ? (['high', 'low'] as const) : (['low', 'high'] as const);
  const all = trees.map(({ partition }) => partition);
  if (ranges.length === 0 && window.isStart) ranges.push({ partitions: new Set() });
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first && window.isStart) {
    first[near] = request.after;
    first.partitions = new Set(all);
  }
  if (last && window.isEnd) {
    last[far] = undefined;
    last.partitions = new Set(all);
  }
  // `after` may lie within a span at the end without matches.
  return ranges.filter(({ low, high }) => low === undefined || high === undefined || low <= high);
}

function rangesOf(window: Window, { order, descending }: Sorting): PartitionRange[] {
  const ranges: PartitionRange[] = [];
  const [start, end] = endsOf(window);
  let between = Number.POSITIVE_INFINITY;
  for (const span of window.spans) {
    const { path, parts, matching, all } = span;
    if (matching === 0 && span !== start && span !== end) {
      between += all;
      continue;
    }
    const { low, high } = boundsOf(order, path);
    // A long span without matches at an end is skipped. Only entries beyond it are read.
    if (matching === 0 && all > costOf(span)) {
      const [near, far] = descending ? [high, low] : [low, high];
      if (span === start) ranges.push({ low: near, high: near, partitions: new Set() });
      if (span === end) ranges.push({ low: far, high: far, partitions: new Set() });
      between = Number.POSITIVE_INFINITY;
      continue;
    }
    let last = ranges.at(-1);
    if (!last || between > entriesPerHalfUnit) {
      last = { low, high, partitions: new Set() };
      ranges.push(last);
    } else if (descending) last.low = low;
    else last.high = high;
    for (const { tree, matching } of parts) if (matching > 0) last.partitions.add(tree.partition);
    between = 0;
  }
  return ranges;
}
