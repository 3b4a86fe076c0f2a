import type { Order } from '../table/definition.ts';
import type { Item, Key, SortKey } from '../table/item.ts';
import { firstRank, rankStep, rankTreeKey } from '../table/keys.ts';

/**
 * A rank tree (order-statistic tree) counts the entries of a list by where they stand in its order, because an index knows order and
 * not rank. A node is one item with a counter for each child and content: walking down and subtracting counters finds any offset, and the
 * counters of the root add up to the length of the list.
 *
 * The tree by date has three levels: block (21 days), slot (4 hours) and minute, which is a leaf. 128 slots to a block keep a busy node
 * near 2 KB, two write units, and the root below that for seven years.
 *
 * The tree by popularity has three levels too: value, block and slot, which is a leaf here. Popular values are few: beyond 64 the children
 * of the root are spans of values, 32 to each doubling, that are leaves themselves. An entry without popularity, as most are and every
 * new one is, stays out of this tree: its part of the order is the tree by date less the counters there of what has a popularity.
 */
const minute = 60_000;
const minutesPerSlot = 240;
const slotsPerBlock = 128;
const exactBits = 6;

/** Marks the counters of the root that are of values. */
const valueMark = 'v';

/** So many entries, 9.5 read units, may be read and skipped instead of counted: lists of this length have no tree. */
export const leafCapacity = 400;

/** Entries that fit the least that a read costs, half a unit. */
export const entriesPerHalfUnit = 20;

/** What an entry is counted as: a review with these parts, where it matters with its stars, or a user. */
export type Content = Part | `${'rating' | 'both'}${Stars}` | 'user';

type Part = 'text' | 'rating' | 'both';

/** A rating as it stands behind a content. */
export type Stars = '1' | '2' | '3' | '4' | '5';

const allStars: readonly Stars[] = ['1', '2', '3', '4', '5'];

const letters = new Map<Content, string>([
  ['text', 't'],
  ['rating', 'r'],
  ['both', 'b'],
  ['user', 'u'],
  ...allStars.flatMap((stars): [Content, string][] => [
    [`rating${stars}`, `r${stars}`],
    [`both${stars}`, `b${stars}`],
  ]),
]);

/** Where an entry stands: epoch ms, and positive minus negative votes. */
export interface Place {
  time: number;
  popularity: number;
}

/**
 * A counter of a node: the item, and the attribute `<child><letter>`, in the root also `v<value><letter>`. The letter is a capital in the
 * tree by date where only what has a popularity counts. Stars follow it in the trees that tell them apart.
 */
export interface Counter {
  key: Key;
  attribute: string;
}

/** How many entries of one content a child of a node has. */
export interface Count {
  child: number;
  content: Content;
  count: number;
}

/** The counters that an entry increments in one list's trees. */
export function countersOf(list: string, content: Content, { time, popularity }: Place): Counter[] {
  const letter = letters.get(content) ?? '';
  const when = datePath(time);
  const along = (order: Order, path: readonly number[], letter: string) =>
    path.map((child, depth) => ({
      key: nodeKey(list, order, path.slice(0, depth)),
      attribute: `${order === 'popularity' && depth === 0 ? valueMark : ''}${child}${letter}`,
    }));
  if (popularity === 0) return along('date', when, letter);
  const value = spanOf(popularity);
  const [block, slot] = when;
  return [
    ...along('date', when, letter),
    ...along('date', when, letter.toUpperCase()),
    ...along('popularity', widthOf(value) === 1 ? [value, block, slot] : [value], letter),
  ];
}

/** The item of a node; a path leads from the root, which both trees share, by the numbers of children. */
export function nodeKey(list: string, order: Order, path: readonly number[]): Key {
  if (path.length === 0) return rankTreeKey(list, 'root', path);
  const [value, ...when] = path;
  if (order === 'popularity' && value === 0) return nodeKey(list, 'date', when);
  return rankTreeKey(list, order, path);
}

/** Whether a node is one of the upper two levels, which hold much of what happens at a time in common. */
export function isUpper({ sk }: Key): boolean {
  return sk.split('#').length <= 2;
}

/** The counts of a node, from its item; those of zero are left out. */
export function countsIn(order: Order, path: readonly number[], item: Item | undefined): Count[] {
  const isRoot = path.length === 0;
  const isOfNone = order === 'popularity' && (isRoot || path[0] === 0);
  const counts = new Map<string, Count>();
  for (const name in item) {
    const at = name.length - (name.charAt(name.length - 1) <= '9' ? 2 : 1);
    const letter = name.slice(at);
    const content = contents.get(letter.toLowerCase());
    if (content === undefined || name === 'pk' || name === 'sk') continue;
    const isValue = name.startsWith(valueMark);
    const isPopular = letter !== letter.toLowerCase();
    // The root holds counters of both trees.
    if (isValue && !(order === 'popularity' && isRoot)) continue;
    if (isPopular && !isOfNone) continue;
    // In the order by popularity all blocks of the root are one child: those without popularity.
    const child = isValue ? name.slice(1, at) : isRoot && isOfNone ? 0 : name.slice(0, at);
    const id = `${child}${content}`;
    const known = counts.get(id) ?? { child: Number(child), content, count: 0 };
    known.count += (isPopular ? -1 : 1) * Number(item[name]);
    counts.set(id, known);
  }
  return [...counts.values()].filter(({ count }) => count > 0);
}

/** Whether a node has no children: what is in it is found by reading the index. */
export function isLeaf(order: Order, path: readonly number[]): boolean {
  const [value = 0] = path;
  if (order === 'date') return path.length === 3;
  return value === 0 ? path.length === 4 : widthOf(value) > 1 || path.length === 3;
}

/** The sort keys of the entries in a node, the second excluded by date. */
export function boundsOf(order: Order, path: readonly number[]): { low: SortKey; high: SortKey } {
  if (order === 'date') {
    const [from, to] = timesOf(path);
    // A sort key is a time and an id, so that none is equal to the time alone.
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

/** The children that lead to a time, in epoch ms, in a tree by date. */
export function datePath(time: number): [block: number, slot: number, minute: number] {
  const minutes = Math.floor(time / minute);
  const slots = Math.floor(minutes / minutesPerSlot);
  return [Math.floor(slots / slotsPerBlock), slots % slotsPerBlock, minutes % minutesPerSlot];
}

const contents = new Map([...letters].map(([content, letter]) => [letter, content]));

/** The first of the values that share a child with this one. */
function spanOf(popularity: number): number {
  const width = widthOf(popularity);
  return Math.floor(popularity / width) * width;
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
