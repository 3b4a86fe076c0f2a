import { audit } from '../shared/features/audit/public.ts';
import { isEntry } from '../shared/features/things/public.ts';
import { isBulkUnfinished } from '../shared/features/transfer/public.ts';
import { showProgress } from './progress.ts';

/** Audits the table. Exit status 1: differences remain. Exit status 3: some items kept changing. */
export async function runAudit(options: Parameters<typeof audit>[0] = {}) {
  if (await isBulkUnfinished()) {
    throw new Error(
      'an import is running or was interrupted, and counts are missing until it ends: wait for the import or repeat it, then run the audit again',
    );
  }
  let hasEntries = false;
  const sum = { items: 0, differences: 0, repaired: 0, changing: 0 };
  const show = showProgress('Reading');
  for await (const part of audit(options)) {
    const { items, differences, repaired, changing } = part;
    sum.items += items;
    sum.differences += differences.length;
    sum.repaired += repaired;
    sum.changing += changing.length;
    for (const { pk, sk, attribute, stored, counted, isRepairable } of differences) {
      const remark = isRepairable ? '' : ' (cannot be repaired)';
      hasEntries ||= isEntry({ pk });
      console.error(`${pk} ${sk}: ${attribute} is ${stored}, not ${counted}${remark}`);
    }
    for (const { pk, sk } of changing) {
      console.error(
        `${pk} ${sk}: changed during the audit and could not be checked: run the audit again`,
      );
    }
    show(sum.items);
  }
  if (hasEntries && sum.differences > sum.repaired) {
    console.error(
      'Entries of the lists of things and of the search differ: audit --repair mends those above, and aggregates rebuild writes all anew',
    );
  }
  if (sum.differences > sum.repaired) process.exitCode = 1;
  else if (sum.changing > 0) process.exitCode = 3;
  return sum;
}
