import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFile } from '../../infra/local/data-folder.ts';
import { readDiscovery } from '../../infra/local/discovery.ts';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { parseMetrics } from '../helpers/prometheus.ts';
import { pick, randomWriters } from '../helpers/random-writes.ts';
import { admin, fresh, start } from '../helpers/service.ts';

const seconds = Number(process.env.KEPT_SECONDS ?? 30);
const duels = 60;
const { SESSION_KEYS, SIGNING_KEYS } = process.env;

const dataDir = fresh('data');

/** Starts the service on free ports, or on those of an earlier start. */
function startService(ports = { own: '0', engine: '0', metrics: '0' }) {
  const { own, engine, metrics } = ports;
  const options = ['--port', own, '--metrics-port', metrics, '--publications-per-day', '0'];
  if (engine !== '0') options.push('--engine-port', engine);
  return start(dataDir, {
    options: ['--quiet', ...options],
    env: { SESSION_KEYS, SIGNING_KEYS, EDITS_PER_DAY: '0' },
    until: /Watch/,
  });
}

let service = await startService();
const metricsUrl = /http:\S+\/metrics/.exec(service.out.join('\n'))?.[0] ?? '';
const pages = service.url.replace(/\/1$/, '');
connectTo(dataDir);
jest.resetModules();

/** Reads the version of the database, by a connection that only looks. */
function openVersion() {
  const database = new DatabaseSync(join(dataDir, databaseFile), { readOnly: true });
  const pragma = database.prepare('PRAGMA data_version');
  return { read: () => pragma.get()?.data_version, close: () => database.close() };
}
let version = openVersion();

/** Number of kept answers that the service has sent. */
async function hits() {
  const metrics = parseMetrics(await (await fetch(metricsUrl)).text());
  return metrics.get('review_kept_answers_total')?.samples[0]?.value ?? 0;
}

/** Ends the service, does something, and starts it again at the same addresses. */
async function restart(meanwhile: () => Promise<unknown>) {
  const { dynamodb_endpoint } = readDiscovery(dataDir) ?? {};
  const [own = '', engine = '', metrics = ''] = [service.url, dynamodb_endpoint, metricsUrl].map(
    (url) => new URL(`${url}`).port,
  );
  version.close();
  await service.end('SIGTERM');
  await meanwhile();
  service = await startService({ own, engine, metrics });
  version = openVersion();
}

/** Any cookie: the answer is then of a run of the function, by the rules of `keyOf`. */
const uncached = { Cookie: 'theme=dark' };

/** Returns an answer, without the headers that differ from request to request. */
async function read(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers: { 'Accept-Encoding': 'gzip', ...headers } });
  const { status } = response;
  const names = ['etag', 'cache-control', 'vary', 'content-type', 'content-encoding', 'link'];
  const body = await response.text();
  return { status, headers: names.map((name) => response.headers.get(name)), body };
}

const found = { compared: 0, differences: [] as unknown[] };

/** Compares answers that may be kept with those of the function, at a moment without a commit. */
async function compare(url: string) {
  for (let i = 0; i < 50; i++) {
    const before = version.read();
    const answers = [await read(url), await read(url, uncached), await read(url)];
    if (version.read() !== before) continue;
    const [first, own, again] = answers.map((answer) => JSON.stringify(answer));
    found.compared += 1;
    if (first !== own || again !== own) found.differences.push({ url, answers });
    return;
  }
}

test(
  'a kept answer is what the function answers at the same moment, whoever writes',
  async () => {
    const { makeGrant, makeModerator, makeUser } = await import('../helpers/world.ts');
    const { signInAs } = await import('../helpers/visit.ts');
    process.env.AUTH_URL = pages;
    const { reviewRecord } = await import('../helpers/transfer.ts');
    const moderator = await makeModerator('Mo');
    const people = await Promise.all(
      Array.from({ length: 6 }, async () => {
        // With this karma, 200 votes a day.
        const user = await makeUser({ karma: 5_000 });
        return { user, token: (await makeGrant(user, ['review', 'vote', 'user'])).access_token };
      }),
    );
    const { reviews, write } = randomWriters();
    const end = Date.now() + seconds * 1000;
    const deeds: Record<string, number> = {};

    /** Does a deed, and counts it. Chance makes some impossible. */
    async function act(name: string, deed: () => Promise<unknown>) {
      try {
        await deed();
        deeds[name] = (deeds[name] ?? 0) + 1;
      } catch {
        // Another deed came first.
      }
    }

    async function send(path: string, user: { id: string }, fields: Record<string, string>) {
      const { cookie, csrf } = await signInAs(user.id);
      const headers = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
      const body = new URLSearchParams({ ...fields, csrf });
      const sent = { method: 'POST', redirect: 'manual', headers, body } as const;
      const { status } = await fetch(pages + path, sent);
      if (status !== 303) throw new Error(`${status}`);
    }

    const voteByPage = () =>
      send(
        `/review/${pick(reviews).id}/vote?vote=${pick(['up', 'down', 'none'])}`,
        pick(people).user,
        {},
      );
    const publishByPage = () =>
      send(`/review/new?entity_id=${randomUUID()}&entity_type=work`, pick(people).user, {
        name: 'Blue',
        text: `Forty minutes that reward every new listen, ${Math.random()}.`,
        rating: '4',
        language: 'en',
        license_choice: 'CC BY-SA 4.0',
      });
    const rebuild = () => admin(dataDir, ['aggregates', 'rebuild']);
    const rotate = () => admin(dataDir, ['key', 'rotate', '--secret', 'WEBHOOK_KEYS']);
    const moderate = () => {
      const verdict = pick(['hide', 'restore'] as const);
      return moderator.decides(pick(reviews).id, verdict);
    };
    const leave = async () => {
      const user = await makeUser();
      const id = await user.publishes();
      await Promise.all(hot().map((url) => read(url)));
      await user.leaves();
      await compare(`${service.url}/review/${id}`);
    };
    const importMore = async () => {
      const file = join(dataDir, 'more.jsonl');
      const header = {
        kind: 'header',
        format: 'review-service',
        version: 1,
        time: null,
        counts: {},
      };
      const written = Array.from({ length: 20 }, () => reviewRecord(pick(people).user.id));
      const records = [header, ...written];
      writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      await admin(dataDir, ['import', file]);
    };
    const blockAndUnblock = async () => {
      const user = await makeUser();
      await user.publishes();
      const why = ['--reason', 'spam'];
      await admin(dataDir, ['user', 'block', user.id, ...why]);
      await admin(dataDir, ['user', 'unblock', user.id, ...why]);
    };

    /** Addresses that many ask for. */
    const hot = () => [
      `${service.url}/review/`,
      `${service.url}/review/?sort=popularity&limit=20`,
      `${service.url}/review/?entity_type=work`,
      `${service.url}/review/?review_type=review`,
      `${service.url}/review/?entity_type=work&rating=4`,
      `${service.url}/user/`,
      `${pages}/`,
      `${pages}/reviews`,
      `${pages}/sitemap.xml`,
    ];
    const any = () => {
      const { id } = pick(reviews);
      const { user } = pick(people);
      return pick([
        `${service.url}/review/${id}`,
        `${service.url}/review/${id}/revisions`,
        `${pages}/review/${id}`,
        `${pages}/review/${id}/revisions`,
        `${service.url}/review/?user_id=${user.id}`,
        `${service.url}/user/${user.id}`,
        `${service.url}/user/${user.id}/reviews.atom`,
        `${pages}/user/${user.id}`,
      ]);
    };
    const entity = async () => {
      const { body } = await read(`${service.url}/review/${pick(reviews).id}`, uncached);
      const id = JSON.parse(body).review?.entity_id;
      const address = pick([`${service.url}/entity/${id}`, `${pages}/entity/${id}`]);
      if (id) await compare(`${address}${pick(['', '/embed', '/reviews.atom'])}`);
    };
    const tokens = people.map(({ token }) => token);
    await write(service.url, tokens, 1);
    let earlierHits = 0;
    /** Takes back what is written after a backup, while readers go on. */
    const restore = async () => {
      const backup = fresh('backup');
      await admin(dataDir, ['backup', backup]);
      await write(service.url, tokens, 1);
      await Promise.all(hot().map(compare));
      earlierHits += await hits();
      let isOver = false;
      const reading = hot().map(async (url) => {
        while (!isOver) await read(url).catch(() => sleep(10));
      });
      await restart(async () => {
        rmSync(dataDir, { recursive: true });
        await admin(dataDir, ['restore', backup]);
      });
      await Promise.all(hot().map(compare));
      isOver = true;
      await Promise.all(reading);
    };
    const deedsOfPeople = { voteByPage, publishByPage, moderate, leave };
    const others = { importMore, blockAndUnblock, rebuild, rotate };
    for (let round = 0; Date.now() < end || round < 8; round++) {
      const until = Date.now() + 1_000;
      const [name, other] = Object.entries(others)[round % 4] as [string, () => Promise<unknown>];
      const isOver = () => Date.now() > until;
      const repeat = async (deed: () => Promise<unknown>) => {
        while (!isOver()) await deed();
      };
      await Promise.all([
        write(service.url, tokens, 1),
        act(name, other),
        ...Object.entries(deedsOfPeople).map(([each, deed]) => repeat(() => act(each, deed))),
        // So that runs are in progress while others write.
        ...hot().map((url) => repeat(() => read(url))),
        // So that many kept answers stay true while others are forgotten.
        repeat(() => read(any())),
      ]);
      await Promise.all(hot().map(compare));
      await Promise.all(Array.from({ length: 10 }, any).map(compare));
      await entity();
      if (round === 3) await act('restore', restore);
    }

    // A write that no further commit follows, at any moment of a run. What the run read before must
    // not be kept as what is true after the write.
    for (let i = 0; i < duels; i++) {
      const { user, token } = pick(people);
      const urls = [
        `${service.url}/user/${user.id}`,
        `${service.url}/review/?user_id=${user.id}&limit=50`,
        `${pages}/user/${user.id}`,
      ];
      const reading = urls.map((url) => read(url));
      await sleep(Math.random() * 20);
      const display_name = `Ann ${Math.random()}`;
      await callerOf(service.url, token)('POST', '/user/me', { display_name });
      await Promise.all(reading);
      await Promise.all(urls.map(compare));
    }

    expect(found.differences).toEqual([]);
    expect(found.compared).toBeGreaterThan(100);
    expect(earlierHits + (await hits())).toBeGreaterThan(found.compared);
    const all = [...Object.keys({ ...deedsOfPeople, ...others }), 'restore'];
    expect(all.filter((each) => !deeds[each])).toEqual([]);
  },
  (seconds + 90) * 1000,
);
