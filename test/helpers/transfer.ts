import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allRecords, scanInto } from '../../shared/transfer/export.ts';
import type { SourcedRecord, TransferRecord } from '../../shared/transfer/record.ts';
import { Spool } from '../../shared/transfer/spool.ts';

/** Returns all records of an export of the table. */
export async function exported(): Promise<TransferRecord[]> {
  const folder = mkdtempSync(join(tmpdir(), 'exported-'));
  const spool = new Spool(join(folder, 'spool'));
  await scanInto(spool, () => {});
  const records = [...allRecords(spool)];
  spool.close();
  rmSync(folder, { recursive: true });
  return records;
}

/** Yields records as an import reads them from a file with one record per line. */
export async function* sourced(records: readonly TransferRecord[]): AsyncGenerator<SourcedRecord> {
  for (const [i, record] of records.entries()) yield { where: `line ${i}`, record };
}
