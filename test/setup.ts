import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { createTable, databaseEnvironment, startDatabase } from '../infra/local/database.ts';

// Each test file has an engine of its own, empty, before it imports anything. A file lets its stream be indexed, and this one costs no disk.
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const temporary = mkdtempSync(join(memory, 'review-service-test-'));
const database = await startDatabase({ file: join(temporary, 'dynamodb.sqlite'), temporary });
await createTable(database.endpoint, 'reviews');
Object.assign(process.env, databaseEnvironment(database.endpoint, 'reviews'), {
  SIGNING_KEYS: Buffer.alloc(32, 'test').toString('base64url'),
});

afterAll(async () => {
  await database.stop();
  rmSync(temporary, { recursive: true });
});
