import type { Order } from '../table/definition.ts';
import type { Key, SortKey } from '../table/item.ts';
import { rankTreeKey } from './keys.ts';
import { firstRank, rankStep } from './popularity-rank.ts';

/**
 * A rank tree (order-statistic tree) counts the entries of a list by their places in its order,
 * because an index cannot skip entries. A node is one item with a counter for each child and
 * content. Any offset is found by walking down and subtracting counters. The counters of the root
 * add up to the length of the list.
 *
 * The tree by date has four levels: block (21 days), slot (4 hours), minute and second, which is a
 * leaf. With 128 slots to a block, a busy node stays near 2 KB, which costs two write units. The
 * root stays below 2 KB for seven years. An entity or author takes 50 reviews a second at most,
 * because each changes its counts, and a partition of an index takes 1,000. So a leaf is small.
 *
 * The tree by popularity has three levels too: value, block and slot, which is a leaf here. Values
 * beyond 64 are rare. They share children of the root, 32 ranges of values to each doubling, which
 * are leaves themselves. Entries without popularity stay out of this tree: most entries, and all
 * new ones. Their part of the order is the tree by date minus its counters of entries with a
 * popularity.
 */
const second = 1_000;
const minute = 60 * second;
const minutesPerSlot = 240;
const slotsPerBlock = 128;
const exactBits = 6;

/** Prefix of the root's counters of popularity values. */
const valueMark = 'v';

const nine = '9'.charCodeAt(0);

/** Entries that may be read instead of counted, for 9.5 read units. A longer list gets a tree. */
export const leafCapacity = 400;

/** Entries that half a read unit pays for, the minimum charge. */
export const entriesPerHalfUnit = 20;

const allStars = ['1', '2', '3', '4', '5'] as const;

/** A user, or a review's content, by which an entry is counted. Some trees tell stars apart. */
export type Content =
  | ('user' | 'text' | 'rating' | 'both')
  | `${'rating' | 'both'}${(typeof allStars)[number]}`;

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

const contents = new Map([...letters].map(([content, letter]) => [letter, content]));

/** Contents that a counter counts, by the letters at the end of its name. */
const endings = new Map(
  [...letters].flatMap(([content, letter]) => [
    [letter, { content, isPopular: false }],
    [letter.toUpperCase(), { content, isPopular: true }],
  ]),
);

/** Returns the letter of a content in the attributes of counts, such as `b4` for `both4`. */
export const letterOf = (content: Content): string => letters.get(content) ?? '';

/** Returns the content of a letter, or undefined for anything else. */
export const contentOfLetter = (letter: string): Content | undefined => contents.get(letter);

/** Contents of reviews, with and without stars. */
export const reviewContents = [...letters.keys()].filter((content) => content !== 'user');

/**
 * A counter of a node: an attribute `<child><letter>`, or `v<value><letter>` in the root. A capital
 * letter in the tree by date counts only entries with a popularity. Trees that tell stars apart
 * append the stars.
 */
export interface Counter {
  key: Key;
  attribute: string;
}

/** Attributes of a node. Undefined without entries. */
export type Node = Readonly<Record<string, unknown>> | undefined;

/** Returns the counters in the trees of a list that an entry increments. `time` is epoch ms. */
export function countersOf(
  list: string,
  content: Content,
  { time, popularity }: { time: number; popularity: number },
): Counter[] {
  const letter = letterOf(content);
  const when = datePath(time);
  const counters = (order: Order, path: readonly number[], letter: string) =>
    path.map((child, depth) => ({
      key: nodeKey(list, order, path.slice(0, depth)),
      attribute: `${order === 'popularity' && depth === 0 ? valueMark : ''}${child}${letter}`,
    }));
  if (popularity === 0) return counters('date', when, letter);
  const value = spanOf(popularity);
  const [block, slot] = when;
  return [
    ...counters('date', when, letter),
    ...counters('date', when, letter.toUpperCase()),
    ...counters('popularity', widthOf(value) === 1 ? [value, block, slot] : [value], letter),
  ];
}

/** Returns the key of a node. `path` has the child numbers from the root. Both trees share it. */
export function nodeKey(list: string, order: Order, path: readonly number[]): Key {
  if (path.length === 0) return rankTreeKey(list, 'root', path);
  const [value, ...when] = path;
  if (order === 'popularity' && value === 0) return nodeKey(list, 'date', when);
  return rankTreeKey(list, order, path);
}

/** Is true for the upper two levels, which most concurrent changes share. */
export function isUpper({ pk }: Key): boolean {
  // A list ends in a word or a UUID. What follows are the numbers of the path.
  return !/#-?\d+#-?\d+$/.test(pk);
}

/**
 * Visits the counters of a node. Counts of the same child add up. Where only entries without
 * popularity count, those with a popularity are visited with a negative count.
 */
export function visitCounters(
  order: Order,
  path: readonly number[],
  item: Node,
  visit: (child: number, content: Content, count: number) => void,
): void {
  const isRoot = path.length === 0;
  const isUnpopular = order === 'popularity' && (isRoot || path[0] === 0);
  // A far page reads thousands of counters, so this makes no text but a name's two parts.
  for (const name in item) {
    const at = name.length - (name.charCodeAt(name.length - 1) <= nine ? 2 : 1);
    const ending = endings.get(name.slice(at));
    if (ending === undefined) continue;
    const { content, isPopular } = ending;
    const isValue = name.startsWith(valueMark);
    // The root holds counters of both trees.
    if (isValue && !(order === 'popularity' && isRoot)) continue;
    if (isPopular && !isUnpopular) continue;
    // In the order by popularity, all blocks of the root are one child: entries without popularity.
    const isOneChild = order === 'popularity' && isRoot && !isValue;
    const child = isOneChild ? 0 : Number(name.slice(isValue ? 1 : 0, at));
    visit(child, content, (isPopular ? -1 : 1) * Number(item[name]));
  }
}

/** Is true for a node without children, whose entries are read from the index. */
export function isLeaf(order: Order, path: readonly number[]): boolean {
  const [value = 0] = path;
  if (order === 'date') return path.length === 4;
  return value === 0 ? path.length === 5 : widthOf(value) > 1 || path.length === 3;
}

/** Levels of nodes with children in a tree, at most. */
export const levels = 5;

/**
 * Returns the level of a node, 0 for the root. A page opens one level after another. The nodes of
 * one level can be read together. The entries without popularity have a tree with a root of its
 * own, one level below the root that it shares an item with.
 */
export function levelOf(order: Order, path: readonly number[]): number {
  const isBelowValue = order === 'popularity' && path.length > 0 && path[0] !== 0;
  return isBelowValue ? path.length + 1 : path.length;
}

/** Returns the sort keys of a node. By date, `high` is excluded. */
export function boundsOf(order: Order, path: readonly number[]): { low: SortKey; high: SortKey } {
  if (order === 'date') {
    const [from, to] = timesOf(path);
    // A sort key is a time and an id. None equals the time alone.
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

/** Returns the path to a time (epoch ms) in a tree by date. */
export function datePath(
  time: number,
): [block: number, slot: number, minute: number, second: number] {
  const minutes = Math.floor(time / minute);
  const slots = Math.floor(minutes / minutesPerSlot);
  const block = Math.floor(slots / slotsPerBlock);
  const seconds = Math.floor(time / second) % 60;
  return [block, slots % slotsPerBlock, minutes % minutesPerSlot, seconds];
}

/** Returns the first of the values that share a child with this value. */
function spanOf(popularity: number): number {
  const width = widthOf(popularity);
  return Math.floor(popularity / width) * width;
}

/**
 * Returns the number of values that share a child. Negative values mirror the others, so that
 * ranges do not overlap.
 */
function widthOf(popularity: number): number {
  const bits = 32 - Math.clz32(popularity < 0 ? ~popularity : popularity);
  return 2 ** Math.max(0, bits - exactBits);
}

/** Returns the start and the end (epoch ms, excluded) of a block, a slot, a minute or a second. */
function timesOf(path: readonly number[]): [number, number] {
  const [block = 0, slot = 0, minuteOfSlot = 0, secondOfMinute = 0] = path;
  const first = (block * slotsPerBlock + slot) * minutesPerSlot + minuteOfSlot;
  const start = first * minute + secondOfMinute * second;
  const lengths = [
    slotsPerBlock * minutesPerSlot * minute,
    minutesPerSlot * minute,
    minute,
    second,
  ];
  return [start, start + (lengths[path.length - 1] ?? 0)];
}
