import { SqliteStorage } from '../../../shared/base/table/sqlite/storage.ts';
import { provideStorage } from '../../../shared/base/table/storage.ts';
import { isFollowed } from '../../../shared/features/background.ts';
import { refuseNewerFormat, refuseOthers } from '../../settings.ts';
import { type Discovery, readDiscovery } from './discovery.ts';
import { databaseEnvironment } from './dynamodb.ts';
import { localKeys } from './key-store.ts';

/**
 * Opens the database of the stack on the data folder, and sets the environment variables that
 * shared/ reads. Its settings must be in force already. Throws if no stack runs.
 */
export function connect(dataDir: string): void {
  const stack = runningStack(dataDir);
  refuseNewerFormat(stack.data_format ?? 0);
  if (stack.settings) refuseOthers(stack.settings);
  if (stack.database !== null) {
    provideStorage(new SqliteStorage(stack.database, { isRecorded: isFollowed }));
  } else {
    const { dynamodb_endpoint: endpoint, table_name: name } = stack;
    Object.assign(process.env, databaseEnvironment(endpoint ?? '', name));
  }
  if (stack.url) process.env.AUTH_URL = stack.url.replace(/\/[^/]*$/, '');
  process.env.SIGNING_KEYS ||= localKeys(dataDir, 'SIGNING_KEYS');
}

/** Returns the stack that runs on the data folder. Throws if no stack runs. */
export function runningStack(dataDir: string): Discovery {
  const stack = readDiscovery(dataDir);
  if (stack && (stack.database ?? stack.dynamodb_endpoint) && isRunning(stack.pid)) return stack;
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
