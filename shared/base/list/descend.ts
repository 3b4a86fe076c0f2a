import type { IndexScope, Order } from '../table/definition.ts';
import { keyString, type SortKey } from '../table/item.ts';
import type { Sorting } from '../table/query.ts';
import { type Nodes, readNodes } from './nodes.ts';
import {
  boundsOf,
  type Content,
  entriesPerHalfUnit,
  isLeaf,
  leafCapacity,
  levelOf,
  levels,
  type Node,
  nodeKey,
  visitCounters,
} from './rank-tree.ts';

// The search for a page in rank trees, from the root down, without reading entries.

/** One partition of an index scope, such as all reviews of an entity. */
export interface Partition {
  scope: IndexScope;
  value: string;
}

/** A rank tree of a list, and the partition that it counts. */
export interface Tree {
  list: string;
  partition: Partition;
  /** Contents that match. Empty if the tree only counts other entries in between. */
  contents: ReadonlySet<Content>;
}

/** The entries of a span that one tree counts. */
export interface Part {
  tree: Tree;
  matching: number;
  all: number;
}

/** A node at the same path in all trees, with the trees that count entries in it. */
export interface Span {
  path: readonly number[];
  parts: Part[];
  /** Numbers of entries that match, and of all entries at most. */
  matching: number;
  all: number;
}

/** Spans that may hold the page. At an end of the list they include spans without matches. */
export interface Window {
  spans: readonly Span[];
  /** Matching entries before the page, from the first span on. */
  skip: number;
  /** True if the first span is the first of the list, or after `after`. */
  isStart: boolean;
  /** True if the last span is the last of the list. */
  isEnd: boolean;
}

/** The page to find: `take` entries, after `skip` matching ones or the sort key `after`. */
interface PageTarget {
  after?: SortKey;
  skip: number;
  take: number;
}

/**
 * Finds the spans that hold a page by the counters of rank trees, a BatchGetItem a level. Reads no
 * entry. Does not open nodes that cost more than the entries below them. `roots` are nodes that are
 * known already, by `keyString`.
 */
export async function descend(
  trees: readonly Tree[],
  sorting: Sorting,
  target: PageTarget,
  roots?: Nodes,
): Promise<Window & { end: SortKey | undefined }> {
  const { order } = sorting;
  const nodes = new Map<string, Node>(roots);
  const spans = [rootOf(trees)];
  let window: Window = { spans, skip: target.skip, isStart: true, isEnd: true };
  for (let level = 0; ; level++) {
    const due = spansToOpen(window, order, level);
    if (due.size === 0 && level >= levels) break;
    await openSpans(due, order, nodes);
    const spans = window.spans.flatMap((span) =>
      due.has(span) ? childrenOf(span, sorting, nodes) : span,
    );
    const next = narrow({ ...window, spans }, sorting, target);
    // The entries counted a level above were deleted meanwhile, but others may follow them.
    if (next.spans.length === 0 && !window.isEnd) {
      return { ...next, isStart: false, end: endOf(window, sorting) };
    }
    window = next;
  }
  return { ...window, end: window.isEnd ? undefined : endOf(window, sorting) };
}

/**
 * Returns how many entries hold the page for sure, by the roots of its trees. They are counted from
 * the start of the list, or from the sort key `after`.
 */
export function entriesToFill(
  trees: readonly Tree[],
  sorting: Sorting,
  { after, skip, take }: PageTarget,
  roots: Nodes,
): number {
  let certain = -skip;
  let entries = 0;
  for (const span of childrenOf(rootOf(trees), sorting, roots)) {
    const reach = after === undefined ? 'beyond' : reachOf(span, sorting, after);
    if (reach === 'before') continue;
    if (reach === 'beyond') certain += span.matching;
    // A tree without contents counts all entries, also those that match.
    entries += span.parts.find(({ tree }) => tree.contents.size === 0)?.all ?? span.all;
    if (certain >= take) break;
  }
  return entries;
}

/** The whole list as a span of which nothing is known. */
function rootOf(trees: readonly Tree[]): Span {
  const unknown = { matching: 1, all: Number.POSITIVE_INFINITY };
  return { path: [], parts: trees.map((tree) => ({ tree, ...unknown })), ...unknown };
}

/** Returns the spans at the ends of the list. Nothing is counted beyond them. */
export function endsOf({ spans, isStart, isEnd }: Window): [first?: Span, last?: Span] {
  return [isStart ? spans[0] : undefined, isEnd ? spans.at(-1) : undefined];
}

/** Returns how many entries cost as much as opening a span: half a unit for each tree. */
export function costOf(span: Span): number {
  return entriesPerHalfUnit * partsToOpen(span).length;
}

/**
 * Returns the trees to open in a span: those with matches and those that only count the entries in
 * between. A page has few matches, so a level has few nodes, however many trees there are.
 */
function partsToOpen({ parts, matching }: Span): readonly Part[] {
  if (matching === 0) return parts;
  return parts.filter((part) => part.matching > 0 || part.tree.contents.size === 0);
}

/**
 * Returns the spans of a level that are cheaper to open than to read whole. A span that was passed
 * over on an earlier level is small, so opening it is not worth another round trip. It is large
 * only if the entry of the cursor was deleted.
 */
function spansToOpen(window: Window, order: Order, level: number): Set<Span> {
  const { spans } = window;
  const matching = spans.filter((span) => span.matching > 0);
  const edges = new Set([matching[0], matching.at(-1), ...endsOf(window)]);
  return new Set(
    spans.filter((span) => {
      const isEdge = edges.has(span);
      if ((span.matching === 0 && !isEdge) || isLeaf(order, span.path)) return false;
      const ahead = levelOf(order, span.path) - level;
      if (ahead > 0 || (ahead < 0 && span.all <= leafCapacity)) return false;
      return (isEdge ? span.all : (span.all - span.matching) / 2) > costOf(span);
    }),
  );
}

/** Reads the nodes of spans that are not known yet, in one round trip. */
async function openSpans(
  spans: ReadonlySet<Span>,
  order: Order,
  nodes: Map<string, Node>,
): Promise<void> {
  const keys = [...spans]
    .flatMap((span) => partsToOpen(span).map(({ tree }) => nodeKey(tree.list, order, span.path)))
    .filter((key) => !nodes.has(keyString(key)));
  for (const [key, node] of await readNodes(keys)) nodes.set(key, node);
}

function childrenOf(parent: Span, { order, descending }: Sorting, nodes: Nodes) {
  const { path } = parent;
  const opened = partsToOpen(parent);
  // Where they lie in the span is unknown, so each child may have all of them.
  const unopened = parent.parts
    .filter((part) => !opened.includes(part))
    .reduce((sum, { all }) => sum + all, 0);
  const children = new Map<number, Span>();
  for (const { tree } of opened) {
    const item = nodes.get(keyString(nodeKey(tree.list, order, path)));
    for (const [child, part] of partsOf(tree, { order, path, item })) {
      const span = children.get(child) ?? {
        path: [...path, child],
        parts: [],
        matching: 0,
        all: unopened,
      };
      span.parts.push(part);
      span.matching += part.matching;
      span.all += part.all;
      children.set(child, span);
    }
  }
  const sign = descending ? -1 : 1;
  return [...children].sort(([a], [b]) => sign * (a - b)).map(([, span]) => span);
}

/**
 * Counts the entries of each child of a tree's node, without children that have none. A sum is
 * below zero for a moment where deferred counts of a vote are added before those of its review.
 */
function partsOf(
  tree: Tree,
  { order, path, item }: { order: Order; path: readonly number[]; item: Node },
): Map<number, Part> {
  const parts = new Map<number, Part>();
  visitCounters(order, path, item, (child, content, count) => {
    let part = parts.get(child);
    if (!part) {
      part = { tree, matching: 0, all: 0 };
      parts.set(child, part);
    }
    part.all += count;
    if (tree.contents.has(content)) part.matching += count;
  });
  for (const [child, part] of parts) {
    part.matching = Math.max(0, part.matching);
    if (part.all <= 0) parts.delete(child);
  }
  return parts;
}

/** Keeps the spans of the page, and spans without matches at the ends of the list. */
function narrow(
  { spans, skip, isStart, isEnd }: Window,
  sorting: Sorting,
  { after, take }: PageTarget,
): Window {
  let spansOfPage: Span[] = [];
  let isFound = false;
  let before = skip;
  let certain = 0;
  for (const [i, span] of spans.entries()) {
    const reach = after === undefined ? 'beyond' : reachOf(span, sorting, after);
    if (reach === 'before') continue;
    if (!isFound && span.matching > 0 && before >= span.matching) {
      before -= span.matching;
      isStart = false;
      spansOfPage = [];
      continue;
    }
    isFound ||= span.matching > 0;
    if (isFound || isStart) spansOfPage.push(span);
    if (reach === 'beyond') certain += span.matching;
    if (isFound && certain - before >= take) {
      const rest = spans.slice(i + 1);
      if (isEnd && rest.every(({ matching }) => matching === 0)) spansOfPage.push(...rest);
      else isEnd = false;
      break;
    }
  }
  return { spans: spansOfPage, skip: before, isStart, isEnd };
}

/** Tells if a span lies before the sort key `after`, around it or beyond it. */
function reachOf({ path }: Span, { order, descending }: Sorting, after: SortKey) {
  const { low, high } = boundsOf(order, path);
  if (descending ? low >= after : high <= after) return 'before';
  return (descending ? high >= after : low <= after) ? 'around' : 'beyond';
}

function endOf({ spans }: Window, { order, descending }: Sorting): SortKey | undefined {
  const last = spans.at(-1);
  if (!last) return undefined;
  const { low, high } = boundsOf(order, last.path);
  return descending ? low : high;
}
