import { databaseEnvironment } from './database.ts';
import { type Discovery, localKey, readDiscovery } from './discovery.ts';

/** Sets the environment variables that shared/ reads to those of the stack on the data folder. */
export function connect(dataDir: string): void {
  const stack = runningStack(dataDir);
  Object.assign(process.env, databaseEnvironment(stack.dynamodb_endpoint ?? '', stack.table_name));
  if (stack.url) process.env.AUTH_URL = stack.url.replace(/\/[^/]*$/, '');
  process.env.SIGNING_KEYS ||= localKey(dataDir, 'signing-key');
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
