import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../../infra/client/webhooks.ts';
import type { User } from '../../shared/core/user/user.ts';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { keepMirror, mirrorOf, readMirror } from '../helpers/mirror.ts';
import { randomWriters } from '../helpers/random-writes.ts';
import { admin, fresh, root, start } from '../helpers/service.ts';

const { SIGNING_KEYS, MIRROR_SECONDS = '4' } = process.env;
const seconds = Number(MIRROR_SECONDS);
const dataDir = fresh('data');
const kept = fresh('mirror.json');
const address = fresh('url');
let follower: ChildProcess | undefined;
afterAll(() => {
  follower?.kill('SIGKILL');
});

async function startService() {
  const service = await start(dataDir, { options: ['--quiet'], env: { SIGNING_KEYS } });
  writeFileSync(address, service.url);
  connectTo(dataDir);
  return service;
}

function startMirror() {
  const args = ['test/helpers/mirror.ts', kept, address];
  follower = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
}

/** Makes a public dump, and begins a mirror with it. */
async function dump(url: string) {
  const { exportPublic } = await import('../../bin/export.ts');
  const out = fresh('dump');
  await exportPublic(out, dataDir);
  return mirrorOf(out, url);
}

const { done, write } = randomWriters();

/** Publishes a review whose revisions exceed 256 KB, and returns its id. */
async function publishLong(url: string, token: string) {
  const { reviewBody } = await import('../helpers/world.ts');
  const call = callerOf(url, token);
  const text = '🎷'.repeat(4_998);
  const { id } = (await call('POST', '/review', reviewBody({ text }))).body;
  for (let i = 10; i < 36; i++) {
    expect(await call('POST', `/review/${id}`, { text: `${text}${i}` })).toHaveStatus(200);
  }
  return id;
}

/** Names what the newest reviews are about. Returns the number of names. */
async function nameSome(url: string) {
  const { makeUser } = await import('../helpers/world.ts');
  const { correctName } = await import('../../shared/features/names/correction.ts');
  const { findUser } = await import('../../shared/core/user/user-repository.ts');
  const { id } = await makeUser();
  const namer = (await findUser(id)) as User;
  const { reviews } = (await callerOf(url)('GET', '/review?limit=3')).body;
  for (const { entity_id, entity_type } of reviews) {
    const naming = { name: `Name of ${entity_id}`, about: 'Somebody', url: undefined };
    await correctName({ entity_id, entity_type }, { naming, note: '', seen: undefined }, namer);
  }
  // One of them is another of them, and is found there.
  const [first, second] = reviews;
  const lead = ['entity', 'lead', second.entity_type, second.entity_id, '--to', first.entity_id];
  await admin(dataDir, lead);
  return reviews.length;
}

/** Times that a mirror reads from lists have no milliseconds. */
const withoutMilliseconds = (records: object) =>
  JSON.parse(JSON.stringify(records).replaceAll(/(:\d\d)\.\d{3}Z/g, '$1.000Z'));

test(
  'a mirror matches a later dump, although it and the service are killed',
  async () => {
    const service = await startService();
    const { makeGrant, makeUser, reviewBody } = await import('../helpers/world.ts');
    const tokens = await Promise.all(
      Array.from({ length: 8 }, async () => {
        // With this karma, 200 votes a day.
        const user = await makeUser({ karma: 5_000 });
        return (await makeGrant(user, ['review', 'vote', 'user'])).access_token;
      }),
    );
    await write(service.url, tokens, seconds / 6);
    // Others write while the dump is made.
    const writing = write(service.url, tokens, seconds / 6);
    keepMirror(kept, await dump(service.url));
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
      expect(await callerOf(url, token)('POST', '/review', reviewBody())).toHaveStatus(200);
    }
    const named = await nameSome(url);
    const mirror = await dump(url);
    const { reviews: expected, users, things } = mirror.state;
    const authors = new Set(Object.values(expected).map(({ user_id }) => user_id));
    const deadline = Date.now() + 30_000;
    const sorted = (records: object) =>
      JSON.stringify(Object.entries(withoutMilliseconds(records)).toSorted());
    let state = readMirror(kept);
    const isSame = () =>
      sorted(state.reviews) === sorted(expected) && sorted(state.things) === sorted(things);
    while (!isSame() && Date.now() < deadline) {
      await sleep(200);
      state = readMirror(kept);
    }
    // The same bytes too.
    expect(sorted(state.reviews)).toBe(sorted(expected));
    const { [long]: _, ...others } = expected;
    expect(state.reviews).toMatchObject(others);
    expect(authors.size).toBe(tokens.length);
    for (const id of authors) expect([id, state.users[id]]).toEqual([id, users[id]]);
    expect(Object.keys(expected).length).toBeGreaterThan(5);
    expect(state.things).toEqual(things);
    expect(Object.keys(things).length).toBe(named);
    expect(Object.values(things).filter(({ leads_to }) => leads_to !== null)).toHaveLength(1);
    const names = ['delete', 'edit', 'hide', 'publish', 'rename', 'take back', 'unhide', 'vote'];
    expect(Object.keys(done).toSorted()).toEqual(names);

    // The log begins anew, as after a restore: the mirror reads the lists, once for all its news.
    await admin(dataDir, ['changes', 'restart']);
    const news = { type: 'log.restarted' } as Message;
    await Promise.all([mirror.receive(news), mirror.receive(news)]);
    expect(sorted(mirror.state.reviews)).toBe(sorted(expected));
    expect(mirror.state.things).toEqual(state.things);
    if (process.env.MIRROR_SECONDS)
      process.stderr.write(`${JSON.stringify(done)} ${Object.keys(expected).length}\n`);
  },
  1000 * (seconds + 60),
);
