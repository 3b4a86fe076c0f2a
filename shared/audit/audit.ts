import { setTimeout as sleep } from 'node:timers/promises';
import { type Item, type Key, keyString } from '../table/item.ts';
import { scanItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';
import { check } from './check.ts';
import type { Difference, Finding } from './finding.ts';

/** Findings of an audit in some items. */
interface Found {
  differences: Difference[];
  /** Number of differences that were repaired. */
  repaired: number;
  /** Items that changed each time they were checked. They may be right, and are left alone. */
  changing: Key[];
}

/** Progress of an audit, and its findings on the way. */
export interface Progress extends Found {
  items: number;
  /** Where to go on from, for whoever was interrupted. */
  position: Key | undefined;
}

/** Checks after which an item that gives another answer each time is left alone. */
const mostChecks = 4;

/**
 * Compares every number that a transaction keeps with a recount: votes, popularity and index
 * attributes of reviews, tallies of revisions, claims, karma and counts of users, counts and
 * ratings of entities. It reads the table in pages and can go on from a position. `isDue` leaves
 * items out.
 *
 * It is safe beside traffic. A difference counts when two checks find it at one version of the
 * item, `settle` milliseconds apart: indexes may be so far behind. A repair is conditional on that
 * version.
 */
export async function* audit({
  from,
  repair = false,
  settle = 1_000,
  isDue = () => true,
}: {
  from?: Key;
  repair?: boolean;
  settle?: number;
  isDue?: (item: Item) => boolean;
} = {}): AsyncGenerator<Progress> {
  let last = '';
  for await (const { items, position } of scanItems({ from, pageSize: 250 })) {
    const due = items.filter((item) => {
      // The items of a review lie together, and are checked together.
      if (!isDue(item) || (item.pk.startsWith('REVIEW#') && item.pk === last)) return false;
      last = item.pk;
      return true;
    });
    yield { items: items.length, position, ...(await auditItems(due, { repair, settle })) };
  }
}

interface Checked {
  item: Item;
  findings: Finding[];
}

/**
 * Checks items. Those that differ are checked again, after one pause for all of them, until two
 * checks in a row agree.
 */
async function auditItems(
  items: readonly Item[],
  { repair, settle }: { repair: boolean; settle: number },
): Promise<Found> {
  const found: Found = { differences: [], repaired: 0, changing: [] };
  let due: Checked[] = [];
  for (const item of items) due.push({ item, findings: await check(item) });
  for (let checks = 1; checks < mostChecks; checks++) {
    due = due.filter(({ findings }) => findings.length > 0);
    if (due.length === 0) return found;
    await sleep(settle);
    const changed: Checked[] = [];
    for (const { item, findings: before } of due) {
      const findings = await check(item);
      if (textOf(findings) !== textOf(before)) changed.push({ item, findings });
      else for (const each of findings) await settled(each, repair, found);
    }
    due = changed;
  }
  found.changing.push(...due.flatMap(({ findings }) => findings.flatMap(keysOf)));
  return found;
}

/**
 * Reports confirmed differences, and repairs them unless their item has changed this very moment.
 */
async function settled(finding: Finding, repair: boolean, found: Found): Promise<void> {
  const { differences } = finding;
  const writes = repair ? finding.repair?.(differences) : undefined;
  if (writes && !(await tryTransact(writes))) {
    found.changing.push(...keysOf(finding));
    return;
  }
  found.differences.push(...differences);
  if (writes) found.repaired += differences.length;
}

function keysOf({ differences }: Finding): Key[] {
  const keys = differences.map(({ pk, sk }): [string, Key] => [keyString({ pk, sk }), { pk, sk }]);
  return [...new Map(keys).values()];
}

/**
 * One text for the findings of a check; another one if anything was counted meanwhile. It is
 * sorted, because DynamoDB keeps no order of attributes.
 */
function textOf(findings: readonly Finding[]): string {
  const texts = findings.flatMap(({ differences, version }) =>
    differences.map(({ pk, sk, attribute, stored, counted }) =>
      [pk, sk, version, attribute, stored, counted].map(String).join('\n'),
    ),
  );
  return texts.toSorted().join('\n');
}
