import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { admin, fresh, missing, root, type Service, start } from '../helpers/service.ts';

const { SIGNING_KEYS, KILLS = '20' } = process.env;
const kills = Number(KILLS);
const writers = 8;
/** With this karma, 200 votes a day. Each kill may cut off the answer to one that is stored. */
const karma = 5_000;
const mostVotes = Math.max(20, 200 - 2 * kills);

const dataDir = fresh('data');
const env = { SIGNING_KEYS, EDITS_PER_DAY: '0' };
const options = ['--quiet', '--publications-per-day', '0'];
const startService = () => start(dataDir, { options, env });

/** Writes that the service has acknowledged. */
const published = new Map<string, { token: string; ratings: Set<number> }>();
const deleted = new Set<string>();
/** Reviews that were begun, which decides what becomes of each. */
let turns = 0;
/** Tokens of voters and their votes, by review. */
const votes = new Map<string, { token: string; vote: boolean }>();

/** Writes with one token until the service is killed. Throws for a request that fails before. */
async function write({ url, process }: Service, token: string): Promise<void> {
  const { reviewBody } = await import('../helpers/world.ts');
  const call = callerOf(url, token);
  const send = async (method: string, path: string, body?: object) => {
    const answer = await call(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  try {
    for (;;) {
      const i = turns++;
      const { id } = await send('POST', '/review', reviewBody({ rating: 1 }));
      if (i % 5 === 4) {
        await send('DELETE', `/review/${id}`);
        deleted.add(id);
        continue;
      }
      const own = { token, ratings: new Set([1]) };
      published.set(id, own);
      const rating = 2 + (i % 4);
      // Without an answer, the edit may have been saved or not.
      own.ratings.add(rating);
      await send('POST', `/review/${id}`, { rating });
      own.ratings = new Set([rating]);
      const [other] = [...published.keys()].filter(
        (each) => !votes.has(each) && published.get(each)?.token !== token,
      );
      const cast = [...votes.values()].filter((each) => each.token === token);
      if (other === undefined || cast.length >= mostVotes) continue;
      const vote = i % 3 > 0;
      // Nobody else votes on it meanwhile.
      votes.set(other, { token, vote });
      await send('PUT', `/review/${other}/vote`, { vote }).catch((error: unknown) => {
        votes.delete(other);
        throw error;
      });
    }
  } catch (error) {
    // Requests in flight are cut off.
    if (!process.killed) throw error;
  }
}

/** Kills a start somewhere on its way. */
async function killStart(): Promise<void> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const args = ['--require', './bin/ready.cjs', 'bin/start.ts', '--port', '0', ...options];
  const child = spawn(process.execPath, [...args, '--data-dir', dataDir], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  await sleep(2_500 * Math.random());
  child.kill('SIGKILL');
  await gone;
}

/** Expects that everything that was acknowledged is there. */
async function expectKept(url: string): Promise<void> {
  expect(await missing(url, [...published.keys()])).toEqual([]);
  for (const [id, { ratings }] of published) {
    const { body } = await callerOf(url)('GET', `/review/${id}`);
    expect([id, [...ratings], ratings.has(body.review.rating)]).toEqual([id, [...ratings], true]);
  }
  for (const [id, { token, vote }] of votes) {
    const { body } = await callerOf(url, token)('GET', `/review/${id}/vote`);
    expect([id, body.vote?.vote]).toEqual([id, vote]);
  }
  expect(await missing(url, [...deleted])).toHaveLength(deleted.size);
}

test(
  `every acknowledged write survives ${kills} times kill -9, and all counts are right`,
  async () => {
    let service = await startService();
    connectTo(dataDir);
    const { makeGrant, makeUser } = await import('../helpers/world.ts');
    const users: string[] = [];
    const tokens = await Promise.all(
      Array.from({ length: writers }, async () => {
        const user = await makeUser({ karma });
        users.push(user.id);
        return (await makeGrant(user, ['review', 'vote'])).access_token;
      }),
    );
    for (let kill = 0; kill < kills; kill++) {
      const writing = Promise.all(tokens.map((token) => write(service, token)));
      await Promise.race([sleep(200 + 1_300 * Math.random()), writing]);
      const ended = service.end('SIGKILL');
      await Promise.all([ended, writing]);
      if (kill % 4 === 3) await killStart();
      service = await startService();
      await expectKept(service.url);
    }
    expect(published.size).toBeGreaterThan(3 * kills);
    expect(votes.size).toBeGreaterThan(kills);
    expect(deleted.size).toBeGreaterThan(0);
    expect(service.err).toEqual([]);

    connectTo(dataDir);
    const { differences } = await import('../helpers/recount.ts');
    const { update } = await import('../../shared/base/table/transact.ts');
    const { userKey } = await import('../../shared/core/keys.ts');
    // No votes stand behind the karma that the test gave. What is left is of votes alone.
    for (const id of users) await update({ Key: userKey(id), amounts: { karma: -karma } });
    // The consumers of the new process resume from the old position within moments.
    const deadline = Date.now() + 30_000;
    while ((await differences()).length > 0 && Date.now() < deadline);
    expect(await differences()).toEqual([]);
    expect(await admin(dataDir, ['audit'])).toMatchObject({ differences: 0, changing: 0 });
    expect(await service.end('SIGTERM')).toBe(0);
    const database = new DatabaseSync(join(dataDir, 'reviews.sqlite'));
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(database.prepare('SELECT count(*) AS n FROM change').get()).toEqual({ n: 0 });
    database.close();
    process.stderr.write(
      `${kills} kills: ${published.size} reviews, ${votes.size} votes, ${deleted.size} deletions kept\n`,
    );
  },
  60_000 + 20_000 * kills,
);
