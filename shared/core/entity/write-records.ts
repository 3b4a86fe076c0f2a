import { getItems } from '../../base/table/batch.ts';
import { packed } from '../../base/table/merge.ts';
import { tryTransact, type Write } from '../../base/table/transact.ts';
import { type Description, type Entity, recordIn, recordKey, recordWrites } from './record.ts';

// Stores many records at once.

/**
 * Writes records of different entities, and leaves out those that have changed since they were
 * read.
 */
export async function writeRecords(records: readonly Write[][]): Promise<void> {
  for (const together of packed(records.map((writes) => ({ writes })))) {
    const isWritten = await tryTransact(together.flatMap(({ writes }) => writes));
    if (isWritten || together.length === 1) continue;
    await Promise.all(together.map(({ writes }) => tryTransact(writes)));
  }
}

/** Stores records that come with data, for services without a database. Others stay as they are. */
export async function keepRecords(
  entities: readonly (Entity & Description & { url?: string | undefined })[],
): Promise<void> {
  const items = await getItems(entities.map(recordKey), { consistent: true });
  const written_at = new Date().toISOString();
  await writeRecords(
    entities.flatMap((entity, i) => {
      if (recordIn(entity, items[i])) return [];
      return [recordWrites(undefined, { ...entity, origin: 'operator', written_at })];
    }),
  );
}
