import { randomUUID } from 'node:crypto';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll } from '@jest/globals';
import {
  clientOptions,
  createTable,
  databaseEnvironment,
  startDatabase,
} from '../infra/local/database.ts';
import './contract.ts';

// Before it imports anything, each test file has an engine of its own, in memory and empty, or a table of its own at DYNAMODB_ENDPOINT.
const given = process.env.DYNAMODB_ENDPOINT;
const database = given ? undefined : await startDatabase();
const endpoint = database?.endpoint ?? given ?? '';
const TableName = given ? `reviews-${randomUUID()}` : 'reviews';
await createTable(endpoint, TableName);
Object.assign(process.env, databaseEnvironment(endpoint, TableName), {
  SIGNING_KEYS: Buffer.alloc(32, 'test').toString('base64url'),
});

afterAll(async () => {
  if (database) return database.stop();
  const client = new DynamoDBClient(clientOptions(endpoint));
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
});
