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

/** The spans that may hold the page. */
interface Window {
  spans: readonly Span[];
  skip: number;
  /** Whether the first span is the first of the list, and the last one the last. */
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
 * holds also what is not counted yet, of every partition.
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
    const next = narrow(spans, { ...wanted, skip: window.skip });
    // What was counted a level above has just gone, but not what lies behind it.
    if (next.spans.length === 0 && !window.isEnd) {
      return { stretches: [], skip: 0, end: endOf(window) };
    }
    window = {
      ...next,
      isStart: window.isStart && next.isStart,
      isEnd: window.isEnd && next.isEnd,
    };
  }
  return {
    stretches: openEnds(stretchesOf(window.spans)),
    skip: window.skip,
    end: window.isEnd ? undefined : endOf(window),
  };

  /** A node of each tree costs half a unit: a span is opened only if reading all of it would waste more. */
  function spansToOpen({ spans }: Window): Set<Span> {
    return new Set(
      spans.filter(({ path, parts, matching, all }, i) => {
        if (matching === 0 || isLeaf(order, path)) return false;
        const isEdge = i === 0 || i === spans.length - 1;
        const wasted = isEdge ? all : (all - matching) / 2;
        return wasted > entriesPerHalfUnit * parts.length;
      }),
    );
  }

  /** The nodes of the spans, but not those again that hold a level above as well (`nodeKey`). */
  async function readNodes(spans: readonly Span[]): Promise<void> {
    const keys = spans
      .flatMap(({ path, parts }) => parts.map(({ tree }) => nodeKey(tree.list, order, path)))
      .filter((key) => !nodes.has(keyString(key)));
    const batches = Array.from({ length: Math.ceil(keys.length / 100) }, (_, i) =>
      batchGet(keys.slice(i * 100, (i + 1) * 100)),
    );
    const found = await Promise.all(batches);
    for (const [key, item] of found.flatMap((items) => [...items])) nodes.set(key, item);
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

  /** The spans that hold the page, from the first to the last, with what does not match in between. */
  function narrow(spans: readonly Span[], { after, skip, take }: Wanted): Window {
    const kept: Span[] = [];
    let before = skip;
    let sure = 0;
    let isStart = true;
    for (const [i, span] of spans.entries()) {
      const reach = after === undefined ? 'beyond' : reachOf(span, after);
      if (reach === 'before' || (kept.length === 0 && before >= span.matching)) {
        if (reach !== 'before') before -= span.matching;
        isStart = false;
        continue;
      }
      kept.push(span);
      if (reach === 'beyond') sure += span.matching;
      if (sure - before >= take) {
        const isEnd = !spans.slice(i + 1).some(({ matching }) => matching > 0);
        return { spans: kept, skip: before, isStart, isEnd };
      }
    }
    return { spans: kept, skip: before, isStart, isEnd: true };
  }

  function reachOf({ path }: Span, after: SortKey): 'before' | 'around' | 'beyond' {
    const { low, high } = boundsOf(order, path);
    if (descending) return low >= after ? 'before' : high >= after ? 'around' : 'beyond';
    return high <= after ? 'before' : low <= after ? 'around' : 'beyond';
  }

  function stretchesOf(spans: readonly Span[]): Stretch[] {
    const stretches: Stretch[] = [];
    let between = Number.POSITIVE_INFINITY;
    for (const { path, parts, matching, all } of spans) {
      if (matching === 0) {
        between += all;
        continue;
      }
      const { low, high } = boundsOf(order, path);
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
    const isOpen = after !== undefined || window.isStart;
    const all = trees.map(({ partition }) => partition);
    if (stretches.length === 0 && isOpen) stretches.push({ partitions: new Set() });
    const [first, last] = [stretches[0], stretches.at(-1)];
    if (first && isOpen) {
      if (descending) first.high = after;
      else first.low = after;
      first.partitions = new Set(all);
    }
    if (last && window.isEnd) {
      if (descending) last.low = undefined;
      else last.high = undefined;
      last.partitions = new Set(all);
    }
    return stretches;
  }

  function endOf({ spans }: Window): SortKey | undefined {
    const last = spans.at(-1);
    if (!last) return undefined;
    const { low, high } = boundsOf(order, last.path);
    return descending ? low : high;
  }
}
