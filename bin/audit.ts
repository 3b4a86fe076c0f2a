import * as v from 'valibot';
import { audit } from '../shared/audit/audit.ts';
import { openCursor, sealCursor } from '../shared/list/cursor.ts';
import { isBulkUnfinished } from '../shared/transfer/bulk.ts';
import { showProgress } from './progress.ts';

const Position = v.strictObject({ pk: v.string(), sk: v.string() });

/** Audits the table. Exit status 1: differences remain. Exit status 3: some items kept changing. */
export async function runAudit(options: { repair?: boolean; from?: string; settle?: number }) {
  if (await isBulkUnfinished()) {
    throw new Error(
      'an import is running or was interrupted, and counts are missing until it ends: wait for the import or repeat it, then run the audit again',
    );
  }
  const sum = { items: 0, differences: 0, repaired: 0, changing: 0 };
  const from = options.from === undefined ? undefined : openCursor('audit', Position, options.from);
  if (options.from !== undefined && !from) {
    throw new Error('--from must be a position that an audit has printed');
  }
  const show = showProgress('Reading');
  for await (const part of audit({ ...options, from })) {
    const { items, differences, repaired, changing, position } = part;
    sum.items += items;
    sum.differences += differences.length;
    sum.repaired += repaired;
    sum.changing += changing.length;
    for (const { pk, sk, attribute, stored, counted, isRepairable } of differences) {
      const remark = isRepairable ? '' : ' (cannot be repaired)';
      console.error(`${pk} ${sk}: ${attribute} is ${stored}, not ${counted}${remark}`);
    }
    for (const { pk, sk } of changing) {
      console.error(
        `${pk} ${sk}: changed during the audit and could not be checked: run the audit again`,
      );
    }
    if (position && (differences.length > 0 || sum.items % 50_000 < items)) {
      console.error(`position ${sealCursor('audit', position)}`);
    }
    show(sum.items);
  }
  if (sum.differences > sum.repaired) process.exitCode = 1;
  else if (sum.changing > 0) process.exitCode = 3;
  return sum;
}
