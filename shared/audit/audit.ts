import { setTimeout as sleep } from 'node:timers/promises';
import type { Item } from '../table/batch.ts';
import type { Key } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';
import { check } from './check.ts';
import type { Difference, Finding } from './finding.ts';

/** A place in the table to go on from, for whoever was interrupted. */
export type Position = Key;

/** How far an audit has come, and what it found on the way. */
export interface Progress {
  items: number;
  differences: Difference[];
  /** How many of the differences were mended. */
  repaired: number;
  position: Position | undefined;
}

/**
 * Holds every number that a transaction keeps against a recount: votes, popularity and index attributes of reviews, tallies of revisions,
 * claims, karma and counts of users, counts and ratings of entities. It reads the table in pages, keeps no more of them than the keys of
 * one author's reviews, and goes on from a position after an interruption. Beside traffic it is safe: a difference counts when it is found
 * twice, `settle` milliseconds apart, which indexes may be behind the table, and a repair is conditional on what was read. `isDue` leaves
 * items out.
 */
export async function* audit({
  from,
  repair = false,
  settle = 1_000,
  isDue = () => true,
}: {
  from?: Position;
  repair?: boolean;
  settle?: number;
  isDue?: (item: Item) => boolean;
} = {}): AsyncGenerator<Progress> {
  let last = '';
  for await (const { items, position } of scanItems({ from, pageSize: 250 })) {
    const progress: Progress = { items: items.length, differences: [], repaired: 0, position };
    for (const item of items) {
      // The items of a review lie together, and are looked at together.
      if (!isDue(item) || (item.pk.startsWith('REVIEW#') && item.pk === last)) continue;
      last = item.pk;
      for (const found of await confirmed(item, settle)) {
        progress.differences.push(...found.differences);
        if (repair && (await isRepaired(found))) progress.repaired += found.differences.length;
      }
    }
    yield progress;
  }
}

/** The differences that are the same when the indexes have settled. Another one may be as passing as the first was. */
async function confirmed(item: Item, settle: number): Promise<Finding[]> {
  const first = new Set((await check(item)).flatMap(({ differences }) => differences.map(textOf)));
  if (first.size === 0) return [];
  await sleep(settle);
  return (await check(item)).flatMap(({ differences, repair }) => {
    const same = differences.filter((difference) => first.has(textOf(difference)));
    return same.length > 0 ? [{ differences: same, repair }] : [];
  });
}

function textOf({ pk, sk, attribute, stored, counted }: Difference): string {
  return [pk, sk, attribute, stored, counted].map(String).join('\n');
}

/** Of what has changed since the next audit sees whether it is right now. */
async function isRepaired({ differences, repair }: Finding): Promise<boolean> {
  return repair !== undefined && tryTransact(repair(differences));
}
