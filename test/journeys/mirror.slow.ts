import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { keepMirror, type Mirror, readMirror } from '../helpers/mirror.ts';
import { randomWriters } from '../helpers/random-writes.ts';
import { fresh, root, type Service, start } from '../helpers/service.ts';

const { SIGNING_KEYS, MIRROR_SECONDS = '4' } = process.env;
const seconds = Number(MIRROR_SECONDS);
const dataDir = fresh('data');
const kept = fresh('mirror.json');
const address = fresh('url');
let follower: ChildProcess | undefined;
afterAll(() => {
  follower?.kill('SIGKILL');
});

async function startService(): Promise<Service> {
  const service = await start(dataDir, { options: ['--quiet'], env: { SIGNING_KEYS } });
  writeFileSync(address, service.url);
  connectTo(dataDir);
  jest.resetModules();
  return service;
}

function startMirror(): void {
  const args = ['test/helpers/mirror.ts', kept, address];
  follower = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
}

/** Reads a public dump as the initial state of a mirror: reviews, users and the position. */
async function dump(): Promise<Mirror> {
  const { exportPublic } = await import('../../bin/export.ts');
  const out = fresh('dump');
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

const { done, write } = randomWriters();

/** Publishes a review whose revisions exceed 256 KB, and returns its id. */
async function publishLong(url: string, token: string): Promise<string> {
  const { reviewBody } = await import('../helpers/world.ts');
  const call = callerOf(url, token);
  const text = '🎷'.repeat(4_998);
  const { id } = (await call('POST', '/review', reviewBody({ text }))).body;
  for (let i = 10; i < 36; i++) {
    expect((await call('POST', `/review/${id}`, { text: `${text}${i}` })).status).toBe(200);
  }
  return id;
}

/** Times of revisions that a mirror reads later have no milliseconds. */
function withoutMilliseconds(line = ''): string {
  return line.replaceAll(/("timestamp":"[^"]*)\.\d{3}Z/g, '$1.000Z');
}

test(
  'a mirror matches a later dump, although it and the service are killed',
  async () => {
    const service = await startService();
    const { makeGrant, makeUser, reviewBody } = await import('../helpers/world.ts');
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
    await write(service.url, tokens, seconds / 6);
    // Others write while the dump is made.
    const writing = write(service.url, tokens, seconds / 6);
    keepMirror(kept, await dump());
    startMirror();
    await writing;
    // A page of changes leaves out its earliest revisions, and the mirror reads them.
    const long = await publishLong(service.url, tokens[0] ?? '');

    const writingOn = write(service.url, tokens, seconds / 6 + 0.5);
    await sleep((1000 * seconds) / 6);
    await service.end('SIGKILL');
    await writingOn;
    const { url } = await startService();
    const writingAgain = write(url, tokens, seconds / 2, true);
    await sleep((1000 * seconds) / 4);
    follower?.kill('SIGKILL');
    startMirror();
    await writingAgain;

    // A name and a karma are sent with the next changed review of that user.
    for (const token of tokens) {
      expect((await callerOf(url, token)('POST', '/review', reviewBody())).status).toBe(200);
    }
    const { reviews: expected, users } = await dump();
    expected[long] = withoutMilliseconds(expected[long]);
    const authors = new Set(Object.values(expected).map((line) => JSON.parse(line).user_id));
    const deadline = Date.now() + 30_000;
    const read = () => {
      const state = readMirror(kept);
      state.reviews[long] = withoutMilliseconds(state.reviews[long]);
      return state;
    };
    let mirror = read();
    const isSame = () =>
      JSON.stringify(Object.entries(mirror.reviews).toSorted()) ===
      JSON.stringify(Object.entries(expected).toSorted());
    while (!isSame() && Date.now() < deadline) {
      await sleep(200);
      mirror = read();
    }
    expect(mirror.reviews).toEqual(expected);
    expect(isSame()).toBe(true);
    expect(authors.size).toBe(tokens.length);
    for (const id of authors) expect([id, mirror.users[id]]).toEqual([id, users[id]]);
    expect(Object.keys(expected).length).toBeGreaterThan(5);
    const names = ['delete', 'edit', 'hide', 'publish', 'rename', 'take back', 'unhide', 'vote'];
    expect(Object.keys(done).toSorted()).toEqual(names);
    if (process.env.MIRROR_SECONDS)
      process.stderr.write(`${JSON.stringify(done)} ${Object.keys(expected).length}\n`);
  },
  1000 * (seconds + 60),
);
