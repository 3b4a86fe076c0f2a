import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import '../helpers/table.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;
const cwd = fileURLToPath(new URL('../..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'smoke-test-'));
let stack: ChildProcess | undefined;

afterAll(async () => {
  if (stack) {
    const end = once(stack, 'close');
    stack.kill('SIGTERM');
    await end;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

function smoke(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = { cwd, env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir } };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['bin/smoke.ts', ...args],
      options,
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

async function startStack(env: Record<string, string>): Promise<void> {
  const args = ['bin/start.ts', '--port', '0', '--data-dir', dataDir];
  const options = { cwd, env: { PATH, NODE_COMPILE_CACHE, ...env } };
  stack = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  for await (const chunk of stack.stdout ?? []) {
    said += chunk;
    if (said.includes('runs at')) return;
  }
  throw new Error(said);
}

/** A database that tells which indexes are queried. */
async function startRecorder(queried: Set<string>): Promise<{ endpoint: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { IndexName } = JSON.parse(body || '{}');
    if (IndexName) queried.add(IndexName);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !/^(host|connection)$/.test(name)),
    ) as Record<string, string>;
    const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
    const answer = await fetch(endpoint, { method: 'POST', headers, body });
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'Content-Type': type }).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

test('passes the local stack, which it finds by itself, and reads every index', async () => {
  const queried = new Set<string>();
  const { endpoint, server } = await startRecorder(queried);
  await startStack({ DYNAMODB_ENDPOINT: endpoint });
  queried.clear();
  const { code, stdout } = await smoke();
  server.close();
  expect(stdout.split('\n').filter((line) => line.startsWith('FAILED'))).toEqual([]);
  expect(stdout).toMatch(/\n1\d passed, 0 failed\n$/);
  expect(code).toBe(0);
  expect([...queried].toSorted()).toEqual(
    ['all', 'author', 'entity', 'facet'].flatMap((scope) => [
      `${scope}-by-date`,
      `${scope}-by-popularity`,
    ]),
  );
});

async function serve(status: number, body: string): Promise<{ url: string; server: Server }> {
  const headers = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' };
  const server = createServer((_, response) => response.writeHead(status, headers).end(body));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ws/1`, server };
}

test('stops at a server that is another', async () => {
  const { url, server } = await serve(418, '{}');
  const { code, stdout } = await smoke(url);
  server.close();
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: `Checking ${url}
FAILED  a public endpoint answers JSON that any origin may read
        GET ${url}/review/languages: expected status 200, got 418
Stopped: ${url} is not the base URL of a review service
`,
  });
});

test('says of each failure what was wanted, and what came', async () => {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.end(request.url?.includes('limit=') ? '{"limit":2}' : '{"languages":["en"]}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ws/1`;
  const { code, stdout } = await smoke(url, '--token', 'rva_x');
  server.close();
  expect(stdout).toContain(`&limit=1: expected limit 1, got 2\n`);
  expect(stdout).toContain(`/vote: expected status 401, got 200\n`);
  expect(stdout).toContain(`/vote: expected status 204, got 200\n`);
  expect(stdout).toContain(`: expected issuer 'http://127.0.0.1`);
  expect(stdout).toContain(`/user/me: expected type of user.id 'string', got 'undefined'\n`);
  expect(stdout).toMatch(/\n1 passed, 1\d failed\n$/);
  expect(code).toBe(1);
});

test('stops at the first connection that fails', async () => {
  const { url, server } = await serve(200, '');
  server.close();
  const { code, stdout } = await smoke(url);
  expect(code).toBe(1);
  expect(stdout.match(/FAILED/g)).toHaveLength(1);
  expect(stdout).toMatch(
    /languages: connect ECONNREFUSED .*\nStopped: the service cannot be reached, so the other checks were skipped\n$/,
  );
});

test.each([
  ['foo', /^error: .*'foo' is invalid .* It must be a URL such as https:\S+\n$/],
  [
    '--data-dir /nowhere',
    /^Error: no local stack runs on .*, or give the base URL of a service\n$/,
  ],
])('says what is wrong with %s', async (args, sentence) => {
  const { code, stderr } = await smoke(...args.split(' '));
  expect(stderr).toMatch(sentence);
  expect(code).toBe(1);
});
