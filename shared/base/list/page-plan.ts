import type { Entry, SortKey } from '../table/item.ts';
import type { Sorting } from '../table/query.ts';
import { entriesToFill, type Partition, type Tree } from './descend.ts';
import type { Nodes } from './nodes.ts';
import { leafCapacity } from './rank-tree.ts';

// The plan of a page: which entries to read, decided before an entry is read.

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

/** Entries to read from the start of each partition, or from the cursor in it. */
export interface NearPage extends Filter {
  partitions: readonly Partition[];
  /** Entries that one Query reads. */
  pageSize: number;
  /** Entries of a partition after which reading stops, even if the page is not complete. */
  most: number;
}

/** The ways to read a page, in the order in which they are tried. */
export interface ListPlan extends Filter {
  /** Ways to read the page from the start of partitions, the cheapest first. */
  near?: readonly NearPage[];
  /** Rank trees, which find any page. Absent if the list is short. */
  trees?: readonly Tree[];
  /** Roots of the trees that are read already, by `keyString`. */
  roots?: Nodes;
  /** Partitions that together hold all entries. A short list is read up to the page. */
  partitions: readonly Partition[];
  /** Set if nothing but the entries of a short list tells how many match. */
  isCounted?: boolean;
}

/** Entries that are read at most to find a page without trees, beside those of the page. */
const mostSkipped = 2 * leafCapacity;

/** Queries that are sent at most to find a page in one partition without trees. */
const mostNear = 8;

/**
 * Returns how to read a page from the start of a partition. With a filter the page may need more
 * entries than are read. Returns undefined if it likely does.
 */
export function nearInOne(
  partition: Partition,
  filter: Filter,
  request: PageRequest,
): NearPage | undefined {
  const skip = skipOf(request);
  // The 2 are the entry of the cursor and the first entry of the next page. A list with a filter
  // has several trees, which cost more units and round trips than one.
  const most = (filter.accept ? mostSkipped : leafCapacity) + request.limit + 2;
  const expected = entriesToRead(skip + request.limit + 1, filter);
  if (skip > leafCapacity || expected > most) return undefined;
  const pageSize = Math.min(expected + 1, most);
  const upTo = Math.min(most, mostNear * pageSize);
  return { partitions: [partition], ...filter, pageSize, most: upTo };
}

/**
 * Returns how to read a page from the start of several partitions, which always reaches it. Returns
 * undefined if that takes too many entries.
 */
export function nearInSeveral(
  partitions: readonly Partition[],
  request: PageRequest,
): NearPage | undefined {
  // One for the entry of the cursor, and one for the first entry of the next page.
  const pageSize = skipOf(request) + request.limit + 2;
  if (pageSize * partitions.length > mostSkipped + request.limit) return undefined;
  return { partitions, pageSize, most: Number.POSITIVE_INFINITY };
}

/**
 * Returns how to read a page of a filtered list from the start of its partitions, if the roots of
 * its trees say that it lies there. Each partition is read as far as if it had the whole page.
 */
export function nearByRoots(
  partitions: readonly Partition[],
  { accept, trees, roots }: Filter & { trees: readonly Tree[]; roots: Nodes },
  request: PageRequest,
): NearPage | undefined {
  const { after, limit } = request;
  const target = { after, skip: skipOf(request), take: limit + 1 };
  const isOne = partitions.length === 1;
  const parts = isOne ? [trees] : trees.map((tree) => [tree]);
  const entries = parts.map((some) => entriesToFill(some, request, target, roots));
  if (entries.reduce((sum, number) => sum + number, 0) > mostSkipped) return undefined;
  // One for the entry of the cursor, and one to see the end.
  const pageSize = Math.max(0, ...entries) + 2;
  return { partitions, accept, pageSize, most: pageSize };
}

/**
 * Returns how many entries to read for so many matches. With three standard deviations more than
 * expected, they are too few once in 1,000 reads.
 */
export function entriesToRead(wanted: number, { selectivity = 1 }: Filter): number {
  return selectivity < 1 ? Math.ceil((wanted + 3 * Math.sqrt(wanted)) / selectivity) : wanted;
}

/** Returns how many entries a page skips: a cursor is a place already. */
export function skipOf({ offset, after }: PageRequest): number {
  return after === undefined ? offset : 0;
}
