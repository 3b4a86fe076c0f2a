import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startStack } from '../../../infra/local/stack.ts';
import type { Discovery } from '../../../infra/local/storage/discovery.ts';
import { clientOptions } from '../../../infra/local/storage/dynamodb.ts';
import type { Item } from '../../../shared/base/table/item.ts';
import { SqliteStorage } from '../../../shared/base/table/sqlite/storage.ts';
import { startEmulator } from '../../helpers/emulator.ts';
import { newFolder } from '../../helpers/folder.ts';
import { listen } from '../../helpers/listen.ts';
import { root } from '../../helpers/service.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;
let dataDir: string;
let runs: { child: ChildProcess; end: Promise<unknown> }[] = [];

beforeEach(() => {
  dataDir = newFolder();
  runs = [];
});

afterEach(async () => {
  for (const { child, end } of runs) {
    child.kill('SIGKILL');
    await end;
  }
});

/** Returns promises of the URL that a stack prints, and of how it ends; and its output so far. */
function start(args: string[] = [], env: Record<string, string> = {}) {
  // Where the umask of an operator takes nothing away.
  const command = ['-c', 'umask 0; exec "$0" "$@"', process.execPath, 'bin/start.ts'];
  const child = spawn('sh', [...command, '--port', '0', ...args], {
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
  const run = { child, url, end, said: () => stdout };
  runs.push(run);
  return run;
}

function discovery(folder = dataDir): Discovery {
  return JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'));
}

async function until(condition: () => boolean) {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited for too long');
    await sleep(20);
  }
}

/** Uses the database of a folder, beside the service that runs there. */
async function inDatabase(folder: string, use: (storage: SqliteStorage) => Promise<unknown>) {
  const storage = new SqliteStorage(`${discovery(folder).database}`);
  await use(storage);
  storage.close();
}

/** Returns the processes that a process has started. */
function childrenOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
}

/** Returns the addresses that a process listens on: `127.0.0.1 3000`. */
function listening(pid: number): string[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((name) =>
    readlinkSync(`/proc/${pid}/fd/${name}`),
  );
  return ['tcp', 'tcp6'].flatMap((table) => {
    const [, ...rows] = readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n');
    return rows.flatMap((row) => {
      const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/);
      const isListening = state === '0A' && open.includes(`socket:[${inode}]`);
      return isListening ? [addressOf(local)] : [];
    });
  });
}

/** Parses an address of /proc/net, whose words have the least significant byte first. */
function addressOf(local: string): string {
  const [host = '', port = ''] = local.split(':');
  const bytes = (host.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );
  const isLoopback6 = bytes.join('') === `${'0'.repeat(15)}1`;
  return `${isLoopback6 ? '::1' : bytes.join('.')} ${Number.parseInt(port, 16)}`;
}

async function languages(url: string) {
  return (await fetch(`${url}/review/languages`)).json();
}

describe('a running stack', () => {
  const DATA_DIR = newFolder();
  let run: ReturnType<typeof start>;
  let base: string;
  beforeAll(async () => {
    run = start([], { DATA_DIR });
    base = await run.url;
  });
  afterAll(async () => {
    run.child.kill('SIGKILL');
    await run.end;
  });

  test('prints its addresses in one block, and a line for each request', async () => {
    await fetch(`${base}/review?limit=1`);
    await until(() => run.said().includes('GET'));
    const [block, lines] = run.said().split(/\n(?=GET)/);
    expect(block).toBe(`The review service runs at ${base}

  Open   ${base.replace(/1$/, '')}
  Try    curl ${base}/review/languages
  Data   ${DATA_DIR}
  Names  music by those who review them, books by those who review them
  Stop   Ctrl-C
`);
    expect(lines).toMatch(/^GET \/ws\/1\/review\?limit=1 200 \d+ ms\n$/);
  });

  test('serves requests, and records its addresses in its folder', async () => {
    expect(await languages(base)).toEqual({ languages: expect.arrayContaining(['en']) });
    expect(discovery(DATA_DIR)).toEqual({
      pid: run.child.pid,
      url: base,
      identity_provider: `${new URL(base).origin}/identity-provider`,
      database: join(DATA_DIR, 'reviews.sqlite'),
      dynamodb_endpoint: null,
      has_mail_server: false,
      table_name: 'reviews',
      data_format: expect.any(Number),
      settings: expect.objectContaining({ HELD_REVIEWS: '0' }),
    });
  });

  test('is one process, which listens on one port of this machine alone', async () => {
    const { pid = 0 } = run.child;
    expect(childrenOf(pid)).toEqual([]);
    const { port } = new URL(base);
    for (const address of listening(pid)) {
      expect(['127.0.0.1', '::1'].map((host) => `${host} ${port}`)).toContain(address);
    }
    expect(listening(pid)).not.toEqual([]);
  });

  test('leaves each file of its folder to its owner, whatever the umask is', () => {
    const names = readdirSync(DATA_DIR);
    expect(names).toEqual(
      expect.arrayContaining(['reviews.sqlite', 'reviews.sqlite-shm', 'reviews.sqlite-wal']),
    );
    const modes = names.map((name) => [name, statSync(join(DATA_DIR, name)).mode & 0o777]);
    expect(modes).toEqual(names.map((name) => [name, 0o600]));
  });

  test('keeps its port; a second stack fails and leaves nothing', async () => {
    const { port } = new URL(base);
    const { code, stderr } = await start(['--port', port]).end;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Error: port ${port} is in use: type npm start -- --port ${Number(port) + 1}\n`,
    });
    expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
  });

  test('allows an in-memory stack on the same folder', async () => {
    const { child, url, said, end } = start(['--memory'], { DATA_DIR });
    expect(await url).not.toBe(base);
    const folder = /--data-dir (\S+)/.exec(said())?.[1] ?? '';
    expect(discovery(folder).url).toBe(await url);
    expect(discovery(DATA_DIR).url).toBe(base);
    child.kill('SIGINT');
    expect(await end).toEqual({ code: 0, stderr: '' });
    expect(existsSync(folder)).toBe(false);
    expect(await languages(base)).toHaveProperty('languages');
  });

  const soon = Math.floor(Date.now() / 1000);
  const items = [
    { pk: 'REQUEST#old', sk: 'REQUEST', expires_at: soon - 1 },
    { pk: 'REQUEST#new', sk: 'REQUEST', expires_at: soon + 600 },
    // As older code counts, without the sums.
    { pk: 'TOTALS', sk: 'TOTAL#work', b: 3 },
  ];
  let key: string;

  test('leaves only its data folder at SIGTERM', async () => {
    key = readFileSync(join(DATA_DIR, 'signing-key'), 'utf8');
    expect(Buffer.from(key, 'base64url')).toHaveLength(32);
    await inDatabase(DATA_DIR, (storage) => storage.write(items.map((put) => ({ put }))));
    run.child.kill('SIGTERM');
    expect(await run.end).toEqual({ code: 0, stderr: '' });
    const left = ['lock', 'reviews.sqlite', 'session-key', 'signing-key', 'version.json'];
    expect(readdirSync(DATA_DIR).sort()).toEqual([...left, 'webhook-key']);
  });

  test('restarts with its key and unexpired data, and sums it', async () => {
    const { url } = start([], { DATA_DIR });
    await url;
    expect(readFileSync(join(DATA_DIR, 'signing-key'), 'utf8')).toBe(key);
    const left: Item[] = [];
    await inDatabase(DATA_DIR, async (storage) => {
      const deadline = Date.now() + 10_000;
      do {
        await sleep(20);
        left.splice(0, left.length, ...(await storage.scan(undefined, 1_000)).items);
      } while (left.some(({ pk }) => pk === 'REQUEST#old') && Date.now() < deadline);
    });
    expect(left.filter(({ sk }) => sk === 'REQUEST')).toEqual([items[1]]);
    const sums = left.find(({ sk }) => sk === 'SUMS');
    expect(sums).toMatchObject({ pk: 'TOTALS', counts: '{"work":{"b":3}}' });
  });
});

test('uses a given DynamoDB, and makes no database of its own', async () => {
  const emulator = await startEmulator(join(newFolder(), 'emulator.sqlite'));
  const { url, child, end } = start([], { DYNAMODB_ENDPOINT: emulator.endpoint });
  expect(await languages(await url)).toHaveProperty('languages');
  expect(discovery()).toMatchObject({ dynamodb_endpoint: emulator.endpoint, database: null });
  expect(readdirSync(dataDir).filter((name) => name.includes('sqlite'))).toEqual([]);
  child.kill('SIGTERM');
  expect(await end).toEqual({ code: 0, stderr: '' });
  await emulator.stop();
});

test('two that start together: one gets the data folder', async () => {
  const both = [start(), start()];
  const loser = await Promise.race(both.map(async (run) => ({ run, ...(await run.end) })));
  expect(loser.code).toBe(1);
  expect(loser.stderr).toMatch(
    /^Error: the data folder .* is in use by (process \d+|another process): stop that process, or choose another folder with --data-dir\n$/,
  );
  const winner = both.find((run) => run !== loser.run);
  expect(await languages((await winner?.url) ?? '')).toHaveProperty('languages');

  const late = await start().end;
  expect(late.code).toBe(1);
  expect(late.stderr).toContain(`is in use by process ${winner?.child.pid}: `);
  expect(discovery().pid).toBe(winner?.child.pid);
});

describe('one sentence explains', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** Returns the reason why the stack does not start. */
  async function reason(options: Partial<Parameters<typeof startStack>[0]> = {}) {
    const start = startStack({ port: 0, dataDir, ...options });
    const message = await start.then(String, (error: Error) => error.message);
    expect(message).not.toContain('\n');
    expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
    return message;
  }

  function serve(server: Server) {
    servers.push(server);
    return listen(server);
  }

  const invalid = ['localhost:8000', 'foo', 'ftp://localhost'];
  test.each(invalid)('the invalid endpoint %s', async (dynamodbEndpoint) => {
    expect(await reason({ dynamodbEndpoint })).toBe(
      `DYNAMODB_ENDPOINT ${dynamodbEndpoint} is not a URL: set it to one such as http://localhost:8000`,
    );
  });

  test('an endpoint that accepts connections but never answers', async () => {
    const endpoint = await serve(createTcpServer((socket) => socket.resume()).unref());
    expect(await reason({ dynamodbEndpoint: endpoint })).toBe(
      `no DynamoDB answers at ${endpoint} within 5 seconds: check DYNAMODB_ENDPOINT`,
    );
  });

  test.each([
    [200, '{}'],
    [404, '{"error":"not_found"}'],
    [501, '<!doctype html>'],
  ])('an endpoint of another server, with %i %s', async (status, body) => {
    const other = createServer((_, response) => response.writeHead(status).end(body));
    const endpoint = await serve(other);
    expect(await reason({ dynamodbEndpoint: endpoint })).toBe(
      `the server at ${endpoint} is not a DynamoDB: check DYNAMODB_ENDPOINT`,
    );
  });

  test('a table with another schema', async () => {
    const { endpoint, stop } = await startEmulator(join(newFolder(), 'emulator.sqlite'));
    const client = new DynamoDBClient(clientOptions(endpoint));
    const AttributeName = 'pk';
    const other = new CreateTableCommand({
      TableName: 'other',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName, AttributeType: 'S' }],
      KeySchema: [{ AttributeName, KeyType: 'HASH' }],
    });
    await client.send(other);
    client.destroy();
    process.env.TABLE_NAME = 'other';
    const fault = /^the table other at .* has other keys, indexes or/;
    expect(await reason({ dynamodbEndpoint: endpoint })).toMatch(fault);
    await stop();
  });

  const spoilt: [string, (file: string, table: string) => void][] = [
    ['rubbish', (file) => writeFileSync(file, randomBytes(9_000))],
    ['cut off', (file, table) => writeFileSync(file, database(file, table).subarray(0, 8_192))],
    [
      'damaged in its middle',
      (file, table) => writeFileSync(file, database(file, table).fill(0xff, 8_192, 12_288)),
    ],
    ['of another program', (file) => writeFileSync(file, database(file, 'notes'))],
  ];
  test.each(
    [
      ['reviews.sqlite', 'change'],
      // Of a release before this one.
      ['dynamodb.sqlite', '_stream_records'],
    ].flatMap(([name = '', table = '']) =>
      spoilt.map(([what, spoil]) => ({ name, table, what, spoil })),
    ),
  )('a database $name that is $what', async ({ name, table, spoil }) => {
    const file = join(dataDir, name);
    spoil(file, table);
    const before = readFileSync(file);
    const sentence = await reason();
    expect(sentence).toContain(file);
    expect(sentence).toMatch(
      /: move it away to start with an empty database, or choose another folder with --data-dir$/,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  function database(file: string, table: string) {
    const made = new DatabaseSync(file);
    made.exec(`CREATE TABLE ${table} (text)`);
    const insert = made.prepare(`INSERT INTO ${table} VALUES (?)`);
    for (let i = 0; i < 50; i++) insert.run('x'.repeat(1_000));
    made.close();
    return readFileSync(file);
  }

  test.each([
    ['signing-key', ''],
    ['signing-key', 'short\n'],
    ['session-key', '\n'],
    ['webhook-key', 'short'],
  ])('an invalid %s: %j', async (name, content) => {
    for (const keys of ['SIGNING', 'SESSION', 'WEBHOOK']) delete process.env[`${keys}_KEYS`];
    const file = join(dataDir, name);
    writeFileSync(file, content);
    expect(await reason()).toContain(
      `the key file ${file} is empty or damaged: restore it from a backup, or`,
    );
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  test.each(['/dev/null', '/dev/null/x'])('an unusable data folder: %s', async (folder) => {
    const fault = `^the data folder ${folder} cannot be used \\(ENOTDIR.*\\): choose another folder with`;
    expect(await reason({ dataDir: folder })).toMatch(new RegExp(fault));
  });

  test('an address of another machine', async () => {
    expect(await reason({ host: '192.0.2.1', insecureSignIn: true })).toBe(
      '192.0.2.1 is not an address of this machine: check --host',
    );
  });
});

/** Returns the error of `bin/start.ts` when it fails at start-up, within ten seconds. */
function refusal(args: string[], env: Record<string, string> = {}): string {
  const { status, stderr } = spawnSync(process.execPath, ['bin/start.ts', ...args], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    timeout: 10_000,
  });
  expect(status).toBe(1);
  return `${stderr}`;
}

test('fails at once for a folder that cannot be created', () => {
  expect(refusal(['--data-dir', '/proc/x'])).toMatch(
    /^Error: the data folder \/proc\/x cannot be used \(ENOENT.*\): choose another folder with --data-dir\n$/,
  );
});

test.each<[env: Record<string, string>, sentence: RegExp]>([
  [
    { OWN_TYPES: 'Not A Type!' },
    /OWN_TYPES: Not A Type! must begin with 2 to 30 lower-case letters/,
  ],
  [{ OWN_TYPES: 'film' }, /OWN_TYPES: film must have a name of up to 40 characters/],
  [{ IMAGES: 'relase_group=https://images.example/{id}' }, /IMAGES: relase_group must be one of/],
  [{ SHOWN_GROUPS: 'own,films' }, /SHOWN_GROUPS: films must be one of musicdb, bookdb, own/],
])('refuses %j with a sentence', (env, sentence) => {
  const said = refusal(['--memory'], env);
  expect(said).toMatch(sentence);
  expect(said).toMatch(/^error: .+\n$/i);
});

test('the operator’s tool refuses wrong types with the same sentence', () => {
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir, OWN_TYPES: 'Not A Type!' };
  const { status, stderr } = spawnSync(process.execPath, ['bin/admin.ts', 'user', 'list'], {
    cwd: root,
    env,
  });
  expect(status).toBe(1);
  expect(`${stderr}`).toMatch(/^Error: OWN_TYPES: Not A Type! must begin with .+\n$/);
});

test('says that no database answers', () => {
  const env = { DATA_DIR: dataDir, DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
  expect(refusal([], env)).toBe(
    'Error: no DynamoDB answers at http://127.0.0.1:9 (ECONNREFUSED): check DYNAMODB_ENDPOINT\n',
  );
});

test('requires an identity provider in public, and announces the public address', async () => {
  const PUBLIC_URL = 'https://example.org/reviews';
  const needed = /^Error: PUBLIC_URL needs [^\n]*OIDC_ISSUER[^\n]*\n$/;
  expect(refusal([], { PUBLIC_URL })).toMatch(needed);
  const args = ['--memory', '--insecure-sign-in', '--trusted-proxies', '10.0.0.0/8'];
  const run = start(args, { PUBLIC_URL, SECURITY_CONTACT: 'security@example.org' });
  expect(await run.url).toBe(`${PUBLIC_URL}/ws/1`);
  const [, proxied = ''] = /^ {2}Proxy {2}to (http:\/\/localhost:\d+)$/m.exec(run.said()) ?? [];
  expect(run.said()).toContain(`\n  Open   ${PUBLIC_URL}/ws/\n`);
  const contact = await fetch(`${proxied}/.well-known/security.txt`);
  expect(await contact.text()).toContain('Contact: mailto:security@example.org\n');
  const review = await fetch(`${proxied}/reviews/ws/.well-known/oauth-authorization-server`);
  expect(await review.json()).toHaveProperty('issuer', `${PUBLIC_URL}/ws`);
});

test('refuses to listen on all addresses without an identity provider, as the image does', async () => {
  expect(refusal(['--host', '0.0.0.0'], { DATA_DIR: dataDir })).toMatch(
    /^Error: --host 0\.0\.0\.0 needs an identity provider, [^\n]*\n$/,
  );
  expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
  const { url } = start(['--host', '0.0.0.0', '--insecure-sign-in']);
  expect(await languages(await url)).toHaveProperty('languages');
});

test('refuses to keep data both in memory and elsewhere', () => {
  expect(refusal(['--memory'], { DYNAMODB_ENDPOINT: 'http://x' })).toBe(
    'Error: --memory works with the database in this process only: remove it, or unset DYNAMODB_ENDPOINT\n',
  );
});

// Variables that npm sets for `npm start --port 3001 --memory`, and for --port=3001.
test.each([
  [{ npm_config_port: 'true', npm_config_memory: 'true' }, ['3001'], '--port 3001 --memory'],
  [{ npm_config_port: '3001' }, [], '--port 3001'],
  [{ npm_config_data_dir: 'true' }, ['x'], '--data-dir x'],
  [{ npm_config_data_dir: 'true', npm_config_port: 'true' }, ['x', '1'], '--port … --data-dir …'],
])('explains how to pass an option that npm has taken: %j', (env, left, meant) => {
  const [first] = meant.split(' ');
  expect(refusal(left, env as Record<string, string>)).toBe(
    `Error: npm takes ${first} as its own option. Type: npm start -- ${meant}\n`,
  );
});

test('keeps running if nobody reads its output', async () => {
  const { child, url } = start();
  const base = await url;
  child.stdout?.destroy();
  for (let i = 0; i < 5; i++) expect(await languages(base)).toHaveProperty('languages');
});

test('logs more or nothing on request, and ignores an empty variable', async () => {
  const verbose = start(['--verbose'], { DYNAMODB_ENDPOINT: '', PORT: '', OIDC_ISSUER: ' ' });
  const { headers } = await fetch(`${await verbose.url}/review/${randomUUID()}`);
  await until(() => verbose.said().includes('GET'));
  expect(verbose.said()).toContain(`\n  Data   ${dataDir}\n`);
  expect(verbose.said()).toMatch(
    new RegExp(`404 \\d+ ms request ${headers.get('x-amzn-requestid')}\\n$`),
  );
  verbose.child.kill('SIGTERM');
  await verbose.end;
  const quiet = start(['--quiet']);
  await fetch(`${await quiet.url}/review?limit=1`);
  quiet.child.kill('SIGTERM');
  await quiet.end;
  expect(quiet.said()).toMatch(/Ctrl-C\n\n$/);
});

test('prints the stack of an error on lines of their own', async () => {
  const { url, child, end } = start([], { SIGNING_KEYS: 'short' });
  const of = { client_id: 'x', client_secret: 'x', redirect_uri: 'http://localhost/' };
  const form = { grant_type: 'refresh_token', refresh_token: 'x', ...of };
  const body = new URLSearchParams(form);
  const response = await fetch(`${await url}/oauth/token`, { method: 'POST', body });
  const { request_id } = (await response.json()) as { request_id: string };
  child.kill('SIGTERM');
  const logged = `^Request failed, operation create-token, requestId ${request_id}\n  Error: SIGNING_KEYS must hold .*\n    at keysOf .*\n    at `;
  expect((await end).stderr).toMatch(new RegExp(logged, 'm'));
});

test('deletes the data of a --memory run at SIGTERM, and that of a killed one at the next', async () => {
  const first = start(['--memory']);
  await first.url;
  const killed = `${discovery().database}`;
  expect(killed.startsWith(dataDir)).toBe(false);
  first.child.kill('SIGKILL');
  await first.end;
  expect(existsSync(killed)).toBe(true);
  const second = start(['--memory']);
  await second.url;
  const own = `${discovery().database}`;
  expect([killed, own].map((file) => existsSync(dirname(file)))).toEqual([false, true]);
  second.child.kill('SIGTERM');
  await second.end;
  expect(existsSync(dirname(own))).toBe(false);
});
