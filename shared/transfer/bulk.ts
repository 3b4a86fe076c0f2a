import { randomUUID } from 'node:crypto';
import { bulkImportKey, deedKey } from '../table/keys.ts';
import { getItem, scanItems } from '../table/query.ts';
import { transact, tryTransact } from '../table/transact.ts';

/** Is true while a bulk import is at work, and after one that was interrupted. */
export async function isBulkUnfinished(): Promise<boolean> {
  return (await getItem(bulkImportKey)) !== undefined;
}

/**
 * Marks the begin of a bulk import, before its first record. Gives a function that takes the mark
 * away: call it when everything in the table is counted.
 */
export async function beginBulk(): Promise<() => Promise<void>> {
  const id = randomUUID();
  await transact([{ Put: { Item: { ...bulkImportKey, id } } }]);
  return async () => {
    // Another that began meanwhile counts at its end.
    await tryTransact([{ Delete: { Key: bulkImportKey, was: { id } } }]);
  };
}

/** Is true for a table without data: what the service notes of itself is none. */
export async function isEmptyTable(): Promise<boolean> {
  const own = [bulkImportKey.pk, deedKey('daily-job').pk];
  for await (const { items } of scanItems({ pageSize: 5 })) {
    if (items.some(({ pk }) => !own.includes(pk))) return false;
  }
  return true;
}
