import type { Order } from '../table/definition.ts';
import { calendarKey, firstRank, type Key, rankStep } from '../table/keys.ts';
import type { Bounds } from '../table/read-entries.ts';

/**
 * A calendar counts the entries of a list by where they stand in its order, so that any place is found by counts and without
 * reading what lies before it. It is a tree: a node is one item with a number for each of its children and each kind of entry
 * in them, and the numbers of the root add up to the length of the list.
 *
 * By date the levels are block (21 days), slot (4 hours) and minute, by popularity they are value, block, slot and minute. Four hours
 * hold 400 entries, about what a descent may read at its end, when a list gains 876,000 a year; and 128 slots to a block keep a busy
 * node near 2 KB, two write units, and the root below that for seven years. Months and days would be three levels for the same.
 * A slot is a leaf until a burst fills it beyond that number; then it is divided, by all lists alike, into minutes: see large-lists.ts.
 * A minute is a leaf however full it is.
 * Popular values are few: beyond 64 the children are spans of values, 32 to each doubling, that are leaves themselves.
 */
const minute = 60_000;
const minutesPerSlot = 240;
const slotsPerBlock = 128;
const exactBits = 6;

/** Where an entry stands: epoch ms, and popularity where the list has that order. */
export interface Place {
  time: number;
  popularity: number;
}

/** One count of a node: the item, and the attribute that holds it. */
export interface Cell {
  key: Key;
  attribute: string;
}

/** The counts that an entry is in, in the calendar of a list. Of the kind the first letter does. */
export function cellsOf(
  list: string,
  order: Order,
  kind: string,
  place: Place,
  isDivided: boolean,
): Cell[] {
  const path = pathOf(order, place);
  const cells = path.map((child, depth) => ({
    key: calendarKey(list, order, path.slice(0, depth)),
    attribute: `${child}${kind.charAt(0)}`,
  }));
  return isDivided ? cells : cells.slice(0, slotDepth(order));
}

/** A slot in the order by date: its node and its parent's, which child of that it is, and the sort values in it. */
export interface Slot {
  list: string;
  parent: Key;
  child: number;
  node: Key;
  bounds: Bounds;
}

/** The slot of a list that this time, in epoch ms, is in. */
export function slotOf(list: string, time: number): Slot {
  const [block, child] = slotPath(time);
  return {
    list,
    parent: calendarKey(list, 'date', [block]),
    child,
    node: calendarKey(list, 'date', [block, child]),
    bounds: boundsOf('date', [block, child]),
  };
}

/** How many entries a node counts, or some of its children. */
export function countIn(
  item: Readonly<Record<string, unknown>> | undefined,
  isCounted: (child: number) => boolean = () => true,
): number {
  let sum = 0;
  forEachCount(item, (child, _, count) => {
    if (isCounted(child)) sum += count;
  });
  return sum;
}

/** The children that lead to the slot of a time, in epoch ms, in the order by date. */
export function slotPath(time: number): [block: number, slot: number] {
  const [block = 0, slot = 0] = pathOf('date', { time, popularity: 0 });
  return [block, slot];
}

/** The counts of a node: calls `visit` with child, first letter of the kind and number for each that is not zero, in no order. */
export function forEachCount(
  item: Readonly<Record<string, unknown>> | undefined,
  visit: (child: number, kind: string, count: number) => void,
): void {
  for (const name in item) {
    const count = Number(item[name]);
    if (name !== 'pk' && name !== 'sk' && count > 0) {
      visit(Number(name.slice(0, -1)), name.slice(-1), count);
    }
  }
}

/** Whether a node is a slot: a leaf, unless it has been divided. */
export function isSlot(order: Order, path: readonly number[]): boolean {
  return path.length === slotDepth(order);
}

/** Whether a node never has children. */
export function isLeaf(order: Order, path: readonly number[]): boolean {
  const isSpan = order === 'popularity' && path[0] !== undefined && widthOf(path[0]) > 1;
  return isSpan || path.length > slotDepth(order);
}

/** The sort values of the entries in a node. */
export function boundsOf(order: Order, path: readonly number[]): Bounds {
  if (order === 'date') {
    const [from, to] = timesOf(path);
    // A sort value is a time and an id, so that none is equal to the time alone.
    return { low: new Date(from).toISOString(), high: new Date(to).toISOString() };
  }
  const [value = 0, ...when] = path;
  if (when.length === 0) {
    const low = BigInt(value) * rankStep;
    return { low, high: low + BigInt(widthOf(value)) * rankStep - 1n };
  }
  const [from, to] = timesOf(when);
  return { low: firstRank(value, from), high: firstRank(value, to) - 1n };
}

function pathOf(order: Order, { time, popularity }: Place): number[] {
  const minutes = Math.floor(time / minute);
  const slots = Math.floor(minutes / minutesPerSlot);
  const when = [Math.floor(slots / slotsPerBlock), slots % slotsPerBlock, minutes % minutesPerSlot];
  if (order === 'date') return when;
  const width = widthOf(popularity);
  return width === 1 ? [popularity, ...when] : [Math.floor(popularity / width) * width];
}

function slotDepth(order: Order): number {
  return order === 'date' ? 2 : 3;
}

/** How many values share a child with this one. Below zero it is the mirror of above, so that spans do not overlap. */
function widthOf(popularity: number): number {
  const bits = 32 - Math.clz32(popularity < 0 ? ~popularity : popularity);
  return 2 ** Math.max(0, bits - exactBits);
}

function timesOf([block = 0, at, within]: readonly number[]): [number, number] {
  const first = (block * slotsPerBlock + (at ?? 0)) * minutesPerSlot + (within ?? 0);
  const length =
    at === undefined ? slotsPerBlock * minutesPerSlot : within === undefined ? minutesPerSlot : 1;
  return [first * minute, (first + length) * minute];
}
