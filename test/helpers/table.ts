import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll } from '@jest/globals';
import { clientOptions, databaseEnvironment, startDatabase } from '../../infra/local/database.ts';
import { createTable } from '../../infra/local/table.ts';

/** An engine of its own, empty. A file lets its stream be indexed, and this one costs no disk. */
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

/** A table of its own in a database that is there. */
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

// A test file that imports this has a table to itself. One that has started the stack uses that of
// the stack.
if (!process.env.TABLE_NAME) {
  const given = process.env.DYNAMODB_ENDPOINT;
  const { endpoint, TableName, stop } = await (given ? borrow(given) : startEngine());
  Object.assign(process.env, databaseEnvironment(endpoint, TableName));
  afterAll(stop);
}
