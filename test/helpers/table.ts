import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientOptions, databaseEnvironment } from '../../infra/local/storage/dynamodb.ts';
import { createTable } from '../../infra/local/storage/table.ts';
import { table } from '../../shared/base/table/client.ts';
import { SqliteStorage } from '../../shared/base/table/sqlite/storage.ts';
import { provideStorage, storage } from '../../shared/base/table/storage.ts';
import { declared } from './declared.ts';
import { skipSignatures, startEmulator } from './emulator.ts';
import { newFolder } from './folder.ts';
import { watched } from './sends.ts';

// A test file that imports this module has a table to itself: a file of SQLite, or a table in the
// DynamoDB at DYNAMODB_ENDPOINT. After starting the stack, it uses the table of the stack. A file
// that imports engine.ts or moto.ts before has a DynamoDB of its own.

/** The storage in use, undefined on a DynamoDB. */
export let sqlite: SqliteStorage | undefined;

/** The name of the table in use: that of a file, for other processes, or of a table of DynamoDB. */
export let name = '';

const opened = new Map<string, SqliteStorage>();

/** Uses a table until the end of the test. Returns what brings the former one back. */
export function enterTable(next: string): () => void {
  const former = name;
  const leave = () => void enterTable(former);
  name = next;
  if (!sqlite) {
    process.env.TABLE_NAME = name;
    return leave;
  }
  sqlite = opened.get(name) ?? new SqliteStorage(name, { durability: 'unsynced' });
  opened.set(name, sqlite);
  provideStorage(watched(declared(sqlite)));
  return leave;
}

/** Makes an empty table, and returns its name. */
export async function newTable(): Promise<string> {
  if (sqlite) return join(newFolder(), 'reviews.sqlite');
  const made = `reviews-${randomUUID()}`;
  await createTable(`${process.env.AWS_ENDPOINT_URL_DYNAMODB}`, made);
  return made;
}

/** Makes an empty table, which is used from now on. Returns what brings the former one back. */
export async function enterEmptyTable(): Promise<() => void> {
  return enterTable(await newTable());
}

function enterSqlite(): void {
  name = join(newFolder(), 'reviews.sqlite');
  sqlite = new SqliteStorage(name, { durability: 'unsynced' });
  opened.set(name, sqlite);
  provideStorage(watched(declared(sqlite)));
}

async function enterEmulator(): Promise<void> {
  const { endpoint, stop } = await startEmulator(join(newFolder(), 'emulator.sqlite'));
  name = 'reviews';
  // The first answer may be late where much is written to the disk.
  await createTable(endpoint, name).catch(() => createTable(endpoint, name));
  Object.assign(process.env, databaseEnvironment(endpoint, name));
  // A test file with a server of its own that checks signatures sets WITH_SIGNATURES.
  if (!process.env.WITH_SIGNATURES) skipSignatures(table);
  afterAll(stop);
}

async function enterMoto(): Promise<void> {
  const { startMoto } = await import('./moto.ts');
  const { endpoint, stop } = await startMoto();
  await borrow(endpoint);
  afterAll(stop);
}

/** A method of the SDK's handler of HTTP requests, which its types leave out. */
interface ChangeableHandler {
  updateHttpClientConfig(name: string, value: number): void;
}

/** Makes a table of its own in an existing database, which may be slow. */
async function borrow(endpoint: string): Promise<void> {
  const requests = table.config.requestHandler as unknown as ChangeableHandler;
  requests.updateHttpClientConfig('requestTimeout', 30_000);
  const TableName = `reviews-${randomUUID()}`;
  name = TableName;
  await createTable(endpoint, TableName);
  Object.assign(process.env, databaseEnvironment(endpoint, TableName));
  afterAll(async () => {
    const client = new DynamoDBClient(clientOptions(endpoint));
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  });
}

/** Uses the table of the stack that runs, or to which this test is connected. */
function enterStack(stack: SqliteStorage): void {
  name = 'of the stack';
  sqlite = stack;
  opened.set(name, stack);
}

const ofStack = storage();
if (ofStack) enterStack(ofStack as SqliteStorage);
else if (!process.env.TABLE_NAME) {
  const { DYNAMODB_ENDPOINT: given, WITH_EMULATOR: isEmulated, WITH_MOTO: isMoto } = process.env;
  if (given) await borrow(given);
  else if (isMoto) await enterMoto();
  else if (isEmulated) await enterEmulator();
  else enterSqlite();
}

// Each test leaves the table as it found it. A test that imports this itself uses its one table.
if (expect.getState().currentTestName === undefined) {
  let before = name;
  beforeEach(() => {
    before = name;
  });
  afterEach(() => {
    if (name !== before) enterTable(before);
  });
}
