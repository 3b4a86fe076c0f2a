import '../helpers/engine.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { callerOf } from '../helpers/api.ts';
import { contract, tryContract } from '../helpers/contract-run.ts';
import { listen } from '../helpers/listen.ts';
import { admin, root as cwd, fresh, makeToken, start } from '../helpers/service.ts';
import '../helpers/table.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;
const dataDir = mkdtempSync(join(tmpdir(), 'contract-test-'));
let stack: ChildProcess | undefined;

afterAll(async () => {
  if (stack) {
    const end = once(stack, 'close');
    stack.kill('SIGTERM');
    await end;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs the quick part, as `npm run smoke` does. */
const smoke = (...args: string[]) => contract(['--quick', ...args], { DATA_DIR: dataDir });

async function startStack(env: Record<string, string>) {
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

test('passes a service on a DynamoDB, which it finds by itself, and reads every index', async () => {
  const queried = new Set<string>();
  const { origin, close } = await startRecorder(queried);
  await startStack({ DYNAMODB_ENDPOINT: origin });
  queried.clear();
  const { code, stdout } = await smoke();
  close();
  expect(stdout.split('\n').filter((line) => line.startsWith('DIFFERS'))).toEqual([]);
  expect(stdout).toMatch(/\n6\d hold, 0 differ, 1 could not be tried, in \d+ s\n$/);
  expect(code).toBe(0);
  const scopes = ['all', 'author', 'entity', 'facet', 'type'];
  expect([...queried].toSorted()).toEqual(
    scopes.flatMap((scope) => [`${scope}-by-date`, `${scope}-by-popularity`]),
  );
});

test('publishes, edits, deletes and votes, and says what it has left behind', async () => {
  const folder = fresh('data');
  const service = await start(folder, { options: ['--quiet'] });
  const people = await Promise.all(
    ['Ann', 'Ben'].map(async (name) => {
      const { id } = await admin(folder, ['user', 'create', '--name', name]);
      const scopes = ['--scope', 'review', '--scope', 'vote'];
      const options = ['--user', id, '--name', 'Test', ...scopes];
      return (await admin(folder, ['token', 'create', ...options])).access_token;
    }),
  );
  const [ann = '', ben = ''] = people;
  const { url } = service;
  const alone = await smoke(url, '--token', ann, '--write');
  expect(alone.stdout).toContain(
    '\nuntried ben POST /review/: it needs ben: give --admin, or set CONTRACT_BEN\n',
  );
  expect(alone.code).toBe(0);
  const review = {
    entity_id: crypto.randomUUID(),
    entity_type: 'work',
    text: 'A record that gets better with every listen.',
    license_choice: 'CC BY-SA 4.0',
  };
  const call = callerOf(url, ben);
  expect(await call('POST', '/review/', review)).toHaveStatus(200);
  const { code, stdout } = await smoke(url, '--token', ann, '--token', ben, '--write');
  expect(stdout).toContain('\nok      Its author deletes a review\n');
  expect(stdout).toContain('\nok      They withdraw their votes\n');
  expect(stdout.split('\n').slice(-4)).toEqual([
    'left    6 writes in the daily limits of ann',
    'left    2 writes in the daily limits of ben',
    expect.stringMatching(/^8\d hold, 0 differ, 1 could not be tried, in \d+ s$/),
    '',
  ]);
  expect(code).toBe(0);
  const { body } = await callerOf(url)('GET', '/review/');
  expect(body).toMatchObject({ count: 1, reviews: [{ votes: { positive: 0, negative: 0 } }] });
  await service.end('SIGTERM');
});

test('names the review that it could not delete', async () => {
  const { url, close } = await serve((request, response) => {
    const body = request.method === 'POST' ? { id: 'abc' } : { languages: ['en'] };
    response.writeHead(request.method === 'DELETE' ? 500 : 200, headers).end(JSON.stringify(body));
  });
  const { code, stdout } = await smoke(url, '--token', 'rva_x', '--write');
  close();
  expect(stdout).toContain('\nleft    /review/abc, written with the token of ann\n');
  expect(code).toBe(1);
});

test('refuses to write without a token', async () => {
  const { code, stderr } = await smoke('http://127.0.0.1:9/ws/1', '--write');
  expect(stderr).toBe('Error: --write needs a --token, or --admin\n');
  expect(code).toBe(1);
});

const headers = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
};

test('stops at a server that is another', async () => {
  const { url, close } = await serve((_, response) => response.writeHead(418, headers).end('{}'));
  const { code, stdout } = await smoke(url);
  close();
  expect(code).toBe(1);
  expect(stdout).toContain(`
DIFFERS The answer is a list of ISO 639-1 codes
        visitor GET ${url}/review/languages: expected status 200, got 418 {}
`);
  expect(stdout).toContain(`\nStopped: ${url} is not the base URL of a review service\n`);
  expect(stdout).toMatch(/\n0 hold, 10 differ, 0 could not be tried, in \d+ s\n$/);
});

test('takes a refusal until tomorrow for an answer', async () => {
  const { url, close } = await serve((_, response) => {
    response.writeHead(429, { ...headers, 'Retry-After': '40000' }).end('{}');
  });
  const { code, stdout } = await smoke(url);
  close();
  expect(code).toBe(1);
  expect(stdout).toContain('/review/languages: expected status 200, got 429 {}');
});

test('says of each failure what was wanted, and what came', async () => {
  const { url, close } = await serve((request, response) => {
    response
      .writeHead(200, headers)
      .end(request.url?.includes('limit=') ? '{"limit":2}' : '{"languages":["en"]}');
  });
  const { code, stdout } = await smoke(url, '--token', 'rva_x');
  close();
  for (const fault of [
    `&limit=1: expected count: an integer, got undefined\n`,
    '/vote: expected status 401, got 200 {"languages":["en"]}\n',
    '/review/: expected status 405, got 200 {"languages":["en"]}\n',
    `/.well-known/oauth-authorization-server: expected issuer: '${url.slice(0, -2)}', got undefined\n`,
    `/user/me: expected user: {`,
  ]) {
    expect(stdout).toContain(fault);
  }
  expect(stdout).toMatch(/\n\d+ hold, \d\d differ, \d could not be tried, in \d+ s\n$/);
  expect(code).toBe(1);
});

test('stops at the first connection that fails', async () => {
  const { url, close } = await serve(() => {});
  close();
  const { code, stdout } = await smoke(url);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^Checking .*\nStopped: the service cannot be reached \(connect ECONNREFUSED .*\)\n0 hold, /,
  );
});

test.each([
  ['foo', /^error: .*'foo' is invalid .* It must be a URL such as https:\S+\n$/],
  [
    '--data-dir /nowhere',
    /^Error: no stack runs on the data folder \/nowhere: .*, or give the base URL of a service\n$/,
  ],
])('says what is wrong with %s', async (args, sentence) => {
  const { code, stderr } = await smoke(...args.split(' '));
  expect(stderr).toMatch(sentence);
  expect(code).toBe(1);
});

test('the whole contract of one person holds: what rests on others is not tried', async () => {
  const folder = fresh('data');
  const { url, end } = await start(folder, { options: ['--quiet'] });
  const token = await makeToken(folder, cwd, 'review,vote,user');
  const { differs, holds, untried } = await tryContract([url, '--token', token]);
  await end('SIGTERM');
  expect(differs).toEqual([]);
  expect(holds).toBeGreaterThan(300);
  expect(untried.find(({ claim }) => claim === 'true counts as positive')?.why).toBe(
    'it needs ben: give --admin, or set CONTRACT_BEN',
  );
});
