import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientOptions, databaseEnvironment, startDatabase } from '../../infra/local/database.ts';
import { createTable } from '../../infra/local/table.ts';
import { skipSignatures } from '../../infra/local/unsigned.ts';
import { table } from '../../shared/table/client.ts';

/**
 * Starts an empty engine of its own. Its database is a file, because only a file lets the stream be
 * indexed; in /dev/shm it takes no disk.
 */
async function startEngine() {
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const temporary = mkdtempSync(join(memory, 'review-service-test-'));
  const file = join(temporary, 'dynamodb.sqlite');
  const { endpoint, stop } = await startDatabase({ file, temporary });
  // The first answer may be late where much is written to the disk.
  await createTable(endpoint, 'reviews').catch(() => createTable(endpoint, 'reviews'));
  return {
    endpoint,
    TableName: 'reviews',
    file,
    async stop() {
      await stop();
      rmSync(temporary, { recursive: true });
    },
  };
}

/** Makes a table of its own in an existing database. */
async function borrow(endpoint: string) {
  const TableName = `reviews-${randomUUID()}`;
  await createTable(endpoint, TableName);
  return {
    endpoint,
    TableName,
    file: '',
    async stop() {
      const client = new DynamoDBClient(clientOptions(endpoint));
      await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}

/** The file of the engine, if this test file has an engine of its own. */
export let file = '';

/** Makes an empty table, which is used from now on. Returns what brings the former one back. */
export async function enterEmptyTable(): Promise<() => void> {
  const { TABLE_NAME: former, AWS_ENDPOINT_URL_DYNAMODB: endpoint } = process.env;
  process.env.TABLE_NAME = `reviews-${randomUUID()}`;
  await createTable(`${endpoint}`, process.env.TABLE_NAME);
  return () => {
    process.env.TABLE_NAME = former;
  };
}

// A test file that imports this module has a table to itself. After starting the stack, it uses the
// table of the stack.
if (!process.env.TABLE_NAME) {
  const given = process.env.DYNAMODB_ENDPOINT;
  const own = await (given ? borrow(given) : startEngine());
  file = own.file;
  Object.assign(process.env, databaseEnvironment(own.endpoint, own.TableName));
  // As the service does with this engine: signatures take a third of the CPU of a request. A test
  // file with a server of its own that checks them sets WITH_SIGNATURES.
  if (!given && !process.env.WITH_SIGNATURES) skipSignatures(table);
  afterAll(own.stop);
}
