import type { SortKey } from '../table/item.ts';
import type { KeyRange, Sorting } from '../table/query.ts';
import { costOf, endsOf, type Partition, type Tree, type Window } from './descend.ts';
import { boundsOf, entriesPerHalfUnit } from './rank-tree.ts';

/** A range of sort keys, and the partitions that have entries in it. */
export interface PartitionRange extends KeyRange {
  partitions: Set<Partition>;
}

/**
 * Returns the key ranges to read for a window. Skips ranges without matches, unless skipping costs
 * more than reading them. Trees lag behind the table by a moment. At both ends of the list a range
 * therefore stays open, in every partition.
 */
export function rangesToRead(
  window: Window,
  trees: readonly Tree[],
  sorting: Sorting,
  after: SortKey | undefined,
): PartitionRange[] {
  const ranges = rangesOf(window, sorting);
  const all = trees.map(({ partition }) => partition);
  if (ranges.length === 0 && window.isStart) ranges.push({ partitions: new Set() });
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first && window.isStart) {
    if (sorting.descending) first.high = after;
    else first.low = after;
    first.partitions = new Set(all);
  }
  if (last && window.isEnd) {
    if (sorting.descending) last.low = undefined;
    else last.high = undefined;
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
