import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startDatabase } from '../../../infra/local/database.ts';
import { announce, type Discovery } from '../../../infra/local/discovery.ts';
import { scanTable } from '../../fixtures.ts';

interface Run {
  child: ChildProcess;
  /** The base URL, once it is printed. */
  url: Promise<string>;
  /** The exit status, and all that was written to stderr. */
  end: Promise<{ code: number | null; stderr: string }>;
}

const { PATH, NODE_COMPILE_CACHE } = process.env;
const root = fileURLToPath(new URL('../../..', import.meta.url));
let dataDir: string;
let runs: Run[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'stack-test-'));
  runs = [];
});

afterEach(async () => {
  for (const { child, end } of runs) {
    child.kill('SIGKILL');
    await end;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

function start(args: string[] = [], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, ['bin/start.ts', '--port', '0', ...args], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const url = new Promise<string>((resolve) => {
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
      const found = stdout.match(/runs at (\S+)/)?.[1];
      if (found) resolve(found);
    });
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const end = once(child, 'close').then(([code]) => ({ code, stderr }));
  const run = { child, url, end };
  runs.push(run);
  return run;
}

function discovery(): Discovery {
  return JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
}

/** A dead process that nobody has asked for its status still has an entry, but no command line. */
function isAlive(pid: number | null): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`).length > 0;
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited for too long');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function languages(url: string): Promise<unknown> {
  const response = await fetch(`${url}/review/languages`);
  return response.json();
}

test('serves, says where it is, and leaves nothing at SIGTERM', async () => {
  const { child, url, end } = start();
  expect(await languages(await url)).toEqual({ languages: expect.arrayContaining(['en']) });
  const { engine_pid, dynamodb_endpoint, ...rest } = discovery();
  expect(rest).toEqual({ pid: child.pid, url: await url, table_name: 'reviews' });
  expect((await fetch(dynamodb_endpoint ?? '')).status).toBe(200);
  expect(statSync(join(dataDir, 'signing-key')).mode & 0o777).toBe(0o600);

  child.kill('SIGTERM');
  expect(await end).toEqual({ code: 0, stderr: '' });
  expect(isAlive(engine_pid)).toBe(false);
  expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
  expect(existsSync(join(dataDir, 'dynamodb.sqlite-wal'))).toBe(false);
});

test('keeps its key over a restart', async () => {
  const first = start();
  await first.url;
  const key = readFileSync(join(dataDir, 'signing-key'), 'utf8');
  expect(Buffer.from(key, 'base64url')).toHaveLength(32);
  first.child.kill('SIGINT');
  expect(await first.end).toEqual({ code: 0, stderr: '' });
  await start().url;
  expect(readFileSync(join(dataDir, 'signing-key'), 'utf8')).toBe(key);
});

test('deletes at its start what has expired', async () => {
  const first = start();
  await first.url;
  const itemsAt = (url: string | null) => scanTable(url ?? '');
  const items = [
    { pk: 'REQUEST#old', sk: 'REQUEST', expires_at: Math.floor(Date.now() / 1000) - 1 },
    { pk: 'REQUEST#new', sk: 'REQUEST', expires_at: Math.floor(Date.now() / 1000) + 600 },
  ];
  const client = new DynamoDBClient({ endpoint: discovery().dynamodb_endpoint ?? '' });
  for (const Item of items) {
    const put = new PutCommand({ TableName: 'reviews', Item });
    await DynamoDBDocumentClient.from(client).send(put);
  }
  client.destroy();
  first.child.kill('SIGTERM');
  await first.end;

  await start().url;
  const deadline = Date.now() + 10_000;
  let left = await itemsAt(discovery().dynamodb_endpoint);
  while (left.length > 1 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = await itemsAt(discovery().dynamodb_endpoint);
  }
  expect(left.filter(({ sk }) => sk === 'REQUEST')).toEqual([items[1]]);
});

test('leaves no engine at SIGKILL, and starts again', async () => {
  const first = start();
  await first.url;
  const { engine_pid } = discovery();
  first.child.kill('SIGKILL');
  await first.end;
  await until(() => !isAlive(engine_pid));
  expect(await languages(await start().url)).toHaveProperty('languages');
});

test('ends an engine that outlived its stack, before it starts its own', async () => {
  const leftover = await startDatabase({ file: join(dataDir, 'dynamodb.sqlite') });
  announce(dataDir, {
    pid: 1,
    engine_pid: leftover.pid,
    url: null,
    dynamodb_endpoint: leftover.endpoint,
    table_name: 'reviews',
  });
  await start().url;
  expect(isAlive(leftover.pid)).toBe(false);
  expect(await leftover.failure).toContain('exit status 0');
  await leftover.stop();
});

test('leaves a process alone that only has the number of an engine', async () => {
  const other = spawn('sleep', ['60']);
  announce(dataDir, {
    pid: 1,
    engine_pid: other.pid ?? null,
    url: null,
    dynamodb_endpoint: null,
    table_name: 'reviews',
  });
  await start().url;
  expect(isAlive(other.pid ?? null)).toBe(true);
  other.kill();
});

test('ends if its engine does', async () => {
  const { url, end } = start();
  await url;
  process.kill(Number(discovery().engine_pid), 'SIGKILL');
  const { code, stderr } = await end;
  expect(code).toBe(1);
  expect(stderr).toContain('Error: the embedded DynamoDB ended (SIGKILL)');
  expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
});

test('of two that start at once, one has the data folder', async () => {
  const both = [start(), start()];
  const loser = await Promise.race(both.map(async (run) => ({ run, ...(await run.end) })));
  expect(loser.code).toBe(1);
  expect(loser.stderr).toMatch(
    /^Error: the data folder .* is in use by (process \d+|another process)\n$/,
  );
  const winner = both.find((run) => run !== loser.run);
  expect(await languages((await winner?.url) ?? '')).toHaveProperty('languages');

  const late = await start().end;
  expect(late.code).toBe(1);
  expect(late.stderr).toContain(`is in use by process ${winner?.child.pid}\n`);
  expect(discovery().pid).toBe(winner?.child.pid);
});

test('says that the port is taken, and leaves nothing', async () => {
  const first = start();
  const { port } = new URL(await first.url);
  const other = mkdtempSync(join(tmpdir(), 'stack-test-'));
  const { code, stderr } = await start(['--port', port], { DATA_DIR: other }).end;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Error: port ${port} is in use: choose another with --port or PORT\n`,
  });
  expect(existsSync(join(other, 'stack.json'))).toBe(false);
  rmSync(other, { recursive: true });
});

test('says that the data folder cannot be made', async () => {
  writeFileSync(join(dataDir, 'file'), '');
  const { code, stderr } = await start([], { DATA_DIR: join(dataDir, 'file', 'x') }).end;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: the data folder .* cannot be used: ENOTDIR.*\n$/);
});

test('says that no database answers', async () => {
  const { code, stderr } = await start([], { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' }).end;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: no DynamoDB answers at http:\/\/127.0.0.1:9 .*\n$/);
});

test('uses the database it is given', async () => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
  await start([], { DYNAMODB_ENDPOINT: endpoint }).url;
  expect(discovery()).toMatchObject({ dynamodb_endpoint: endpoint, engine_pid: null });
  expect(existsSync(join(dataDir, 'dynamodb.sqlite'))).toBe(false);
});

test.each(['SIGTERM', 'SIGKILL'] as const)('forgets a --memory run at %s', async (signal) => {
  const { child, url, end } = start(['--memory']);
  await url;
  const { engine_pid } = discovery();
  const words = readFileSync(`/proc/${engine_pid}/cmdline`, 'utf8').split('\0');
  const file = words.find((word) => word.endsWith('dynamodb.sqlite')) ?? '';
  expect(existsSync(file)).toBe(true);
  expect(file.startsWith(dataDir)).toBe(false);
  child.kill(signal);
  await end;
  await until(() => !isAlive(engine_pid) && !existsSync(file));
});
