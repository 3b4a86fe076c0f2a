import { afterAll } from '@jest/globals';
import { createTable, databaseEnvironment, startDatabase } from '../infra/local/database.ts';
import './contract.ts';

// Each test file has an engine of its own, in memory and empty, before it imports anything.
const database = await startDatabase();
await createTable(database.endpoint, 'reviews');
Object.assign(process.env, databaseEnvironment(database.endpoint, 'reviews'), {
  SIGNING_KEYS: Buffer.alloc(32, 'test').toString('base64url'),
});

afterAll(() => database.stop());
