import { table } from '../../shared/table/client.ts';
import { refuseNewerFormat, refuseOthers } from '../settings.ts';
import { databaseEnvironment } from './database.ts';
import { type Discovery, readDiscovery } from './discovery.ts';
import { localKeys } from './key-store.ts';
import { skipSignatures } from './unsigned.ts';

/** A method of the SDK's handler of HTTP requests, which its types leave out. */
interface ChangeableHandler {
  updateHttpClientConfig(name: string, value: number): void;
}

/** In milliseconds: the longest wait of a command for an answer, on a machine that is very busy. */
const longestAnswer = 30_000;

/**
 * Sets the environment variables that shared/ reads to those of the stack on the data folder. Its
 * settings must be in force already. The client of the database waits longer from now on.
 */
export function connect(dataDir: string): void {
  const stack = runningStack(dataDir);
  refuseNewerFormat(stack.data_format ?? 0);
  if (stack.settings) refuseOthers(stack.settings);
  Object.assign(process.env, databaseEnvironment(stack.dynamodb_endpoint ?? '', stack.table_name));
  if (stack.url) process.env.AUTH_URL = stack.url.replace(/\/[^/]*$/, '');
  if (stack.engine_pid !== null) skipSignatures(table);
  waitLonger();
  process.env.SIGNING_KEYS ||= localKeys(dataDir, 'SIGNING_KEYS');
}

/**
 * Makes the client of the database wait half a minute, for work that no client waits for. It may
 * ask for hundreds of items at once, of an engine that shares a busy machine.
 */
export function waitLonger(): void {
  const requests = table.config.requestHandler as unknown as ChangeableHandler;
  requests.updateHttpClientConfig('connectionTimeout', longestAnswer);
  requests.updateHttpClientConfig('requestTimeout', longestAnswer);
}

/** Returns the stack that runs on the data folder. Throws if no stack runs. */
export function runningStack(dataDir: string): Discovery {
  const stack = readDiscovery(dataDir);
  if (stack?.dynamodb_endpoint && isRunning(stack.pid)) return stack;
  const start = dataDir === '.data' ? 'npm start' : `npm start -- --data-dir ${dataDir}`;
  throw new Error(`no local stack runs on the data folder ${dataDir}; start one with: ${start}`);
}

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
