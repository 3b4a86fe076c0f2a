// The mark in the table that a bulk import is running, which alone leaves owners uncounted.
import { randomUUID } from 'node:crypto';
import { lastRunKey } from '../../base/background/last-run.ts';
import { getItem, scanItems } from '../../base/table/query.ts';
import { transact, tryTransact } from '../../base/table/transact.ts';
import { bulkImportKey } from '../../core/keys.ts';
import { webhookRunKey } from '../webhooks/public.ts';

/** Is true during a bulk import, and after an interrupted bulk import. */
export async function isBulkUnfinished(): Promise<boolean> {
  return (await getItem(bulkImportKey)) !== undefined;
}

/**
 * Marks the start of a bulk import, or of its continuation. Call the returned function when
 * everything is counted.
 */
export async function beginBulk(): Promise<() => Promise<boolean>> {
  const was = { id: randomUUID() };
  await transact([{ Put: { Item: { ...bulkImportKey, ...was } } }]);
  // Another bulk import may have begun meanwhile. It counts at its own end.
  return () => tryTransact([{ Delete: { Key: bulkImportKey, was } }]);
}

/** Is true for a table without data. Records of the service about itself do not count. */
export async function isEmptyTable(): Promise<boolean> {
  const own = [bulkImportKey.pk, lastRunKey('daily-job').pk, webhookRunKey.pk];
  for await (const { items } of scanItems({ pageSize: 5 })) {
    if (items.some(({ pk }) => !own.includes(pk))) return false;
  }
  return true;
}
