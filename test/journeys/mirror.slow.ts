import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, jest, test } from '@jest/globals';
import { connect } from '../../infra/local/connect.ts';
import { keepMirror, type Mirror, readMirror } from '../helpers/mirror.ts';

const { PATH, SIGNING_KEYS, NODE_COMPILE_CACHE, MIRROR_SECONDS = '4' } = process.env;
const seconds = Number(MIRROR_SECONDS);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mirror-'));
const dataDir = join(folder, 'data');
const kept = join(folder, 'mirror.json');
const address = join(folder, 'url');
const running = new Map<string, ChildProcess>();
afterAll(async () => {
  for (const name of [...running.keys()]) await end(name, 'SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

function run(name: string, args: string[]): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH, SIGNING_KEYS, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.set(name, child);
  return child;
}

async function end(name: string, signal: NodeJS.Signals): Promise<void> {
  const child = running.get(name);
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** Starts the service on any free port. */
async function startService(): Promise<string> {
  const options = ['--port', '0', '--data-dir', dataDir, '--quiet'];
  const child = run('service', ['bin/start.ts', ...options]);
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += chunk;
    const url = said.match(/runs at (\S+)/)?.[1];
    if (!url) continue;
    writeFileSync(address, url);
    connect(dataDir);
    jest.resetModules();
    return url;
  }
  throw new Error(`the service did not start: ${said}`);
}

function startMirror(): void {
  run('mirror', ['test/helpers/mirror.ts', kept, address]);
}

/** Reads a public dump as the initial state of a mirror: reviews, users and the position. */
async function dump(): Promise<Mirror> {
  const { exportPublic } = await import('../../bin/export.ts');
  const out = join(folder, randomUUID());
  await exportPublic(out, dataDir);
  const linesOf = (name: string) => {
    const [, ...lines] = `${gunzipSync(readFileSync(join(out, name)))}`.trimEnd().split('\n');
    return lines;
  };
  const reviews: Mirror['reviews'] = {};
  for (const name of readdirSync(out).filter((name) => name.startsWith('reviews-'))) {
    for (const line of linesOf(name)) reviews[JSON.parse(line).id] = line;
  }
  const users: Mirror['users'] = {};
  for (const line of linesOf('users.jsonl.gz')) {
    const { id, display_name, karma } = JSON.parse(line);
    users[id] = { display_name, karma };
  }
  const since = readFileSync(join(out, 'POSITION'), 'utf8').trim();
  return { since, reviews, versions: {}, users };
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;

/** Reviews and votes that all writers know, each with its owner's token. */
const reviews: { id: string; token: string }[] = [];
const votes: { id: string; token: string }[] = [];
const done: Record<string, number> = {};

/**
 * Writes at random for that long. Ignores writes that chance or the end of the service makes
 * impossible.
 */
async function write(url: string, tokens: readonly string[], forSeconds: number): Promise<void> {
  const { reviewBody, text } = await import('../helpers/fixtures.ts');
  const { setHidden } = await import('../../shared/moderation/decision-repository.ts');
  const until = Date.now() + 1000 * forSeconds;
  const send = async (token: string, method: string, path: string, body?: unknown) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { id: string };
    if (response.status !== 200) throw new Error(`${response.status}`);
    return answer;
  };
  const anyone = () => pick(tokens);
  const acts: [string, () => Promise<unknown>][] = [
    ['publish', async () => publish()],
    ['publish', async () => publish()],
    ['edit', async () => editOf({ rating: pick([1, 2, 3, 4, 5]) })],
    ['edit', async () => editOf({ text: `${Math.random()} ${text}` })],
    ['vote', async () => voteOn({ vote: Math.random() < 0.6 })],
    ['vote', async () => voteOn({ vote: Math.random() < 0.6 })],
    ['vote', async () => voteOn({ vote: Math.random() < 0.6 })],
    ['take back', async () => takeBack()],
    ['rename', async () => rename()],
    ['hide', async () => setHidden(pick(reviews).id, true)],
    ['unhide', async () => setHidden(pick(reviews).id, false)],
    ['unhide', async () => setHidden(pick(reviews).id, false)],
    [
      'delete',
      async () => {
        if (Math.random() < 0.5) return;
        const { id, token } = pick(reviews);
        await send(token, 'DELETE', `/review/${id}`);
      },
    ],
  ];
  const publish = async () => {
    const token = anyone();
    reviews.push({ token, id: (await send(token, 'POST', '/review', reviewBody())).id });
  };
  const rename = () => send(anyone(), 'POST', '/user/me', { display_name: `Ann ${Math.random()}` });
  const editOf = ({ ...body }: object) => {
    const { id, token } = pick(reviews);
    return send(token, 'POST', `/review/${id}`, body);
  };
  const voteOn = async (body: object) => {
    const cast = { token: anyone(), id: pick(reviews.slice(-200)).id };
    await send(cast.token, 'PUT', `/review/${cast.id}/vote`, body);
    votes.push(cast);
  };
  const takeBack = async () => {
    const { id, token } = pick(votes);
    await send(token, 'DELETE', `/review/${id}/vote`);
  };
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (Date.now() < until) {
        const [name, act] = reviews.length < 10 ? (acts[0] as (typeof acts)[0]) : pick(acts);
        try {
          await act();
          done[name] = (done[name] ?? 0) + 1;
        } catch {
          await sleep(5);
        }
      }
    }),
  );
}

test(
  'a mirror matches a later dump, although it and the service are killed',
  async () => {
    let url = await startService();
    const { makeGrant, makeUser, reviewBody } = await import('../helpers/fixtures.ts');
    const { setAttributes } = await import('../helpers/items.ts');
    const { userKey } = await import('../../shared/table/keys.ts');
    const tokens = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const user = await makeUser();
        // A user with high karma has 200 votes a day.
        await setAttributes(userKey(user.id), { karma: 5_000 });
        return (await makeGrant(user, ['review', 'vote', 'user'])).access_token;
      }),
    );
    await write(url, tokens, seconds / 6);
    // Others write while the dump is made.
    const writing = write(url, tokens, seconds / 6);
    keepMirror(kept, await dump());
    startMirror();
    await writing;

    const writingOn = write(url, tokens, seconds / 6 + 0.5);
    await sleep((1000 * seconds) / 6);
    await end('service', 'SIGKILL');
    await writingOn;
    url = await startService();
    const writingAgain = write(url, tokens, seconds / 2);
    await sleep((1000 * seconds) / 4);
    await end('mirror', 'SIGKILL');
    startMirror();
    await writingAgain;

    // A name and a karma are sent with the next changed review of that user.
    for (const token of tokens) {
      const Authorization = `Bearer ${token}`;
      const headers = { Authorization, 'Content-Type': 'application/json' };
      const body = JSON.stringify(reviewBody());
      expect((await fetch(`${url}/review`, { method: 'POST', headers, body })).status).toBe(200);
    }
    const { reviews: expected, users } = await dump();
    const authors = new Set(Object.values(expected).map((line) => JSON.parse(line).user_id));
    const deadline = Date.now() + 30_000;
    let mirror = readMirror(kept);
    const isSame = () =>
      JSON.stringify(Object.entries(mirror.reviews).toSorted()) ===
      JSON.stringify(Object.entries(expected).toSorted());
    while (!isSame() && Date.now() < deadline) {
      await sleep(200);
      mirror = readMirror(kept);
    }
    expect(mirror.reviews).toEqual(expected);
    expect(isSame()).toBe(true);
    expect(authors.size).toBe(tokens.length);
    for (const id of authors) expect([id, mirror.users[id]]).toEqual([id, users[id]]);
    expect(Object.keys(expected).length).toBeGreaterThan(5);
    for (const name of [
      'publish',
      'edit',
      'vote',
      'take back',
      'hide',
      'unhide',
      'delete',
      'rename',
    ]) {
      expect([name, done[name]]).toEqual([name, expect.any(Number)]);
    }
    if (process.env.MIRROR_SECONDS)
      process.stderr.write(`${JSON.stringify(done)} ${Object.keys(expected).length}\n`);
  },
  1000 * (seconds + 60),
);
