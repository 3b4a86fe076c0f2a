import { audit, type Position } from '../shared/audit/audit.ts';
import type { Difference } from '../shared/audit/finding.ts';
import { isBulkUnfinished } from '../shared/transfer/bulk.ts';
import { showProgress } from './progress.ts';

/**
 * Audits the table, telling on stderr each difference as it is found and every so often the position to go on from. Gives a summary, and
 * sets the exit status to 1 when something is left that differs.
 */
export async function runAudit({
  from,
  ...options
}: {
  repair?: boolean;
  from?: string;
  settle?: number;
}) {
  if (await isBulkUnfinished()) {
    throw new Error(
      'an import is at work or was interrupted, and nothing is counted before its end: wait for it or repeat it, then audit',
    );
  }
  const show = showProgress('Reading');
  const sum = { items: 0, differences: 0, repaired: 0 };
  for await (const { items, differences, repaired, position } of audit({
    ...options,
    from: from === undefined ? undefined : readPosition(from),
  })) {
    sum.items += items;
    sum.differences += differences.length;
    sum.repaired += repaired;
    for (const difference of differences) console.error(describe(difference));
    if (position && (differences.length > 0 || sum.items % 50_000 < items)) {
      console.error(`position ${writePosition(position)}`);
    }
    show(sum.items);
  }
  if (sum.differences > sum.repaired) process.exitCode = 1;
  return sum;
}

function describe({ pk, sk, attribute, stored, counted, isRepairable }: Difference): string {
  const told = `${pk} ${sk}: ${attribute} is ${stored}, not ${counted}`;
  return isRepairable ? told : `${told} (no repair)`;
}

function writePosition({ pk, sk }: Position): string {
  return Buffer.from(JSON.stringify([pk, sk])).toString('base64url');
}

function readPosition(text: string): Position {
  try {
    const [pk, sk] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string];
    if (typeof pk === 'string' && typeof sk === 'string') return { pk, sk };
  } catch {
    // Told below.
  }
  throw new Error('--from must be a position that an audit has printed');
}
