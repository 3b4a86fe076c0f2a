import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { handler as sendWebhooks } from '../../../../functions/background/send-webhooks.ts';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import { applicationKey, webhookKey } from '../../../../shared/core/keys.ts';
import { logChanges, readLogEnd } from '../../../../shared/features/changes/log.ts';
import { readHealth } from '../../../../shared/features/health/health.ts';
import { listedIn, type Webhook } from '../../../../shared/features/webhooks/webhook.ts';
import { listWebhooks } from '../../../../shared/features/webhooks/webhook-repository.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { applyStream } from '../../../helpers/stream.ts';
import {
  forgetWebhooks,
  type Receiver,
  read,
  run,
  slowly,
  startReceiver,
  subscribe,
} from '../../../helpers/webhooks.ts';
import { makeUser, makeUsers, reviewBy, storeReviews } from '../../../helpers/world.ts';

afterEach(forgetWebhooks);

const ann = await makeUser();

/** Stores so many public reviews, and logs their publication. */
async function publish(count: number): Promise<string[]> {
  const reviews = Array.from({ length: count }, () => reviewBy(ann.id));
  await storeReviews(reviews);
  const changes = reviews.map(({ id, version, entity_id, user_id }) => {
    return { id, version, kind: 'published' as const, entity_id, user_id };
  });
  for (let i = 0; i < changes.length; i += 100) await logChanges(changes.slice(i, i + 100));
  return reviews.map(({ id }) => id);
}

/** Stores so many webhooks of 40 owners with their applications, all at the end of the log. */
async function storeWebhooks(count: number, receiver: Receiver): Promise<void> {
  const owners = await makeUsers(40);
  const cursor = await readLogEnd();
  const created = new Date().toISOString();
  const items = Array.from({ length: count }, (_, i) => {
    const client_id = randomUUID().replaceAll('-', '');
    const user_id = `${owners[i % owners.length]?.id}`;
    const webhook: Webhook = {
      id: randomUUID(),
      client_id,
      slot: 1,
      user_id,
      address: `${receiver.url}/${i}`,
      types: ['review.published'],
      created,
      secret_id: '0'.repeat(32),
      state: 'on',
      cursor,
      since: created,
      failures: 0,
      attempts: [],
      version: 1,
    };
    return [
      { put: { ...webhookKey(client_id, 1), ...listedIn(webhook), ...webhook } },
      {
        put: {
          ...applicationKey(client_id),
          client_id,
          user_id,
          name: 'Many',
          desc: '',
          website: 'https://client.example/',
          redirect_uri: 'https://client.example/',
          secret_id: '0'.repeat(32),
          created,
        },
      },
    ];
  });
  await batchWrite(items.flat());
}

test('each receiver has its own pace, and a tarpit holds up nobody', async () => {
  const paces = [0, 150, 450, 700, 14_000];
  const subscribed: (Awaited<ReturnType<typeof subscribe>> & { milliseconds: number })[] = [];
  // One after the other, so that each is tested before it becomes slow.
  for (const milliseconds of [...paces, 60_000]) {
    subscribed.push({ milliseconds, ...(await subscribe()) });
  }
  expect(new Set(subscribed.map(({ webhook }) => webhook.state))).toEqual(new Set(['on']));
  for (const { milliseconds, receiver } of subscribed) {
    if (milliseconds > 0) receiver.respond = slowly(milliseconds);
  }
  const receivers = subscribed.map(({ receiver }) => receiver);
  const count = 600;
  await publish(count);
  // All of it waits for an hour already.
  stopClock(Date.now() + 3_600_000);
  const begin = performance.now();
  const running = sendWebhooks();
  while ((receivers[0]?.messages.length ?? 0) < count) await sleep(50);
  // One that takes everything at once does not wait for the others.
  expect(performance.now() - begin).toBeLessThan(15_000);
  const result = await running;
  expect(performance.now() - begin).toBeLessThan(59_000);
  expect(result.hasMore).toBe(true);
  const seconds = 52;
  for (const [i, milliseconds] of paces.entries()) {
    const most = milliseconds === 0 ? count : (seconds * 1000) / milliseconds;
    // Nearly all of its time is its own.
    expect(receivers[i]?.messages.length).toBeGreaterThan(0.75 * Math.min(count, most));
  }
  // The service could send everything in time. Only its receivers are behind.
  expect((await readHealth()).webhook_lag_seconds).toBe(0);
  // A slow receiver is no failure: it gets what fits into the run, one message at a time.
  const stored = await Promise.all(subscribed.map(({ webhook }) => read(webhook)));
  expect(stored.map(({ failures }) => failures)).toEqual([...paces.map(() => 0), 1]);
  expect(stored.at(-1)?.attempts.at(-1)).toMatchObject({ status: null, cause: 'timeout' });
  // The next run begins where each of them stands.
  const before = receivers.map(({ messages }) => messages.length);
  for (const receiver of receivers) receiver.respond = undefined;
  await sendWebhooks();
  for (const [i, { messages }] of receivers.slice(0, paces.length).entries()) {
    expect(new Set(messages.map(({ data }) => data.id)).size).toBe(count);
    expect(messages.length).toBeLessThanOrEqual(count + (before[i] === count ? 0 : 1));
  }
}, 180_000);

test('two runs at the same time send everything once', async () => {
  const { receiver, webhook } = await subscribe();
  receiver.respond = slowly(20);
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(await ann.publishes());
  await applyStream();
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => sendWebhooks()));
  await run();
  expect(receiver.take().sort()).toEqual(ids.map((id) => `review.published ${id}`).sort());
  expect(await read(webhook)).toMatchObject({ state: 'on', failures: 0 });
}, 60_000);

test('1,100 webhooks in one run take 50 connections at a time, and store their cursors', async () => {
  const receiver = await startReceiver();
  await storeWebhooks(1100, receiver);
  const [id] = await publish(1);
  let open = 0;
  let most = 0;
  // Nobody is answered before 50 wait, so a slow machine opens as many as a quick one.
  const { promise: fifty, resolve } = Promise.withResolvers<void>();
  receiver.respond = async () => {
    most = Math.max(most, ++open);
    if (open >= 50) resolve();
    await fifty;
    await sleep(5);
    open--;
  };
  const begin = performance.now();
  await sendWebhooks();
  expect(performance.now() - begin).toBeLessThan(40_000);
  expect(receiver.take()).toEqual(Array(1100).fill(`review.published ${id}`));
  expect(most).toBe(50);
  const end = await readLogEnd();
  const cursors = (await listWebhooks()).map(({ cursor }) => cursor);
  expect(cursors).toEqual(Array(1100).fill(expect.objectContaining({ lanes: end.lanes })));
}, 120_000);
