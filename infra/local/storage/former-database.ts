import { existsSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { tableDefinition } from '../../../shared/base/table/definition.ts';
import type { Item } from '../../../shared/base/table/item.ts';
import { SqliteStorage } from '../../../shared/base/table/sqlite/storage.ts';
import { provideStorage } from '../../../shared/base/table/storage.ts';
import { hasFormerNodes } from '../../../shared/features/audit/public.ts';
import { isFollowed } from '../../../shared/features/background.ts';
import { upgradeTable } from '../../../shared/features/transfer/public.ts';
import { databaseFile } from './data-folder.ts';
import { refuseForeign } from './database-file.ts';
import { makeDurable } from './discovery.ts';

// The database of releases 1.0 to 1.2: the file of an emulator of DynamoDB. It is moved once. This
// file goes two releases after 1.3.

/** Name of the former database in a data folder. */
export const formerDatabaseFile = 'dynamodb.sqlite';

/** A table that every former database has. */
export const formerTable = '_stream_records';

/** Items that are written in one transaction. */
const pageSize = 500;

/** In milliseconds, between two lines about the progress. */
const interval = 5_000;

/** A value as DynamoDB sends it, such as `{ N: '3' }`. */
type AttributeValue = Readonly<Record<string, unknown>>;

/** Returns true if the folder has a former database, and no other. */
export function hasFormerDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, formerDatabaseFile)) && !existsSync(join(dataDir, databaseFile));
}

/**
 * Throws a sentence if the former database of a folder is damaged or has other tables than this
 * one, or if the disk has no room for a second database. Nothing is changed by then.
 */
export function checkFormerDatabase(dataDir: string, tableName: string): void {
  const former = join(dataDir, formerDatabaseFile);
  refuseForeign(former, { table: formerTable });
  refuseOtherTables(former, tableName);
  refuseFullDisk(dataDir, former);
}

/**
 * Copies a former database into a new one. Can be killed at any moment and begun again, because the
 * new file gets its name last. The former file stays.
 */
export async function moveFormerDatabase(
  dataDir: string,
  tableName: string,
  report: (sentence: string) => void = console.error,
): Promise<void> {
  const former = join(dataDir, formerDatabaseFile);
  const partial = join(dataDir, `${databaseFile}.moving`);
  for (const end of ['', '-wal', '-shm']) rmSync(partial + end, { force: true });
  const source = new DatabaseSync(former, { timeout: 5_000 });
  const target = new SqliteStorage(partial, { durability: 'unsynced', isRecorded: isFollowed });
  try {
    // A release that was stopped at its first start may not have made the table.
    if (tablesIn(source).includes(tableName)) {
      // The changes of these items have been recorded long ago.
      await target.inBulk(async () => {
        await copyItems(source, tableName, target, report);
        await upgrade(source, tableName, target, report);
      });
      await copyChanges(source, tableName, target);
    }
  } finally {
    target.close();
    source.close();
  }
  makeDurable(partial);
  renameSync(partial, join(dataDir, databaseFile));
  makeDurable(dataDir);
  report(
    `The data is in ${databaseFile} now. Keep ${former} until you have seen that all is well.`,
  );
}

/** Throws a sentence if a start would leave the data of another `TABLE_NAME` behind. */
function refuseOtherTables(former: string, tableName: string): void {
  const source = new DatabaseSync(former, { timeout: 5_000 });
  const tables = tablesIn(source);
  source.close();
  if (tables.length === 0 || tables.includes(tableName)) return;
  throw new Error(
    `the database ${former} has no table ${tableName}, but ${tables.join(', ')}: set TABLE_NAME to the one with your data. The data is unchanged`,
  );
}

/** Returns the names of the tables of DynamoDB. Others are the emulator's own, or of an index. */
function tablesIn(source: DatabaseSync): string[] {
  const tables = source
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all();
  return tables.map(({ name }) => `${name}`).filter((name) => !/^_|^sqlite_|::/.test(name));
}

function refuseFullDisk(dataDir: string, former: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const needed = statSync(former).size;
  if (free >= needed) return;
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6);
  throw new Error(
    `the data is moved to a new file, which needs ${megabytes(needed)} MB in ${dataDir}, and the disk has ${megabytes(free)} MB left: make room and start again. The data is unchanged`,
  );
}

async function copyItems(
  source: DatabaseSync,
  tableName: string,
  target: SqliteStorage,
  report: (sentence: string) => void,
): Promise<void> {
  const table = `"${tableName.replaceAll('"', '""')}"`;
  const total = Number(source.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n);
  const page = source.prepare(
    `SELECT rowid, item_json FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${pageSize}`,
  );
  report(`The data is moved to a new file: ${total} items, at about 10,000 a second.`);
  let copied = 0;
  let last = 0;
  let next = performance.now() + interval;
  for (;;) {
    const rows = page.all(last);
    if (rows.length === 0) break;
    last = Number(rows.at(-1)?.rowid);
    await target.write(rows.map((row) => ({ put: itemOf(`${row.item_json}`) })));
    copied += rows.length;
    if (performance.now() > next) {
      next += interval;
      report(`${copied} of ${total} items are moved.`);
    }
    await nextTurn();
  }
}

/** Derives anew what a release before 1.2 has derived otherwise. */
async function upgrade(
  source: DatabaseSync,
  tableName: string,
  target: SqliteStorage,
  report: (sentence: string) => void,
): Promise<void> {
  const hasTable = source.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
  const isOlder = tableDefinition.indexes.some(
    ({ name }) => hasTable.get(`${tableName}::gsi::${name}`) === undefined,
  );
  provideStorage(target);
  try {
    if (!isOlder && !(await hasFormerNodes())) return;
    report('The data is upgraded: about a minute for 100,000 reviews.');
    await upgradeTable();
  } finally {
    provideStorage(undefined);
  }
}

/** Copies the changes that consumers may not have processed. They skip those that they know. */
async function copyChanges(
  source: DatabaseSync,
  tableName: string,
  target: SqliteStorage,
): Promise<void> {
  const rows = source
    .prepare(
      `SELECT old_image, new_image FROM ${formerTable} WHERE table_name = ? ORDER BY CAST(sequence_number AS INTEGER)`,
    )
    .iterate(tableName);
  for (const { old_image, new_image } of rows) {
    const before = old_image === null ? undefined : itemOf(`${old_image}`);
    const after = new_image === null ? undefined : itemOf(`${new_image}`);
    await target.addChange(before, after);
  }
}

function itemOf(json: string): Item {
  const image = JSON.parse(json) as Record<string, AttributeValue>;
  return mapOf(image) as Item;
}

function mapOf(map: Record<string, AttributeValue>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, plain(value)]));
}

function plain(attribute: AttributeValue): unknown {
  const [[type, value]] = Object.entries(attribute) as [[string, unknown]];
  switch (type) {
    case 'N':
      return numberOf(`${value}`);
    case 'NULL':
      return null;
    case 'L':
      return (value as AttributeValue[]).map(plain);
    case 'M':
      return mapOf(value as Record<string, AttributeValue>);
    default:
      return value;
  }
}

function numberOf(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}
