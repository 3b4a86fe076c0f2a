import { once } from 'node:events';
import { accessSync, constants, createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  archiveIn,
  dumpRecords,
  Gaps,
  importRecords,
  linesOf,
  loadDump,
  parseHeader,
  parseRecord,
  type SourcedRecord,
} from '../shared/features/transfer/public.ts';
import { bulk } from './bulk.ts';
import type { Counts } from './import-estimate.ts';
import { showProgress } from './progress.ts';

/** Most refused records that are reported one by one. */
const mostReported = 1_000;
/** In milliseconds: the longest wait for data that is being deleted. */
const patience = 60_000;

const bytesOf = (file: string) => (file === '-' ? process.stdin : createReadStream(file));

export interface ImportRun {
  isDryRun: boolean;
  /** Called before anything is written, with the number of records by kind if it is known. */
  onBegin?: (counts: Counts | undefined) => Promise<void>;
}

/** Imports an export; `-` is stdin. Sets the exit status to 1 if a record was refused. */
export async function importExport(file: string, importRun: ImportRun) {
  const counts = file === '-' ? undefined : await promisedCounts(file);
  await importRun.onBegin?.(counts);
  const refusals = new Refusals();
  let fault: string | undefined;
  const name = file === '-' ? 'stdin' : file;

  async function* records(): AsyncGenerator<SourcedRecord> {
    const promised: Record<string, number> = {};
    let last = 0;
    try {
      for await (const { number, text, isWhole } of linesOf(await unzipped(bytesOf(file)))) {
        last = number;
        if (number === 1) {
          Object.assign(promised, parseHeader(text).counts);
          continue;
        }
        if (text === '') continue;
        const record = text === undefined ? 'is not UTF-8' : parseRecord(text);
        const where = `line ${number}`;
        if (typeof record !== 'string') {
          promised[record.kind] = (promised[record.kind] ?? 0) - 1;
          yield { where, record };
        } else if (isWhole) {
          refusals.add(where, record);
        } else {
          fault = `${name} ends in the middle of line ${number}`;
        }
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (!`${code}`.startsWith('Z_')) throw error;
      fault = `${name} is damaged after line ${last} (${message})`;
      if (last === 0) throw new Error(fault);
    }
    const missing = Object.values(promised).reduce((sum, count) => sum + Math.max(0, count), 0);
    if (last === 0) throw new Error(`${name} is empty`);
    if (fault === undefined && missing > refusals.count) {
      fault = `${name} ends after line ${last}; ${missing} of the records that its first line promises are missing`;
    }
  }

  const outcome = await run(records(), importRun, refusals, counts);
  if (fault === undefined) return outcome;
  console.error(
    `${fault}. Everything before that was read: repeat the import with a complete file`,
  );
  process.exitCode = 1;
  return { ...outcome, fault };
}

/** Returns the numbers of records in the first line of an export. An older export has none. */
async function promisedCounts(file: string): Promise<Counts | undefined> {
  try {
    for await (const { text } of linesOf(await unzipped(bytesOf(file)))) {
      return parseHeader(text).counts;
    }
  } catch (error) {
    // The import itself reports damage.
    if (!`${(error as NodeJS.ErrnoException).code}`.startsWith('Z_')) throw error;
  }
  return undefined;
}

/** Imports the public dump of CritiqueBrainz. Counts data that cannot be stored here. */
export async function importDump(files: readonly string[], importRun: ImportRun) {
  // Checked before the first file is read, which takes minutes.
  for (const file of files) {
    if (file !== '-') accessSync(file, constants.R_OK);
  }
  const folder = mkdtempSync(join(tmpdir(), 'import-'));
  const left_out: Record<string, number> = {};
  const changed: Record<string, number> = {};
  const into = (counts: Record<string, number>) => (reason: string) => {
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  try {
    const database = new DatabaseSync(join(folder, 'dump'));
    database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF');
    const archives = files.map((name) => ({ name, open: () => bytesOf(name) }));
    const warnings = await loadDump(database, archives, into(left_out));
    for (const warning of warnings) {
      console.error(`${warning}: see left_out`);
    }
    const counts = dumpCounts(database);
    await importRun.onBegin?.(counts);
    const records = dumpRecords(database, into(left_out), into(changed));
    const outcome = await run(records, importRun, new Refusals(), counts);
    database.close();
    return { ...outcome, left_out, changed };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function dumpCounts(database: DatabaseSync): Counts {
  const count = (from: string) =>
    Number(database.prepare(`SELECT count(*) AS count FROM ${from}`).get()?.count);
  return { user: count('user_sanitised'), review: count('review'), vote: count('vote') };
}

class Refusals {
  count = 0;
  readonly reasons: Record<string, number> = {};

  readonly add = (where: string, reason: string): void => {
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    this.count++;
    if (this.count <= mostReported) {
      console.error(`${where}: ${reason}`);
    } else if (this.count === mostReported + 1) {
      console.error(`Further refused records are only counted, in the field "refused".`);
    }
    process.exitCode = 1;
  };
}

async function run(
  records: AsyncIterable<SourcedRecord>,
  { isDryRun }: ImportRun,
  { add: onRefused, reasons: refused }: Refusals,
  counts: Counts | undefined,
) {
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  const limit = `waiting up to ${patience / 1000} s for that to finish`;
  const gaps = new Gaps();
  const importInto = async (isAlone: boolean) => {
    const { written, present } = await importRecords(records, {
      isDryRun,
      isAlone,
      // Alone, the stream is off, and nothing erases deleted data.
      patience: isDryRun || isAlone ? 0 : patience,
      gaps,
      onRefused,
      onWaiting: () => console.error(`Some of this data is still being deleted: ${limit}`),
      onProgress: showProgress('Importing', total),
      onFailure: tellWritten,
    });
    return { written, present, refused };
  };
  const outcome = await (isDryRun ? importInto(false) : bulk(importInto));
  return { ...outcome, ...(await gaps.find()) };
}

/** Says what an import wrote before it failed, so that the counts of a repeated one make sense. */
function tellWritten({ written }: { written: Counts }): void {
  const kinds = Object.entries(written).map(([kind, count]) => `${count} ${kind}`);
  if (kinds.length === 0) return;
  console.error(
    `This import wrote ${kinds.join(', ')} before it failed. Repeat it: it then counts these as present, and writes the rest`,
  );
}

/** Decompresses the source if it begins with the two bytes of gzip. Throws for another archive. */
async function unzipped(source: Readable): Promise<Readable> {
  await once(source, 'readable');
  const first: Buffer | null = source.read();
  if (first === null) return source;
  source.unshift(first);
  const archive = archiveIn(first);
  if (archive !== undefined) throw new Error(archive);
  const isZipped = first[0] === 0x1f && first[1] === 0x8b;
  // The reader of the result gets the error of either stream.
  return isZipped ? pipeline(source, createGunzip(), () => {}) : source;
}
