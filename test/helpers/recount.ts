import { isDeepStrictEqual } from 'node:util';
import { type Item, keyString } from '../../shared/base/table/item.ts';
import { auditPartitions } from '../../shared/features/audit/audit.ts';
import { scanTable } from './items.ts';
import { applyStream } from './stream.ts';
import { name } from './table.ts';

/** The items of each table at the last recount that found no difference, by their keys. */
const exact = new Map<string, Map<string, Item>>();

/**
 * Lists numbers in the table that differ from a recount of its reviews, votes and users, one line
 * with the key each. Partitions that were exact are recounted only if something that they count
 * has changed since.
 */
export async function differences(): Promise<string[]> {
  const items = await scanTable();
  const current = new Map(items.map((item) => [keyString(item), item]));
  const due = partitionsToRecount(exact.get(name) ?? new Map(), current);
  const found: string[] = [];
  const { changing, differences } = await auditPartitions([...due], { settle: 0 });
  for (const { pk, sk } of changing) found.push(`${pk} ${sk} is changing`);
  for (const { pk, sk, attribute, stored, counted } of differences) {
    found.push(`${pk} ${sk}: ${attribute} is ${stored}, not ${counted}`);
  }
  found.push(...aggregateDifferencesIn(items));
  if (found.length === 0) exact.set(name, current);
  return found;
}

/** Returns the partitions with items that were added, changed or deleted, and those they name. */
function partitionsToRecount(
  before: ReadonlyMap<string, Item>,
  current: ReadonlyMap<string, Item>,
): Set<string> {
  const due = new Set<string>();
  for (const name of new Set([...before.keys(), ...current.keys()])) {
    const versions = [before.get(name), current.get(name)];
    // Attributes come in any order.
    if (isDeepStrictEqual(versions[0], versions[1])) continue;
    for (const item of versions) {
      if (item === undefined) continue;
      // An entry of a thing is checked alone.
      due.add(/^(WORD|THINGS)#/.test(item.pk) ? keyString(item) : item.pk);
      due.add(item.pk.replace(/^METADATA#.*#/, 'ENTITY#'));
      due.add(`USER#${item.user_id}`);
      due.add(`ENTITY#${item.entity_id}`);
      due.add(`REVIEW#${item.review_id}`);
    }
  }
  return due;
}

/** Applies the stream. All numbers must then be exact. */
export async function expectExact(): Promise<void> {
  await applyStream();
  expect(await differences()).toEqual([]);
}

/** Lists differences in totals, rank trees and projection states. */
export async function aggregateDifferences(): Promise<string[]> {
  return aggregateDifferencesIn(await scanTable());
}

/** Recounts without any of the code that maintains the numbers. */
function aggregateDifferencesIn(items: readonly Item[]): string[] {
  const stored = aggregatesIn(items);
  const counted = countAggregates(items);
  const names = new Set([...stored.keys(), ...counted.keys()]);
  return [...names].toSorted().flatMap((name) => {
    const is = stored.get(name);
    const should = counted.get(name);
    return is === should ? [] : [`${name} is ${is}, not ${should}`];
  });
}

/**
 * Returns the nonzero numbers of totals, rank trees and projection states, by key and attribute.
 */
export async function readAggregates(): Promise<Map<string, unknown>> {
  return aggregatesIn(await scanTable());
}

function aggregatesIn(items: readonly Item[]): Map<string, unknown> {
  return new Map(
    items.flatMap(({ pk, sk, ...attributes }): [name: string, value: unknown][] => {
      if (sk === 'SUMS') return sumsIn(`${attributes.counts}`);
      const isCounter = pk.startsWith('TREE#') || sk.startsWith('TOTAL#');
      if (!isCounter && sk !== 'PROJECTION') return [];
      return Object.entries(attributes).flatMap(([name, value]) =>
        (isCounter ? value !== 0 : name === 'counted' && value !== null)
          ? [[`${pk} ${sk} ${name}`, value]]
          : [],
      );
    }),
  );
}

/** Returns the numbers of the sums, which are one text. */
function sumsIn(text: string): [name: string, number: unknown][] {
  const byType: [string, object][] = Object.entries(JSON.parse(text));
  return byType.flatMap(([type, counts]) =>
    Object.entries(counts).flatMap(([letter, number]): [string, unknown][] =>
      number === 0 ? [] : [[`TOTALS SUMS ${type} ${letter}`, number]],
    ),
  );
}

function countAggregates(items: readonly Item[]): Map<string, unknown> {
  const counted = new Map<string, unknown>();
  const withTree = new Set(items.filter(({ rank_tree }) => rank_tree).map(({ pk }) => pk));
  const bump = (name: string) => counted.set(name, Number(counted.get(name) ?? 0) + 1);

  /**
   * Counts one entry in the rank trees of a list, in blocks of 512 hours, slots of four hours,
   * minutes and seconds. Popularities stay below 64 in tests.
   */
  function countIn(list: string, time: unknown, content: string, popularity = 0): void {
    const minutes = Math.floor(Date.parse(String(time)) / 60_000);
    const slots = Math.floor(minutes / 240);
    const seconds = new Date(String(time)).getUTCSeconds();
    const when = [Math.floor(slots / 128), slots % 128, minutes % 240, seconds];
    const along = (order: string, path: number[], letter: string) => {
      for (const [i, child] of path.entries()) {
        const node = [list, ...path.slice(0, i)].join('#');
        const mark = i === 0 && order === 'popularity' ? 'v' : '';
        bump(`TREE#${node} ${i === 0 ? 'root' : order} ${mark}${child}${letter}`);
      }
    };
    const letter = content.charAt(0) + content.replace(/\D/g, '');
    along('date', when, letter);
    if (popularity === 0) return;
    along('date', when, letter.toUpperCase());
    along('popularity', [popularity, ...when.slice(0, 2)], letter);
  }

  for (const { pk, sk, ...item } of items) {
    if (sk === 'USER' && item.deleted_at === undefined) {
      counted.set(`${pk} PROJECTION counted`, 'USER');
      countIn('users', item.created, 'user');
    }
    if (sk !== 'REVIEW' || item.published_on === null || item.is_hidden) continue;
    const has = item.text === null ? 'rating' : item.rating === null ? 'text' : 'both';
    const withStars = `${has}${item.rating ?? ''}`;
    const facet = `${item.entity_type}|${item.language}`;
    counted.set(`${pk} PROJECTION counted`, `${facet}|${withStars}`);
    bump(`TOTALS TOTAL#${item.entity_type} ${`${item.language}`.toUpperCase()}`);
    bump(`TOTALS TOTAL#${item.entity_type} ${has.charAt(0)}`);
    bump(`TOTALS SUMS ${item.entity_type} ${has.charAt(0)}`);
    const owners = [`ENTITY#${item.entity_id}`, `USER#${item.user_id}`];
    const count = (list: string, content: string) =>
      countIn(list, item.published_on, content, Number(item.popularity));
    count(`all|${item.entity_type}`, has);
    count(`all|${facet}`, has);
    for (const owner of owners.filter((each) => withTree.has(each))) {
      count(owner, withStars);
      count(`${owner}|${item.entity_type}`, withStars);
      count(`${owner}|${facet}`, withStars);
    }
  }
  return counted;
}
