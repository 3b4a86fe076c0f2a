import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { indexRecords } from './engine-records.ts';

/** An embedded DynamoDB that runs as a child process. */
export interface Database {
  endpoint: string;
  pid: number;
  /** Resolves with a sentence if the process ends unexpectedly. */
  failure: Promise<string>;
  /** Resolves when the process has ended and its file is complete. */
  stop(): Promise<void>;
}

/** In milliseconds: the longest wait for the first line of the engine's log. */
const longestSilence = 10_000;

/**
 * Returns the environment variables that the AWS SDK reads. The engine accepts any credentials. An
 * empty profile keeps the SDK from using a profile of the developer.
 */
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

/**
 * Starts the engine on `file`, which it creates, or in memory. The engine ends with this process,
 * however that ends. A shell waits at a pipe from this process. When the pipe closes, it stops the
 * engine and deletes the folder `temporary`.
 */
export async function startDatabase({
  file,
  temporary,
}: {
  file?: string;
  temporary?: string;
} = {}): Promise<Database> {
  const { engine, endpoint } = await startEngine(file);
  const pid = Number(engine.pid);
  // Detached, so that Ctrl-C reaches this process only, and requests in flight keep their database.
  const watchdog = spawn(
    'sh',
    [
      '-c',
      'read _; kill "$1"; [ -z "$2" ] || { sleep 1; rm -rf -- "$2"; }',
      'sh',
      `${pid}`,
      temporary ?? '',
    ],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  const children = [engine, watchdog];
  for (const child of children) child.unref();
  if (file !== undefined) indexRecords(file);
  let stopping = false;

  return {
    endpoint,
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

async function startEngine(file?: string): Promise<{ engine: ChildProcess; endpoint: string }> {
  const binary = enginePath();
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const options = ['--port', `${port}`, ...(file === undefined ? [] : ['--db-path', file])];
    // The files contain e-mail addresses, so only this user may read them.
    const engine = spawn('sh', ['-c', 'umask 077; exec "$0" "$@"', binary, 'serve', ...options], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const line = await firstLine(engine);
    if (line.includes('listening on')) return { engine, endpoint: `http://127.0.0.1:${port}` };
    // Another process has taken the port in the meantime.
    if (line.includes('already in use') && attempt < 5) continue;
    engine.kill();
    throw new Error(`the embedded DynamoDB did not start: ${line}`);
  }
}

/**
 * Returns the first line of the engine's log: it listens, or the reason why not. The rest of the
 * log is dropped.
 */
async function firstLine(engine: ChildProcess): Promise<string> {
  const failed = once(engine, 'error').then(([error]) => `${error}`);
  if (!engine.stderr) return failed;
  const lines = createInterface({ input: engine.stderr });
  const said = await Promise.race([
    failed,
    once(lines, 'line').then(([line]) => `${line}`),
    once(lines, 'close').then(() => 'it ended without a message'),
    sleep(longestSilence, `it did not answer within ${longestSilence / 1000} seconds`, {
      ref: false,
    }),
  ]);
  const { stderr } = engine;
  if ('unref' in stderr && typeof stderr.unref === 'function') stderr.unref();
  return said;
}

function enginePath(): string {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch (cause) {
    throw new Error(
      `there is no embedded DynamoDB for ${process.platform}-${process.arch}: set DYNAMODB_ENDPOINT to the URL of a running one, such as DynamoDB local (docker run -p 8000:8000 amazon/dynamodb-local, then DYNAMODB_ENDPOINT=http://localhost:8000)`,
      { cause },
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new Error('this machine has no free port');
  return address.port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
