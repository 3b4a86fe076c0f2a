import { leftOf } from '../table/budget.ts';
import type { SortKey } from '../table/item.ts';
import type { Sorting } from '../table/query.ts';
import type { KeyRange } from '../table/storage.ts';
import { costOf, endsOf, type Partition, type Span, type Tree, type Window } from './descend.ts';
import { boundsOf, entriesPerHalfUnit } from './rank-tree.ts';

/** A range of sort keys, and the partitions that have entries in it. */
interface PartitionRange extends KeyRange {
  partitions: Set<Partition>;
}

/**
 * Returns the key ranges to read for a window of spans, in the order of the list. Trees lag behind
 * the table by a moment, so the range at either end of the list is open, in every partition.
 */
export function keyRangesOf(
  window: Window,
  trees: readonly Tree[],
  { order, descending, after }: Sorting & { after?: SortKey },
): PartitionRange[] {
  const ranges = rangesBetweenEnds(window, { order, descending });
  if (ranges.length === 0 && window.isStart) ranges.push({ partitions: new Set() });
  const first = ranges[0];
  const last = ranges.at(-1);
  const all = trees.map(({ partition }) => partition);
  if (first && window.isStart) {
    first[descending ? 'high' : 'low'] = after;
    first.partitions = new Set(all);
  }
  if (last && window.isEnd) {
    last[descending ? 'low' : 'high'] = undefined;
    last.partitions = new Set(all);
  }
  // `after` may lie within a span at the end without matches.
  return ranges.filter(({ low, high }) => low === undefined || high === undefined || low <= high);
}

/** Commands of a request after a page is found: its reviews, their names, and a session. */
const commandsAfter = 6;

/**
 * Returns the first ranges, as many as the request has commands left for, at least one. If some are
 * left out, `end` is the sort key up to which these reach. Fifty matches that lie far apart in
 * several partitions would take more. Their page ends earlier.
 */
export function firstRanges(
  ranges: readonly PartitionRange[],
  { descending }: Pick<Sorting, 'descending'>,
): { ranges: readonly PartitionRange[]; end?: SortKey } {
  let left = leftOf('commands') - commandsAfter;
  const first = ranges.findIndex(({ partitions }) => {
    left -= partitions.size;
    return left < 0;
  });
  if (first === -1) return { ranges };
  const kept = ranges.slice(0, Math.max(1, first));
  const last = kept.at(-1);
  return { ranges: kept, end: descending ? last?.low : last?.high };
}

/** Skips spans without matches, unless skipping them costs more than reading them. */
function rangesBetweenEnds(window: Window, { order, descending }: Sorting): PartitionRange[] {
  const ranges: PartitionRange[] = [];
  const [start, end] = endsOf(window);
  let skipped = Number.POSITIVE_INFINITY;
  for (const span of window.spans) {
    const isEnd = span === start || span === end;
    if (span.matching === 0 && !isEnd) {
      skipped += span.all;
      continue;
    }
    const bounds = boundsOf(order, span.path);
    // A long span without matches at an end is skipped. Only entries beyond it are read.
    if (span.matching === 0 && span.all > costOf(span)) {
      const near = descending ? bounds.high : bounds.low;
      const far = descending ? bounds.low : bounds.high;
      if (span === start) ranges.push({ low: near, high: near, partitions: new Set() });
      if (span === end) ranges.push({ low: far, high: far, partitions: new Set() });
      skipped = Number.POSITIVE_INFINITY;
      continue;
    }
    const partitions = partitionsWithMatches(span);
    const range = ranges.at(-1);
    if (!range || skipped > entriesPerHalfUnit) {
      ranges.push({ ...bounds, partitions });
    } else {
      if (descending) range.low = bounds.low;
      else range.high = bounds.high;
      for (const partition of partitions) range.partitions.add(partition);
    }
    skipped = 0;
  }
  return ranges;
}

function partitionsWithMatches({ parts }: Span): Set<Partition> {
  return new Set(parts.filter(({ matching }) => matching > 0).map(({ tree }) => tree.partition));
}
