import { batchGet, type Item, keyString } from '../table/batch.ts';
import type { Scope } from '../table/definition.ts';
import type { KeyRange, Sorting, SortKey } from '../table/query.ts';
import {
  boundsOf,
  type Content,
  countsIn,
  entriesPerHalfUnit,
  isLeaf,
  nodeKey,
} from './rank-tree.ts';

/** One partition of an index scope, such as all reviews of an entity. */
export interface Partition {
  scope: Scope;
  value: string;
}

/** A rank tree of a list, and where the entries lie that it counts. */
export interface Tree {
  list: string;
  partition: Partition;
  /** The contents that are asked for; none where the tree only tells how many other entries lie between. */
  contents: ReadonlySet<Content>;
}

/** A part of the order to read, of the partitions that have some of it. */
export interface Stretch extends KeyRange {
  partitions: Set<Partition>;
}

/** Where a page lies: `skip` entries that match stand before it in the first stretch. */
export interface Location {
  stretches: Stretch[];
  skip: number;
  /** The last place that the stretches reach to; undefined when that is the end of the list. */
  end: SortKey | undefined;
}

/** A node of all trees at once, with the trees that count something in it. */
interface Span {
  path: readonly number[];
  parts: readonly { tree: Tree; matching: number }[];
  /** Entries that match, and all. */
  matching: number;
  all: number;
}

/** The spans that may hold the page; at an end of the list also those outside it, which do not match. */
interface Window {
  spans: readonly Span[];
  skip: number;
  /** Whether the first span is the first of the list or after a place, and the last one the last of the list. */
  isStart: boolean;
  isEnd: boolean;
}

/** Which page is looked for: `take` entries after `skip` of them, or after a place. */
interface Wanted {
  after?: SortKey;
  skip: number;
  take: number;
}

/**
 * Finds a page by the counters of rank trees: one BatchGetItem a level, and no entry is read. In an order where few entries match, the
 * stretches leave out what lies between. Trees follow the table by a moment: at both ends of the list, and from a place on, a stretch
 * holds also what is not counted yet, of every partition. What is counted there and does not match is left out as well.
 */
export async function locate(
  trees: readonly Tree[],
  sorting: Sorting,
  wanted: Wanted,
): Promise<Location> {
  const { order, descending } = sorting;
  const nodes = new Map<string, Item>();
  const parts = trees.map((tree) => ({ tree, matching: 1 }));
  const root = { path: [], parts, matching: 1, all: Number.POSITIVE_INFINITY };
  let window: Window = { spans: [root], skip: wanted.skip, isStart: true, isEnd: true };
  for (let open = spansToOpen(window); open.size > 0; open = spansToOpen(window)) {
    await readNodes([...open]);
    const spans = window.spans.flatMap((span) => (open.has(span) ? childrenOf(span) : span));
    const next = narrow({ ...window, spans });
    // What was counted a level above has just gone, but not what lies behind it.
    if (next.spans.length === 0 && !window.isEnd) {
      return { stretches: [], skip: 0, end: endOf(window) };
    }
    window = next;
  }
  return {
    stretches: openEnds(stretchesOf(window)),
    skip: window.skip,
    end: window.isEnd ? undefined : endOf(window),
  };

  /** A node of each tree costs half a unit: a span is opened only if reading all of it would waste more. */
  function spansToOpen(window: Window): Set<Span> {
    const { spans } = window;
    const matching = spans.filter((span) => span.matching > 0);
    const edges = new Set([matching[0], matching.at(-1), ...endsOf(window)]);
    return new Set(
      spans.filter((span) => {
        const isEdge = edges.has(span);
        if ((span.matching === 0 && !isEdge) || isLeaf(order, span.path)) return false;
        return (isEdge ? span.all : (span.all - span.matching) / 2) > costOf(span);
      }),
    );
  }

  /** How many entries may be read for the price of opening a span. */
  function costOf({ parts }: Span): number {
    return entriesPerHalfUnit * parts.length;
  }

  /** The spans beyond which nothing is counted. */
  function endsOf({ spans, isStart, isEnd }: Window): [first?: Span, last?: Span] {
    return [isStart ? spans[0] : undefined, isEnd ? spans.at(-1) : undefined];
  }

  /** The nodes of the spans, but not those again that hold a level above as well (`nodeKey`). */
  async function readNodes(spans: readonly Span[]): Promise<void> {
    const keys = spans
      .flatMap(({ path, parts }) => parts.map(({ tree }) => nodeKey(tree.list, order, path)))
      .filter((key) => !nodes.has(keyString(key)));
    for (const [key, item] of await batchGet(keys)) nodes.set(key, item);
  }

  function childrenOf({ path, parts }: Span): Span[] {
    const children = new Map<number, Span & { parts: { tree: Tree; matching: number }[] }>();
    for (const { tree } of parts) {
      const item = nodes.get(keyString(nodeKey(tree.list, order, path)));
      for (const { child, content, count } of countsIn(order, path, item)) {
        let span = children.get(child);
        if (!span) {
          span = { path: [...path, child], parts: [], matching: 0, all: 0 };
          children.set(child, span);
        }
        let part = span.parts.at(-1);
        if (part?.tree !== tree) {
          part = { tree, matching: 0 };
          span.parts.push(part);
        }
        span.all += count;
        if (!tree.contents.has(content)) continue;
        part.matching += count;
        span.matching += count;
      }
    }
    const sign = descending ? -1 : 1;
    return [...children].sort(([a], [b]) => sign * (a - b)).map(([, span]) => span);
  }

  /** The spans that hold the page, from the first to the last, with what does not match in between and at the ends of the list. */
  function narrow({ spans, skip, isStart, isEnd }: Window): Window {
    const { after, take } = wanted;
    let kept: Span[] = [];
    let isFound = false;
    let before = skip;
    let sure = 0;
    for (const [i, span] of spans.entries()) {
      const reach = after === undefined ? 'beyond' : reachOf(span, after);
      if (reach === 'before') continue;
      if (!isFound && span.matching > 0 && before >= span.matching) {
        before -= span.matching;
        isStart = false;
        kept = [];
        continue;
      }
      isFound ||= span.matching > 0;
      if (isFound || isStart) kept.push(span);
      if (reach === 'beyond') sure += span.matching;
      if (isFound && sure - before >= take) {
        const rest = spans.slice(i + 1);
        if (isEnd && rest.every(({ matching }) => matching === 0)) kept.push(...rest);
        else isEnd = false;
        break;
      }
    }
    return { spans: kept, skip: before, isStart, isEnd };
  }

  function reachOf({ path }: Span, after: SortKey): 'before' | 'around' | 'beyond' {
    const { low, high } = boundsOf(order, path);
    if (descending) return low >= after ? 'before' : high >= after ? 'around' : 'beyond';
    return high <= after ? 'before' : low <= after ? 'around' : 'beyond';
  }

  function stretchesOf(window: Window): Stretch[] {
    const stretches: Stretch[] = [];
    const [start, end] = endsOf(window);
    let between = Number.POSITIVE_INFINITY;
    for (const span of window.spans) {
      const { path, parts, matching, all } = span;
      if (matching === 0 && span !== start && span !== end) {
        between += all;
        continue;
      }
      const { low, high } = boundsOf(order, path);
      // Of an end that does not match and is long, nothing but what lies beyond it.
      if (matching === 0 && all > costOf(span)) {
        const [near, far] = descending ? [high, low] : [low, high];
        if (span === start) stretches.push({ low: near, high: near, partitions: new Set() });
        if (span === end) stretches.push({ low: far, high: far, partitions: new Set() });
        between = Number.POSITIVE_INFINITY;
        continue;
      }
      let last = stretches.at(-1);
      if (!last || between > entriesPerHalfUnit) {
        last = { low, high, partitions: new Set() };
        stretches.push(last);
      } else if (descending) last.low = low;
      else last.high = high;
      for (const { tree, matching } of parts) if (matching > 0) last.partitions.add(tree.partition);
      between = 0;
    }
    return stretches;
  }

  function openEnds(stretches: Stretch[]): Stretch[] {
    const { after } = wanted;
    const all = trees.map(({ partition }) => partition);
    if (stretches.length === 0 && window.isStart) stretches.push({ partitions: new Set() });
    const [first, last] = [stretches[0], stretches.at(-1)];
    if (first && window.isStart) {
      if (descending) first.high = after;
      else first.low = after;
      first.partitions = new Set(all);
    }
    if (last && window.isEnd) {
      if (descending) last.low = undefined;
      else last.high = undefined;
      last.partitions = new Set(all);
    }
    // A place may lie within a long end that does not match.
    return stretches.filter(
      ({ low, high }) => low === undefined || high === undefined || low <= high,
    );
  }

  function endOf({ spans }: Window): SortKey | undefined {
    const last = spans.at(-1);
    if (!last) return undefined;
    const { low, high } = boundsOf(order, last.path);
    return descending ? low : high;
  }
}
