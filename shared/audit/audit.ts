import { setTimeout as sleep } from 'node:timers/promises';
import { type Item, type Key, keyString } from '../table/item.ts';
import { scanItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';
import { check } from './check.ts';
import type { Difference, Finding } from './finding.ts';

/** Result of an audit of some items. */
interface AuditResult {
  differences: Difference[];
  /** Number of differences that were repaired. */
  repaired: number;
  /** Items that changed at each check. They may be correct and are not repaired. */
  changing: Key[];
}

/** Progress of an audit, and the results of one page. */
export interface Progress extends AuditResult {
  items: number;
  /** Position from which to resume. Undefined after the last page. */
  position: Key | undefined;
}

/** Maximum of checks of an item whose result changes each time. */
const mostChecks = 4;

/**
 * Compares every number that transactions keep with a recount: votes, popularity and index
 * attributes of reviews, tallies of revisions, claims, karma and counts of users, counts and
 * ratings of entities. Reads the table in pages and can resume at a position. `isDue` selects the
 * items.
 *
 * It is safe beside traffic. A difference counts if two checks, `settle` milliseconds apart, find
 * it at the same version of the item. The pause is for indexes that lag behind. A repair is
 * conditional on that version.
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
      // The items of a review share a partition and are checked together.
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
 * Checks items. After one pause for all, checks items with differences again, until two checks in a
 * row agree.
 */
async function auditItems(
  items: readonly Item[],
  { repair, settle }: { repair: boolean; settle: number },
): Promise<AuditResult> {
  const result: AuditResult = { differences: [], repaired: 0, changing: [] };
  let due: Checked[] = [];
  for (const item of items) due.push({ item, findings: await check(item) });
  for (let checks = 1; checks < mostChecks; checks++) {
    due = due.filter(({ findings }) => findings.length > 0);
    if (due.length === 0) return result;
    await sleep(settle);
    const changed: Checked[] = [];
    for (const { item, findings: before } of due) {
      const findings = await check(item);
      if (textOf(findings) !== textOf(before)) changed.push({ item, findings });
      else for (const each of findings) await report(each, repair, result);
    }
    due = changed;
  }
  result.changing.push(...due.flatMap(({ findings }) => findings.flatMap(keysOf)));
  return result;
}

/**
 * Reports confirmed differences, and repairs them on request. A repair fails if the item has just
 * changed.
 */
async function report(finding: Finding, repair: boolean, result: AuditResult): Promise<void> {
  const { differences } = finding;
  const writes = repair ? finding.repair?.(differences) : undefined;
  if (writes && !(await tryTransact(writes))) {
    result.changing.push(...keysOf(finding));
    return;
  }
  result.differences.push(...differences);
  if (writes) result.repaired += differences.length;
}

function keysOf({ differences }: Finding): Key[] {
  const keys = differences.map(({ pk, sk }): [string, Key] => [keyString({ pk, sk }), { pk, sk }]);
  return [...new Map(keys).values()];
}

/**
 * Formats the findings of a check for comparison. Differs if anything was counted meanwhile.
 * Sorted, because DynamoDB keeps no order of attributes.
 */
function textOf(findings: readonly Finding[]): string {
  const texts = findings.flatMap(({ differences, version }) =>
    differences.map(({ pk, sk, attribute, stored, counted }) =>
      [pk, sk, version, attribute, stored, counted].map(String).join('\n'),
    ),
  );
  return texts.toSorted().join('\n');
}
