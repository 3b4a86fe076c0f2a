import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { sumsKey } from '../../base/list/keys.ts';
import { countsInSums, readTotals } from '../../base/list/totals.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, StaleRead, tryUpdate } from '../../base/table/transact.ts';
import { totalNames } from '../review/owner-counts.ts';

/**
 * Copies the totals of types, without their languages, to the one item that most lists read. It
 * copies all types without `types`, or if there is no such item yet. Call it after the totals have
 * changed. It can be repeated, writes nothing that is there already, and costs one write unit.
 */
export async function copySums(types?: Iterable<string>): Promise<void> {
  await retryStale(async () => {
    const before = await getItem(sumsKey);
    // Read after the item. A consumer that counts later finds the item changed, or copies later.
    const options = { consistent: true, attributes: totalNames([]) };
    const totals = await readTotals(before && types ? { ...options, types } : options);
    const copied = [...totals].map(([type, { pk: _, sk: __, ...counts }]) => [type, counts]);
    const stored = countsInSums(before) ?? {};
    const counts = { ...stored, ...Object.fromEntries(copied) };
    if (isDeepStrictEqual(counts, stored)) return;
    const set = { counts: JSON.stringify(counts), stamp: randomUUID() };
    const isWritten = await tryUpdate({ Key: sumsKey, set, was: { stamp: before?.stamp } });
    if (!isWritten) throw new StaleRead();
  });
}
