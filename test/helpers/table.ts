import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll } from '@jest/globals';
import { clientOptions, databaseEnvironment, startDatabase } from '../../infra/local/database.ts';
import { createTable } from '../../infra/local/table.ts';

/**
 * Starts an empty engine of its own. Its database is a file, because only a file lets the stream be
 * indexed; in /dev/shm it takes no disk.
 */
async function startEngine() {
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const temporary = mkdtempSync(join(memory, 'review-service-test-'));
  const { endpoint, stop } = await startDatabase({
    file: join(temporary, 'dynamodb.sqlite'),
    temporary,
  });
  await createTable(endpoint, 'reviews');
  return {
    endpoint,
    TableName: 'reviews',
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
    async stop() {
      const client = new DynamoDBClient(clientOptions(endpoint));
      await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}

// A test file that imports this module has a table to itself. After starting the stack, it uses the
// table of the stack.
if (!process.env.TABLE_NAME) {
  const given = process.env.DYNAMODB_ENDPOINT;
  const { endpoint, TableName, stop } = await (given ? borrow(given) : startEngine());
  Object.assign(process.env, databaseEnvironment(endpoint, TableName));
  afterAll(stop);
}
