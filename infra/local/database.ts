import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findEngine, freeAddress } from './engine.ts';
import { indexRecords } from './engine-records.ts';

/** An embedded DynamoDB that runs as a child process. */
export interface Database {
  endpoint: string;
  /** True if a web page in a browser of this machine could find the endpoint by trying. */
  isGuessable: boolean;
  pid: number;
  /** Resolves with a sentence if the process ends unexpectedly. */
  failure: Promise<string>;
  /** Resolves when the process has ended and its file is complete. */
  stop(): Promise<void>;
}

/** In milliseconds, until the first line of the engine's log. */
const longestSilence = 10_000;

/** Returns variables of the AWS SDK. The empty profile replaces the developer's own. */
export function databaseEnvironment(endpoint: string, tableName: string): Record<string, string> {
  return {
    TABLE_NAME: tableName,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: '',
    AWS_PROFILE: '',
  };
}

/** Returns the options of the stack's own clients for `endpoint`. */
export function clientOptions(endpoint: string) {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
}

/** In milliseconds: the longest wait of `impatientOptions` for a response. */
export const longestAnswer = 5_000;

/** Returns `clientOptions` for a client that tries once, and does not wait for ever. */
export function impatientOptions(endpoint: string) {
  return {
    ...clientOptions(endpoint),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: longestAnswer,
      throwOnRequestTimeout: true,
    },
  };
}

/**
 * Starts the engine on `file`, which it creates, or in memory. `engine` or ENGINE replaces its
 * program. It listens on `port`, by default a free one. The engine ends with this process, however
 * that ends. A shell waits at a pipe from this process. When the pipe closes, it stops the engine
 * and deletes the folder `temporary`.
 */
export async function startDatabase(
  options: { engine?: string; file?: string; temporary?: string; port?: number } = {},
): Promise<Database> {
  const { file, temporary = '', port } = options;
  const program = findEngine(options.engine || process.env.ENGINE);
  const { engine, endpoint, isGuessable } = await startEngine(program, file, port);
  const pid = Number(engine.pid);
  const atTheEnd = 'read _; kill "$1"; [ -z "$2" ] || { sleep 1; rm -rf -- "$2"; }';
  // Detached, so that Ctrl-C reaches this process only, and requests in flight keep their database.
  const watchdog = spawn('sh', ['-c', atTheEnd, 'sh', `${pid}`, temporary], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const children = [engine, watchdog];
  for (const child of children) child.unref();
  if (file !== undefined) indexRecords(file);
  let stopping = false;

  return {
    endpoint,
    isGuessable,
    pid,
    failure: new Promise((resolve) => {
      engine.once('exit', (code, signal) => {
        if (!stopping) resolve(`the embedded DynamoDB ended (${signal ?? `exit status ${code}`})`);
      });
    }),
    async stop() {
      stopping = true;
      // The engine first. If this process dies in between, the watchdog still runs.
      for (const child of children) await end(child);
    },
  };
}

async function startEngine(binary: string, file?: string, fixedPort?: number) {
  for (let attempt = 1; ; attempt++) {
    const { host, port, isGuessable } = await freeAddress(fixedPort);
    const options = ['--host', host, '--port', `${port}`];
    if (file !== undefined) options.push('--db-path', file);
    // The files contain e-mail addresses, so only this user may read them.
    const engine = spawn('sh', ['-c', 'umask 077; exec "$0" "$@"', binary, 'serve', ...options], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const line = await firstLine(engine);
    if (line.includes('listening on')) {
      return { engine, endpoint: `http://${host}:${port}`, isGuessable };
    }
    // Another process has taken the port in the meantime.
    if (line.includes('already in use') && attempt < 5) continue;
    engine.kill();
    if (line.includes('already in use') && fixedPort !== undefined) {
      throw new Error(`port ${port} of the database is in use: choose another with --engine-port`);
    }
    throw new Error(`the embedded DynamoDB did not start: ${line}`);
  }
}

/** Returns the first line of the engine's log: it listens, or the reason why not. */
async function firstLine(engine: ChildProcess) {
  const failed = once(engine, 'error').then(([error]) => `${error}`);
  const stderr = engine.stderr as Socket | undefined;
  if (!stderr) return failed; // No file descriptor was left for it.
  const lines = createInterface({ input: stderr });
  const tooLate = `it did not answer within ${longestSilence / 1000} seconds`;
  const line = await Promise.race([
    failed,
    once(lines, 'line').then(([first]) => `${first}`),
    once(lines, 'close').then(() => 'it ended without a message'),
    sleep(longestSilence, tooLate, { ref: false }),
  ]);
  stderr.unref();
  return line;
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
