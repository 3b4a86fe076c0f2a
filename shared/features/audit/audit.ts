import { setTimeout as sleep } from 'node:timers/promises';
import { chunksOf } from '../../base/chunks.ts';
import { type Key, keyString } from '../../base/table/item.ts';
import { scanItems } from '../../base/table/query.ts';
import { tryTransact } from '../../base/table/transact.ts';
import { check } from './check.ts';
import type { Difference, Finding } from './finding.ts';
import { Snapshot } from './snapshot.ts';
import { liveTable } from './source.ts';
import { type CounterDifference, Tally } from './tally.ts';

interface AuditResult {
  differences: Difference[];
  repaired: number;
  /** Items that changed at each check. They may be correct and are not repaired. */
  changing: Key[];
}

/** Results of a part of the audit, and the items that it has read. */
type Progress = AuditResult & { items: number };

interface AuditOptions {
  repair?: boolean;
  /** Milliseconds between two checks, for indexes that lag behind. */
  settle?: number;
  /** Milliseconds that the consumer of the stream may be behind: a minute, and half of one. */
  patience?: number;
}

/** Maximum of checks of an item whose result changes each time. */
const mostChecks = 4;

/** Partitions to check at once. */
const atOnce = 250;

/**
 * Recounts every number in the table from one scan: votes, karma, counts, cases, totals, rank trees
 * and projection states. Safe beside traffic: a difference in the scan counts if two checks of the
 * table, `settle` milliseconds apart, find it at the same version of the item. A repair is
 * conditional on that version. Memory stays flat.
 */
export async function* audit(options: AuditOptions = {}): AsyncGenerator<Progress> {
  const { repair = false, settle = 1_000, patience = 90_000 } = options;
  const snapshot = new Snapshot();
  const tally = new Tally();
  try {
    for await (const { items } of scanItems()) {
      snapshot.add(items);
      tally.add(items);
      yield { ...nothing(), items: items.length };
    }
    const behind = new Set<string>();
    for (const partitions of chunksOf(snapshot.partitions(), atOnce)) {
      const suspects: string[] = [];
      for (const pk of partitions) {
        if ((await check(pk, snapshot)).length > 0) suspects.push(pk);
      }
      yield { ...(await auditPartitions(suspects, options, behind)), items: 0 };
    }
    yield { ...(await awaitStream([...behind], { repair, settle, patience })), items: 0 };
    yield { ...(await auditAggregates(tally, settle)), items: 0 };
  } finally {
    snapshot.close();
    tally.close();
  }
}

/** Checks partitions until two checks agree, after one pause for all, and repairs on request. */
export async function auditPartitions(
  partitions: readonly string[],
  { repair = false, settle = 1_000 }: AuditOptions = {},
  behind: Set<string> = new Set(),
): Promise<AuditResult> {
  const result = nothing();
  const find = (pk: string) => check(pk, liveTable);
  let due: { pk: string; findings: Finding[] }[] = [];
  for (const pk of partitions) due.push({ pk, findings: await find(pk) });
  for (let checks = 1; checks < mostChecks; checks++) {
    due = due.filter(({ findings }) => findings.length > 0);
    if (due.length === 0) return result;
    await sleep(settle);
    const changed: typeof due = [];
    for (const { pk, findings: before } of due) {
      const findings = await find(pk);
      if (textOf(findings) !== textOf(before)) {
        changed.push({ pk, findings });
        continue;
      }
      for (const each of findings) {
        if (each.isBehind) behind.add(pk);
        else await report(each, repair, result);
      }
    }
    due = changed;
  }
  result.changing.push(...due.flatMap(({ findings }) => findings.flatMap(differingKeys)));
  return result;
}

/**
 * Waits for the consumer of the stream. Reports what it has not counted after `patience`, and
 * repairs it on request.
 */
async function awaitStream(
  partitions: readonly string[],
  { repair, settle, patience }: Required<AuditOptions>,
): Promise<AuditResult> {
  const result = nothing();
  let due = partitions;
  for (const end = performance.now() + patience; due.length > 0; ) {
    const isOver = performance.now() >= end;
    const still: string[] = [];
    for (const pk of due) {
      const findings = (await check(pk, liveTable)).filter(({ isBehind }) => isBehind);
      if (findings.length > 0) still.push(pk);
      if (!isOver) continue;
      for (const each of findings) await report(each, repair, result);
    }
    if (isOver) break;
    due = still;
    await sleep(due.length > 0 ? settle : 0);
  }
  return result;
}

/**
 * Compares totals and rank trees with the projection states, which they equal at any moment. A scan
 * is no moment, so a counter that traffic changes differs. A difference counts if a second scan
 * finds the same stored and counted numbers.
 */
async function auditAggregates(first: Tally, settle: number): Promise<AuditResult> {
  const result = nothing();
  const before = differencesIn(first);
  if (before.size === 0) return result;
  await sleep(settle);
  const second = new Tally();
  for await (const { items } of scanItems()) second.add(items);
  for (const [name, each] of differencesIn(second)) {
    const { pk, sk, stored, counted } = each;
    const earlier = before.get(name);
    const isConfirmed = earlier && earlier.stored === stored && earlier.counted === counted;
    if (isConfirmed) result.differences.push({ ...each, isRepairable: false });
    else result.changing.push({ pk, sk });
  }
  second.close();
  return result;
}

/** Returns the counters that differ from the projection states, by key and attribute. */
function differencesIn(tally: Tally): Map<string, CounterDifference> {
  tally.countProjected();
  return new Map(
    tally.differences().map((each) => [`${keyString(each)} ${each.attribute}`, each] as const),
  );
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

const nothing = (): AuditResult => ({ differences: [], repaired: 0, changing: [] });

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
