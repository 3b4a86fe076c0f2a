import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { nothingWritten, type Written } from '../../shared/core/review/written.ts';
import { allRecords, scanInto } from '../../shared/features/transfer/export.ts';
import { importRecords } from '../../shared/features/transfer/import.ts';
import {
  type FullReviewRecord,
  parseRecord,
  type SourcedRecord,
  type TransferRecord,
} from '../../shared/features/transfer/record.ts';
import { Spool } from '../../shared/features/transfer/spool.ts';
import { newFolder } from './folder.ts';

/** Returns all records of an export of the table. */
export async function exported(): Promise<TransferRecord[]> {
  const spool = new Spool(join(newFolder(), 'spool'));
  await scanInto(spool, () => {});
  const records = [...allRecords(spool)];
  spool.close();
  return records;
}

/** Returns the records of lines, each of which must be valid. */
export function recordsOf(lines: readonly string[]): TransferRecord[] {
  const records = lines.map(parseRecord).filter((record) => typeof record !== 'string');
  expect(records).toHaveLength(lines.length);
  return records;
}

/** Yields records as an import reads them from a file with one record per line. */
export async function* sourced(records: readonly TransferRecord[]): AsyncGenerator<SourcedRecord> {
  for (const [i, record] of records.entries()) yield { where: `line ${i}`, record };
}

/** The time of all records that tests make. */
export const recordTime = '2020-02-29T12:00:00.000Z';

/** A public review of a new work with four stars, as in an export. */
export function reviewRecord(
  user_id: string,
  but: Partial<FullReviewRecord> = {},
): FullReviewRecord {
  return {
    kind: 'review',
    id: randomUUID(),
    entity_id: randomUUID(),
    entity_type: 'work',
    user_id,
    language: 'en',
    license: 'CC0 1.0',
    created: recordTime,
    published_on: recordTime,
    is_hidden: false,
    source: null,
    source_url: null,
    revisions: [revisionRecord({ rating: 4 })],
    ...but,
  };
}

/** A revision in the record of a review. */
export function revisionRecord(written: Partial<Written>, id = 1, timestamp = recordTime) {
  return { id, ...nothingWritten, ...written, timestamp };
}

/** A text of so many bytes of UTF-8, which are more than its characters. */
export const textOf = (bytes: number) => `Ünd ${'lang '.repeat(bytes / 5)}`.slice(0, bytes - 1);

/** Imports records. Throws unless all are written, or are there already. */
export async function importWhole(records: readonly TransferRecord[]): Promise<void> {
  const { refused } = await importRecords(sourced(records));
  if (Object.keys(refused).length > 0) throw new Error(Object.keys(refused).join());
}

/** Imports a review by each person, with this text or these fields. Returns the ids. */
export async function imports(
  people: readonly { id: string }[],
  content: Partial<FullReviewRecord> | string,
): Promise<string[]> {
  const revisions = [revisionRecord({ text: `${content}`, rating: 4 })];
  const but = typeof content === 'string' ? { revisions } : content;
  const records = people.map(({ id }) => reviewRecord(id, but));
  await importWhole(records);
  return records.map(({ id }) => id);
}
