import { jest } from '@jest/globals';
import { databaseEnvironment } from '../../infra/local/storage/dynamodb.ts';
import { restore } from './clock.ts';
import './contract.ts';

// Jest makes all its functions global but this one, because modules are ESM.
Object.assign(globalThis, { jest });

const keyOf = (name: string) => Buffer.alloc(32, name).toString('base64url');

// Nothing listens at this address. A test file that needs the table imports world.ts, or
// table.ts alone.
Object.assign(process.env, databaseEnvironment('http://127.0.0.1:1', ''), {
  AUTH_URL: 'https://api.example/ws',
  // Tests publish more in a day than people may.
  PUBLICATIONS_PER_DAY: '100000',
  EDITS_PER_DAY: '100000',
  SIGNING_KEYS: keyOf('test'),
  SESSION_KEYS: keyOf('session'),
  WEBHOOK_KEYS: keyOf('webhook'),
});

expect.extend({
  toHaveStatus(answer: { status?: unknown }, status: number) {
    const message = () => `expected the status ${status} of ${this.utils.printReceived(answer)}`;
    return { pass: answer?.status === status, message };
  },
});

// Each test leaves the clock, what it mocked, and the environment as it found them.
let environment = { ...process.env };
beforeEach(() => {
  environment = { ...process.env };
});
afterEach(() => {
  restore();
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  Object.assign(process.env, environment);
  process.exitCode = undefined;
});
