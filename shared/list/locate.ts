import { boundsOf, forEachCount, isLeaf, isSlot } from '../feed/calendar.ts';
import { batchGet, type Item, keyString } from '../table/batch.ts';
import { calendarKey, type Key } from '../table/keys.ts';
import {
  type Bounds,
  limits,
  type Partition,
  type Sorting,
  type SortValue,
} from '../table/read-entries.ts';

/** The calendar of a list, and where the entries lie that it counts. */
export interface Calendar {
  list: string;
  partition: Partition;
  /** First letters of the kinds that are asked for; none for a calendar that only tells where other entries lie. */
  kinds: string;
}

/** A stretch of the order in which nearly nothing but what is asked for lies. */
export interface Stretch extends Bounds {
  /** Those that have some of it. */
  partitions: Set<Partition>;
}

/** Where a page lies: `skip` entries that match stand before it in the first stretch. */
export interface Location {
  stretches: Stretch[];
  skip: number;
  /** The last place that the stretches reach to; undefined when that is the end of the list. */
  end: SortValue | undefined;
}

/** How many entries of one calendar in one node match. */
interface Part {
  calendar: Calendar;
  matching: number;
}

/** A node of all calendars at once. */
interface Span {
  path: readonly number[];
  parts: readonly Part[];
  matching: number;
  /** With those that do not match. */
  all: number;
  /** Set for what can no longer be divided. */
  isWhole?: boolean;
}

/**
 * Finds the page of `take` entries after `skip` of them, or after a place, by the counts of calendars: one BatchGetItem a level, and
 * no entry is read. In an order where few entries match, the stretches leave out what lies between.
 */
export async function locate(
  calendars: readonly Calendar[],
  sorting: Sorting,
  { after, skip, take }: { after?: SortValue; skip: number; take: number },
): Promise<Location> {
  const parts = calendars.map((calendar) => ({ calendar, matching: 1 }));
  let window: Window = {
    spans: [{ path: [], parts, matching: 1, all: Number.POSITIVE_INFINITY }],
    skip,
    isEnd: true,
  };
  for (let open = spansToDivide(); open.size > 0; open = spansToDivide()) {
    const nodes = await readNodes(
      [...open].flatMap(({ path, parts }) => parts.map(({ calendar }) => keyOf(calendar, path))),
    );
    const spans = window.spans.flatMap((span) => (open.has(span) ? split(span, nodes) : [span]));
    const next = narrow(spans, { after, skip: window.skip, take });
    // What was counted a level above has just gone, but not what lies behind it.
    if (next.spans.length === 0) return { stretches: [], skip: 0, end: endOf(window) };
    window = { ...next, isEnd: window.isEnd && next.isEnd };
  }
  return { stretches: stretchesOf(window.spans), skip: window.skip, end: endOf(window) };

  function endOf({ spans, isEnd }: Window): SortValue | undefined {
    const last = spans.at(-1);
    if (isEnd || !last) return undefined;
    const { low, high } = boundsOf(sorting.order, last.path);
    return sorting.descending ? low : high;
  }

  /**
   * A node of each calendar costs half a unit: what is few is rather read than divided, and so is what the page has in its middle, and a
   * slot that is no larger than usual.
   */
  function spansToDivide(): Set<Span> {
    const { spans } = window;
    return new Set(
      spans.filter(({ path, parts, matching, all, isWhole = false }, i) => {
        if (matching === 0 || isWhole || isLeaf(sorting.order, path)) return false;
        if (isSlot(sorting.order, path)) return all > limits.skipped;
        const isEdge = i === 0 || i === spans.length - 1;
        const wasted = isEdge ? all : (all - matching) / 2;
        return wasted > limits.halfUnit * parts.length;
      }),
    );
  }

  function keyOf({ list }: Calendar, path: readonly number[]): Key {
    return calendarKey(list, sorting.order, path);
  }

  function split(span: Span, nodes: ReadonlyMap<string, Item>): Span[] {
    const { path, parts } = span;
    const spans = new Map<number, Span & { parts: Part[] }>();
    for (const { calendar } of parts) {
      forEachCount(nodes.get(keyString(keyOf(calendar, path))), (child, kind, count) => {
        let within = spans.get(child);
        if (!within) {
          within = { path: [...path, child], parts: [], matching: 0, all: 0 };
          spans.set(child, within);
        }
        let part = within.parts.at(-1);
        if (part?.calendar !== calendar) {
          part = { calendar, matching: 0 };
          within.parts.push(part);
        }
        within.all += count;
        if (calendar.kinds.includes(kind)) {
          part.matching += count;
          within.matching += count;
        }
      });
    }
    // As long as a slot is being divided, not all of it is in its minutes.
    const divided = [...spans.values()].reduce((sum, { all }) => sum + all, 0);
    if (divided < span.all && isSlot(sorting.order, path)) return [{ ...span, isWhole: true }];
    const sign = sorting.descending ? -1 : 1;
    return [...spans].sort(([a], [b]) => sign * (a - b)).map(([, span]) => span);
  }

  /** Those of the spans that hold the page, from the first to the last, with what does not match in between. */
  function narrow(
    spans: readonly Span[],
    { after, skip, take }: { after?: SortValue; skip: number; take: number },
  ): Window {
    const kept: Span[] = [];
    let before = skip;
    let sure = 0;
    for (const [i, span] of spans.entries()) {
      const reach = after === undefined ? 'beyond' : reachOf(span, after);
      if (reach === 'before') continue;
      if (kept.length === 0 && before >= span.matching) {
        before -= span.matching;
        continue;
      }
      kept.push(span);
      if (reach === 'beyond') sure += span.matching;
      if (sure - before >= take) {
        const isEnd = !spans.slice(i + 1).some(({ matching }) => matching > 0);
        return { spans: kept, skip: before, isEnd };
      }
    }
    return { spans: kept, skip: before, isEnd: true };
  }

  function reachOf({ path }: Span, after: SortValue): 'before' | 'around' | 'beyond' {
    const { low, high } = boundsOf(sorting.order, path);
    if (sorting.descending) return low >= after ? 'before' : high >= after ? 'around' : 'beyond';
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
      const { low, high } = boundsOf(sorting.order, path);
      let last = stretches.at(-1);
      if (!last || between > limits.halfUnit) {
        last = { low, high, partitions: new Set() };
        stretches.push(last);
      } else if (sorting.descending) last.low = low;
      else last.high = high;
      for (const part of parts) if (part.matching > 0) last.partitions.add(part.calendar.partition);
      between = 0;
    }
    return stretches;
  }
}

interface Window {
  spans: readonly Span[];
  skip: number;
  /** Whether nothing that matches lies behind. */
  isEnd: boolean;
}

async function readNodes(keys: readonly Key[]): Promise<Map<string, Item>> {
  const batches = Array.from({ length: Math.ceil(keys.length / 100) }, (_, i) =>
    batchGet(keys.slice(i * 100, (i + 1) * 100)),
  );
  const items = await Promise.all(batches);
  return new Map(items.flatMap((found) => [...found]));
}
