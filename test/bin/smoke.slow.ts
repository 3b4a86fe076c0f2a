import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { callerOf } from '../helpers/api.ts';
import { listen } from '../helpers/listen.ts';
import { admin, root as cwd, fresh, start } from '../helpers/service.ts';
import '../helpers/table.ts';
import { newFolder } from '../helpers/folder.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;
const dataDir = newFolder();
let stack: ChildProcess | undefined;

afterAll(async () => {
  if (stack) {
    const end = once(stack, 'close');
    stack.kill('SIGTERM');
    await end;
  }
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

test('publishes, edits, deletes and votes, and says what it has left behind', async () => {
  const folder = fresh('data');
  const service = await start(folder, { options: ['--quiet'] });
  const people = await Promise.all(
    ['Ann', 'Ben'].map(async (name) => {
      const { id } = await admin(folder, ['user', 'create', '--name', name]);
      const scopes = ['--scope', 'review', '--scope', 'vote'];
      const options = ['--user', id, '--name', 'Test', ...scopes];
      return (await admin(folder, ['token', 'create', ...options])).access_token as string;
    }),
  );
  const [ann = '', ben = ''] = people;
  const { url } = service;
  const alone = await smoke(url, '--token', ann, '--write');
  expect(alone.stdout).toContain('\nleft    no vote, because there is no review by others');
  const review = {
    entity_id: crypto.randomUUID(),
    entity_type: 'work',
    text: 'A record that gets better with every listen.',
    license_choice: 'CC BY-SA 4.0',
  };
  const call = callerOf(url, ben);
  expect((await call('POST', '/review/', review)).status).toBe(200);
  const { code, stdout } = await smoke(url, '--token', ann, '--write');
  expect(stdout.split('\n').slice(-6)).toEqual([
    'ok      a review is published, edited and deleted',
    'ok      a vote is cast and withdrawn',
    'left    one publication and two edits of the daily limits of the account',
    'left    one vote of the daily limit of the account',
    expect.stringMatching(/^1\d passed, 0 failed$/),
    '',
  ]);
  expect(code).toBe(0);
  const { body } = await callerOf(url)('GET', '/review/');
  expect(body).toMatchObject({ count: 1, reviews: [{ votes: { positive: 0, negative: 0 } }] });
  await service.end('SIGTERM');
});

test('names the review that it could not delete', async () => {
  const { url, close } = await serve((request, response) => {
    const hasDraft = request.method === 'POST' && request.url === '/ws/1/review';
    const body = hasDraft ? { id: 'abc' } : { languages: ['en'] };
    response.writeHead(200, { ...headers, 'X-Content-Type-Options': 'nosniff' });
    response.end(JSON.stringify(body));
  });
  const { code, stdout } = await smoke(url, '--token', 'rva_x', '--write');
  close();
  expect(stdout).toContain('\nleft    the draft or review abc\n');
  expect(code).toBe(1);
});

test('refuses to write without a token', async () => {
  const { code, stderr } = await smoke('--write');
  expect(stderr).toBe('Error: --write needs a --token\n');
  expect(code).toBe(1);
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
  expect(stdout).toMatch(/\n2 passed, 1\d failed\n$/);
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
