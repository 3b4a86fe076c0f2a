import { join } from 'node:path';
import { tableName } from '../../../shared/base/table/client.ts';
import { SqliteStorage } from '../../../shared/base/table/sqlite/storage.ts';
import { provideStorage } from '../../../shared/base/table/storage.ts';
import { hasFormerNodes } from '../../../shared/features/audit/public.ts';
import { isFollowed } from '../../../shared/features/background.ts';
import { upgradeTable } from '../../../shared/features/transfer/public.ts';
import type { Undo } from '../undo.ts';
import { followCheckpoints } from './checkpoints.ts';
import { databaseFile } from './data-folder.ts';
import { refuseForeign } from './database-file.ts';
import { databaseEnvironment } from './dynamodb.ts';
import { expireItems } from './expire.ts';
import { hasFormerDatabase, moveFormerDatabase } from './former-database.ts';
import type { OpenFolder } from './open-folder.ts';
import { changesOf, type RecordSource, streamOf } from './record-source.ts';
import { addIndexes, createTable } from './table.ts';

/** The table, and how its changes and its time to live are followed. */
export interface Table {
  source: RecordSource;
  /** Deletes what has expired. DynamoDB does it by itself. */
  sweep: ((signal: AbortSignal) => Promise<number>) | undefined;
  /** The file of the database, if it is on the disk. */
  file: string | undefined;
  endpoint: string | undefined;
}

/** Opens the table in `folder`, or at `endpoint`. Throws a sentence for the user. */
export async function openTable(
  endpoint: string | undefined,
  { dataDir, temporary }: OpenFolder,
  undo: Undo,
): Promise<Table> {
  if (endpoint !== undefined) return openDynamoDb(endpoint, undo);
  const isOnDisk = temporary === undefined;
  const file = join(temporary ?? dataDir, databaseFile);
  if (isOnDisk) {
    if (hasFormerDatabase(dataDir)) await moveFormerDatabase(dataDir, tableName());
    refuseForeign(file);
  }
  const durability = isOnDisk ? 'synced' : 'unsynced';
  const storage = new SqliteStorage(file, { durability, isRecorded: isFollowed });
  undo.push(storage.close.bind(storage));
  if (isOnDisk) undo.push(followCheckpoints(file));
  provideStorage(storage);
  undo.push(() => provideStorage(undefined));
  const source = changesOf(storage);
  undo.push(source.close);
  const sweep = (signal: AbortSignal) => expireItems(storage, signal);
  return { source, sweep, file, endpoint };
}

async function openDynamoDb(endpoint: string, undo: Undo): Promise<Table> {
  const { streamArn, missing } = await createTable(endpoint, tableName());
  Object.assign(process.env, databaseEnvironment(endpoint, tableName()));
  if (missing.length > 0 || (await hasFormerNodes())) {
    console.error('Upgrading the data: about a minute for 30,000 reviews.');
    await upgradeTable();
    // Last, because they tell the next start that the upgrade is complete.
    await addIndexes(endpoint, tableName(), missing);
  }
  const source = streamOf(endpoint, streamArn);
  undo.push(source.close);
  return { source, sweep: undefined, file: undefined, endpoint };
}
