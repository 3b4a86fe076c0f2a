import { setTimeout as sleep } from 'node:timers/promises';
import { type Item, type Key, keyString } from '../table/item.ts';
import { scanItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';
import { check } from './check.ts';
import type { Difference, Finding } from './finding.ts';

interface AuditResult {
  differences: Difference[];
  repaired: number;
  /** Items that changed at each check. They may be correct and are not repaired. */
  changing: Key[];
}

/** Results of one page, and the position from which to resume: undefined after the last page. */
type Progress = AuditResult & { items: number; position: Key | undefined };

/** Maximum of checks of an item whose result changes each time. */
const mostChecks = 4;

/**
 * Compares every number that transactions keep (votes, karma, counts, ratings, cases) with a
 * recount, page by page. Safe beside traffic: a difference counts if two checks, `settle`
 * milliseconds apart, find it at the same version of the item. The pause is for indexes that lag
 * behind. A repair is conditional on that version.
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
    const result = await auditItems(due, repair, settle);
    yield { items: items.length, position, ...result };
  }
}

/** Checks items with differences again, after one pause for all, until two checks agree. */
async function auditItems(items: readonly Item[], repair: boolean, settle: number) {
  const result: AuditResult = { differences: [], repaired: 0, changing: [] };
  let due: { item: Item; findings: Finding[] }[] = [];
  for (const item of items) {
    due.push({ item, findings: await check(item) });
  }
  for (let checks = 1; checks < mostChecks; checks++) {
    due = due.filter(({ findings }) => findings.length > 0);
    if (due.length === 0) return result;
    await sleep(settle);
    const changed: typeof due = [];
    for (const { item, findings: before } of due) {
      const findings = await check(item);
      if (textOf(findings) !== textOf(before)) {
        changed.push({ item, findings });
      } else {
        for (const each of findings) await report(each, repair, result);
      }
    }
    due = changed;
  }
  result.changing.push(...due.flatMap(({ findings }) => findings.flatMap(differingKeys)));
  return result;
}

/** Reports confirmed differences, and repairs them on request, unless the item has just changed. */
async function report(finding: Finding, isRepair: boolean, result: AuditResult): Promise<void> {
  const { differences, repair } = finding;
  const writes = isRepair ? repair : undefined;
  if (writes && !(await tryTransact(writes))) {
    result.changing.push(...differingKeys(finding));
    return;
  }
  result.differences.push(...differences);
  if (writes) result.repaired += differences.length;
}

function differingKeys({ differences }: Finding): Key[] {
  const keys = differences.map(({ pk, sk }): [string, Key] => [keyString({ pk, sk }), { pk, sk }]);
  return [...new Map(keys).values()];
}

/** The text differs if anything was counted meanwhile. DynamoDB keeps no order of attributes. */
function textOf(findings: readonly Finding[]): string {
  const texts = findings.flatMap(({ differences, version }) =>
    differences.map(({ pk, sk, attribute, stored, counted }) =>
      [pk, sk, version, attribute, stored, counted].map(String).join('\n'),
    ),
  );
  return texts.toSorted().join('\n');
}
