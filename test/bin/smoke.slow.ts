import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import { listen } from '../helpers/listen.ts';
import { root as cwd } from '../helpers/service.ts';
import '../helpers/table.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;
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
  const all = ['bin/smoke.ts', ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, all, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
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

/** A server, which must be closed. */
async function serve(answer: RequestListener) {
  const server = createServer(answer);
  const origin = await listen(server);
  return { origin, url: `${origin}/ws/1`, close: () => server.close() };
}

/** A database that tells which indexes are queried. */
function startRecorder(queried: Set<string>) {
  return serve(async (request, response) => {
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
  });
}

test('passes the local stack, which it finds by itself, and reads every index', async () => {
  const queried = new Set<string>();
  const { origin, close } = await startRecorder(queried);
  await startStack({ DYNAMODB_ENDPOINT: origin });
  queried.clear();
  const { code, stdout } = await smoke();
  close();
  expect(stdout.split('\n').filter((line) => line.startsWith('FAILED'))).toEqual([]);
  expect(stdout).toMatch(/\n1\d passed, 0 failed\n$/);
  expect(code).toBe(0);
  const scopes = ['all', 'author', 'entity', 'facet', 'type'];
  expect([...queried].toSorted()).toEqual(
    scopes.flatMap((scope) => [`${scope}-by-date`, `${scope}-by-popularity`]),
  );
});

const headers = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' };

test('stops at a server that is another', async () => {
  const { url, close } = await serve((_, response) => response.writeHead(418, headers).end('{}'));
  const { code, stdout } = await smoke(url);
  close();
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
  const { url, close } = await serve((request, response) => {
    response.writeHead(200, { ...headers, 'X-Content-Type-Options': 'nosniff' });
    response.end(request.url?.includes('limit=') ? '{"limit":2}' : '{"languages":["en"]}');
  });
  const { code, stdout } = await smoke(url, '--token', 'rva_x');
  close();
  for (const fault of [
    '&limit=1: expected limit 1, got 2\n',
    '/vote: expected status 401, got 200\n',
    '/vote: expected status 204, got 200\n',
    `: expected issuer 'http://127.0.0.1`,
    `/user/me: expected type of user.id 'string', got 'undefined'\n`,
  ]) {
    expect(stdout).toContain(fault);
  }
  expect(stdout).toMatch(/\n1 passed, 1\d failed\n$/);
  expect(code).toBe(1);
});

test('stops at the first connection that fails', async () => {
  const { url, close } = await serve(() => {});
  close();
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
