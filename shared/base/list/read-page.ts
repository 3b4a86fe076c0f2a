import type { Entry, SortKey } from '../table/item.ts';
import { byPlace, collect, queryIndex, type Sorting, sortKeyIn } from '../table/query.ts';
import type { KeyRange } from '../table/storage.ts';
import { descend, type Partition, type Tree } from './descend.ts';
import { firstRanges, keyRangesOf } from './key-ranges.ts';
import {
  entriesToRead,
  type Filter,
  type ListPlan,
  type NearPage,
  type PageRequest,
  skipOf,
} from './page-plan.ts';
import { leafCapacity } from './rank-tree.ts';

// The reads of a page, as its plan says: near the start, by rank trees, or from a short list.

/** Entries, and the sort key after which the next page begins; the last page has no `next`. */
export interface ListPage {
  entries: Entry[];
  next?: SortKey;
  /** The number of all matches, if the plan asked to count them. */
  count?: number;
}

/**
 * Reads a page of a list as its plan says. A way that is known `early` is read beside the plan. The
 * ways of the plan are tried only if this one does not reach the page.
 */
export async function readPage(
  plan: ListPlan | Promise<ListPlan>,
  request: PageRequest,
  early?: NearPage,
): Promise<ListPage> {
  if (request.limit === 0 && !(await plan).isCounted) return { entries: [] };
  const [first, { near = [], trees, roots, partitions, isCounted, ...filter }] = await Promise.all([
    early && readNearPage(early, request),
    plan,
  ]);
  if (first) return first;
  for (const way of near) {
    const page = await readNearPage(way, request);
    if (page) return page;
  }
  if (trees) return readFarPage({ trees, roots }, filter, request);
  return isCounted
    ? countShortList(partitions, filter, request)
    : readShortList(partitions, filter, request);
}

/** Reads a page of a short list in one partition, the newest first. */
export function readNewest(
  partition: Partition,
  limit: number,
  after: SortKey | undefined,
): Promise<ListPage> {
  const newest = { order: 'date', descending: true, offset: 0 } as const;
  return readPage({ partitions: [partition] }, { ...newest, limit, after });
}

/** Reads a page from the start of its partitions. Returns undefined if it lies further down. */
async function readNearPage(near: NearPage, request: PageRequest) {
  const skip = skipOf(request);
  const wanted = skip + request.limit + 1;
  const starts = await readStarts(near, request, wanted);
  const isComplete = starts.every(({ entries, isAll }) => isAll || entries.length >= wanted);
  return isComplete ? toPage(merged(starts, request).slice(skip), request) : undefined;
}

async function readShortList(
  partitions: readonly Partition[],
  filter: Filter,
  request: PageRequest,
): Promise<ListPage> {
  const skip = skipOf(request);
  const wanted = skip + request.limit + 1;
  // One more for the entry of the cursor.
  const pageSize = entriesToRead(wanted, filter) + 1;
  const all = { partitions, ...filter, pageSize, most: Number.POSITIVE_INFINITY };
  const starts = await readStarts(all, request, wanted);
  return toPage(merged(starts, request).slice(skip), request);
}

/** Reads a short list whole, and counts it. */
async function countShortList(
  partitions: readonly Partition[],
  filter: Filter,
  request: PageRequest,
): Promise<ListPage> {
  const most = Number.POSITIVE_INFINITY;
  const all = { partitions, ...filter, pageSize: leafCapacity, most };
  const starts = await readStarts(all, { ...request, after: undefined }, most);
  const entries = merged(starts, request);
  const { order, descending, after } = request;
  const rest =
    after === undefined
      ? entries.slice(request.offset)
      : entries.filter((entry) => {
          const sortKey = sortKeyIn(entry, order);
          return descending ? sortKey < after : sortKey > after;
        });
  return { ...toPage(rest, request), count: entries.length };
}

/** Reads accepted entries of each partition, up to `wanted` and the rest of a Query. */
async function readStarts(
  { partitions, ...start }: NearPage,
  request: PageRequest,
  wanted: number,
): Promise<Start[]> {
  return Promise.all(partitions.map((partition) => readStart(partition, start, request, wanted)));
}

/** Accepted entries from the start of a partition. `isAll` is true at its end. */
interface Start {
  entries: Entry[];
  isAll: boolean;
}

async function readStart(
  partition: Partition,
  { accept = () => true, pageSize, most }: Omit<NearPage, 'partitions'>,
  request: PageRequest,
  wanted: number,
): Promise<Start> {
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

/** Finds the page by rank trees, and reads the key ranges that hold it. */
async function readFarPage(
  { trees, roots }: Pick<ListPlan, 'roots'> & { trees: readonly Tree[] },
  { accept }: Filter,
  request: PageRequest,
): Promise<ListPage> {
  const take = request.limit + 1;
  const target = { after: request.after, skip: skipOf(request), take };
  const window = await descend(trees, request, target, roots);
  const { skip, end } = window;
  // One more, because a range begins with the entry of the cursor.
  const most = accept ? Number.POSITIVE_INFINITY : skip + take + 1;
  const { ranges, end: cutAt = end } = firstRanges(keyRangesOf(window, trees, request), request);
  const perRange = await Promise.all(
    ranges.flatMap(({ partitions, ...range }) =>
      [...partitions].map((partition) => collect(entriesOf(partition, request, range, most), most)),
    ),
  );
  const entries = inOrder(perRange, request)
    .filter((entry) => isAfter(request)(entry) && (accept?.(entry) ?? true))
    .slice(skip, skip + take);
  const page = toPage(entries, request);
  // Fewer entries than counted: some were just deleted or not read yet, and more may follow.
  return page.next === undefined ? { ...page, next: cutAt } : page;
}

function entriesOf(
  { scope, value }: Partition,
  { order, descending }: Sorting,
  range: KeyRange,
  pageSize: number,
): AsyncGenerator<Entry[]> {
  return queryIndex(`${scope}-by-${order}`, value, { descending, range, pageSize });
}

function merged(starts: readonly Start[], sorting: Sorting): Entry[] {
  return inOrder(
    starts.map(({ entries }) => entries),
    sorting,
  );
}

function inOrder(perPartition: readonly Entry[][], sorting: Sorting): Entry[] {
  const [only = [], ...more] = perPartition;
  return more.length === 0 ? only : perPartition.flat().sort(byPlace(sorting));
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
