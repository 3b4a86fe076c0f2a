import '../../../helpers/engine.ts';
import { measureRun } from '../../../../bin/bench/measure.ts';
import { handler as sendWebhooks } from '../../../../functions/background/send-webhooks.ts';
import { batchDelete } from '../../../../shared/base/table/batch.ts';
import { userKey, webhookKey } from '../../../../shared/core/keys.ts';
import { beginEpoch, laneOf, logChanges } from '../../../../shared/features/changes/log.ts';
import { readHealth } from '../../../../shared/features/health/health.ts';
import type { Webhook } from '../../../../shared/features/webhooks/webhook.ts';
import {
  continueWebhook,
  pauseWebhook,
  replayWebhook,
  skipMessage,
  testWebhook,
} from '../../../../shared/features/webhooks/webhook-actions.ts';
import { updateWebhook } from '../../../../shared/features/webhooks/webhook-repository.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../../../helpers/items.ts';
import { beforeFirst, type Command } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  type Receiver,
  read,
  run,
  startReceiver,
  status,
  subscribe,
} from '../../../helpers/webhooks.ts';
import { makeUser, makeUsers, reviewBy, storeReviews, visitor } from '../../../helpers/world.ts';

afterEach(forgetWebhooks);

const ann = await makeUser();

describe('a webhook', () => {
  test('has what was changed since its test was sent, and nothing earlier', async () => {
    const receiver = await startReceiver();
    await makeWebhook(receiver);
    await ann.publishes();
    let id = '';
    receiver.respond = async () => {
      receiver.respond = undefined;
      id = await ann.publishes();
      await applyStream();
    };
    await run();
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
  });

  test('tells of changes in messages of Standard Webhooks, signed', async () => {
    const { receiver } = await subscribe();
    const now = Date.now();
    stopClock(now);
    const id = await ann.publishes();
    await run();
    const [message] = receiver.messages;
    expect(message).toMatchObject({
      type: 'review.published',
      timestamp: new Date(now).toISOString(),
      data: {
        id,
        version: expect.any(Number),
        review: await visitor.sees(id),
        truncated: false,
      },
    });
    const { headers, data: { version = 0 } = {} } = message ?? {};
    // Times of logging: another log begins above them.
    expect(version).toBeGreaterThanOrEqual(now);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `rev_${id}_${version}`,
      'webhook-timestamp': `${Math.floor(now / 1000)}`,
    });
    expect(headers?.['webhook-signature']).toMatch(/^v1,[\w+/]{43}=$/);
  });

  test('has its test and what was logged in one run', async () => {
    const { receiver, webhook } = await subscribe();
    const id = await ann.publishes();
    await testWebhook(webhook);
    await run();
    expect(receiver.tests).toHaveLength(2);
    expect(receiver.take()).toEqual([`review.published ${id}`]);
  });

  test('stops when it is paused, and continues without a gap', async () => {
    const { receiver, webhook } = await subscribe();
    await pauseWebhook(webhook);
    const ids = [await ann.publishes(), await ann.publishes(), await ann.publishes()];
    await run();
    expect(receiver.take()).toEqual([]);
    await continueWebhook(webhook);
    await run();
    expect(receiver.take().sort()).toEqual(ids.map((id) => `review.published ${id}`).sort());
    await run();
    expect(receiver.take()).toEqual([]);
  });

  test('replays what has changed since a time, with the same ids', async () => {
    const { receiver, webhook } = await subscribe();
    const start = Date.now();
    stopClock(start + 3_600_000);
    const first = await ann.publishes();
    await run();
    stopClock(start + 2 * 3_600_000);
    const second = await ann.publishes();
    await run();
    stopClock(start + 3 * 3_600_000);
    const before = receiver.messages.splice(0).map(({ headers }) => headers['webhook-id']);
    expect(before).toEqual([
      expect.stringContaining(`rev_${first}_`),
      expect.stringContaining(`rev_${second}_`),
    ]);
    await replayWebhook(webhook, start + 1.5 * 3_600_000);
    await run();
    expect(receiver.take()).toEqual([`review.published ${second}`]);
    const again = () => replayWebhook(webhook, start + 60_000);
    const refusal = { status: 403, code: 'limit_exceeded', headers: { 'Retry-After': '3600' } };
    await expect(again()).rejects.toMatchObject(refusal);
    stopClock(start + 4 * 3_600_000 - 1);
    await expect(again()).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
    stopClock(start + 4 * 3_600_000);
    // Of two at once, one.
    const two = await Promise.allSettled([again(), again()]);
    expect(two.map((each) => each.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await run();
    expect(receiver.messages.map(({ headers }) => headers['webhook-id']).sort()).toEqual(
      before.toSorted(),
    );
    const day = 86_400_000;
    for (const time of [start - 31 * day, start + day]) {
      await expect(replayWebhook(webhook, time)).rejects.toHaveStatus(400);
    }
  });

  test('says log.restarted when its place is no longer in the log', async () => {
    const { receiver, webhook } = await subscribe();
    await pauseWebhook(webhook);
    await ann.publishes();
    await run();
    const log = (await scanTable()).filter(({ pk }) => pk.startsWith('CHANGES#'));
    await batchDelete(log);
    // Tests before this one have logged in the next hours.
    stopClock(Date.now() + 5 * 3_600_000);
    await continueWebhook(webhook);
    receiver.respond = status(500);
    await run();
    expect(receiver.take()).toEqual(['log.restarted']);
    const { restarted_at = '', stuck } = await read(webhook);
    expect(stuck?.id).toBe(`log_${webhook.id}_${Date.parse(restarted_at)}`);
    await skipMessage(webhook, 'rev_another_1');
    expect((await read(webhook)).restarted_at).toBe(restarted_at);
    stopClock(Date.now() + 120_000);
    receiver.respond = undefined;
    await run();
    expect(receiver.take()).toEqual(['log.restarted']);
    const id = await ann.publishes();
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
  });

  test('says log.restarted after a restore, and goes on with what is new', async () => {
    const receiver = await startReceiver();
    const paused = await startReceiver();
    await beginWebhook(receiver);
    const webhook = await beginWebhook(paused);
    await pauseWebhook(webhook);
    await ann.publishes();
    await applyStream();
    await beginEpoch();
    const id = await ann.publishes();
    stopClock(Date.now() + 60_000);
    await run();
    expect(receiver.take()).toContain('log.restarted');
    expect(paused.take()).toEqual([]);
    await continueWebhook(webhook);
    await run();
    expect(paused.take()).toEqual(['log.restarted']);
    await ann.deletes(id);
    await run();
    expect(receiver.take()).toEqual([`review.removed ${id}`]);
    expect(paused.take()).toEqual([`review.removed ${id}`]);
  });

  test('tests a new address before anything is sent there', async () => {
    const [receiver, other] = await Promise.all([startReceiver(), startReceiver()]);
    const webhook = await beginWebhook(receiver);
    await updateWebhook(webhook, { address: other.url, types: webhook.types });
    const id = await ann.publishes();
    other.respond = status(500);
    await run();
    await run();
    expect([receiver.take(), other.take(), other.tests.length]).toEqual([[], [], 1]);
    other.respond = undefined;
    await testWebhook(webhook);
    await run();
    await run();
    expect(other.take()).toEqual([`review.published ${id}`]);
  });
});

test('a receiver gets nothing twice if the time of a run is over in between', async () => {
  const { receiver } = await subscribe();
  const ids = await Promise.all([ann.publishes(), ann.publishes(), ann.publishes()]);
  await applyStream();
  const now = performance.now.bind(performance);
  let elapsed = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + elapsed);
  receiver.respond = () => {
    elapsed = 3_600_000;
  };
  expect((await sendWebhooks()).hasMore).toBe(true);
  clock.mockRestore();
  receiver.respond = undefined;
  await run();
  const all = ids.map((id) => `review.published ${id}`);
  expect(receiver.take().toSorted()).toEqual(all.toSorted());
});

describe('a receiver that fails', () => {
  /** Publishes a review whose message the receiver refuses. Returns its id. */
  async function publishRefused(receiver: Receiver) {
    receiver.respond = status(400);
    const id = await ann.publishes();
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
    return id;
  }

  const skipStuck = async (webhook: Webhook) =>
    skipMessage(webhook, `${(await read(webhook)).stuck?.id}`);

  test('is asked again later, and gets everything in order', async () => {
    const { receiver, webhook } = await subscribe();
    const id = await publishRefused(receiver);
    expect(await read(webhook)).toMatchObject({
      state: 'on',
      failures: 1,
      stuck: { id: expect.stringContaining(`rev_${id}_`), type: 'review.published' },
    });
    await run();
    expect(receiver.take()).toEqual([]);
    receiver.respond = undefined;
    stopClock(Date.now() + 73_000);
    await ann.edits(id, { rating: 2 });
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
    expect(await read(webhook)).toMatchObject({ state: 'on', failures: 0 });
    expect((await read(webhook)).stuck).toBeUndefined();
  });

  test('that always refuses a message can have it skipped, once', async () => {
    const { receiver, webhook } = await subscribe();
    const bad = await ann.publishes();
    receiver.respond = ({ data }, response) => response.writeHead(data.id === bad ? 400 : 200);
    await run();
    const good = await ann.publishes();
    await run();
    receiver.take();
    const { stuck } = await read(webhook);
    expect(stuck?.id).toContain(bad);
    await skipMessage(webhook, `${stuck?.id}`);
    await skipMessage(webhook, `${stuck?.id}`);
    await run();
    expect(receiver.take()).toEqual([`review.published ${good}`]);
  });

  test('can have a message skipped that stands for later changes, too', async () => {
    const { receiver, webhook } = await subscribe();
    // Of one lane, so that they come in this order.
    const reviews = Array.from({ length: 99 }, () => reviewBy(ann.id));
    const [bad, ...others] = reviews.filter(({ id }) => laneOf(id) === 0).slice(0, 4);
    if (!bad) throw new Error('no review is of the first lane');
    await storeReviews([bad, ...others]);
    const published = ({ id, version }: { id: string; version: number }) =>
      ({ id, version, kind: 'published' }) as const;
    await logChanges([bad, ...others].map(published));
    await logChanges([{ id: bad.id, version: bad.version + 1, kind: 'edited' }]);
    receiver.respond = ({ data }, response) => response.writeHead(data.id === bad.id ? 400 : 200);
    await run();
    expect(receiver.take()).toEqual([`review.published ${bad.id}`]);
    await skipStuck(webhook);
    await run();
    expect(receiver.take().slice(0, 3)).toEqual(others.map(({ id }) => `review.published ${id}`));
  });

  test('does not miss what has changed since the message that is skipped', async () => {
    const { receiver, webhook } = await subscribe();
    const bad = await publishRefused(receiver);
    await ann.deletes(bad);
    await applyStream();
    receiver.respond = undefined;
    await skipStuck(webhook);
    await run();
    expect(receiver.take()).toEqual([`review.removed ${bad}`]);
  });

  test('does not miss the next review if the skipped message is no longer due', async () => {
    const { receiver, webhook } = await subscribe({ types: ['review.published'] });
    const bad = await publishRefused(receiver);
    await ann.deletes(bad);
    const good = await ann.publishes();
    await applyStream();
    receiver.respond = undefined;
    await skipStuck(webhook);
    await run();
    // The first is no longer public, and its message has another id.
    const reviews = new Map(receiver.messages.map(({ data }) => [data.id, data.review]));
    expect(reviews.get(bad)).toBeNull();
    expect(reviews.get(good)).toMatchObject({ id: good });
  });

  test('with 410 turns the webhook off at once', async () => {
    const { receiver, webhook } = await subscribe();
    receiver.respond = status(410);
    const id = await ann.publishes();
    await run();
    expect(await read(webhook)).toMatchObject({ state: 'off', off_reason: 'gone' });
    receiver.take();
    stopClock(Date.now() + 86_400_000);
    await run();
    // Its owner is told once.
    const { user_id } = await read(webhook);
    expect(await readItem(userKey(user_id))).toMatchObject({ news_webhook: 1 });
    expect(receiver.take()).toEqual([]);
    receiver.respond = undefined;
    await continueWebhook(webhook);
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
  });

  test('that is gone tells its owner once, also if two runs serve it', async () => {
    const { receiver, webhook } = await subscribe();
    receiver.respond = status(410);
    await ann.publishes();
    await applyStream();
    // Another run stores the end of the webhook first.
    const isEnd = ({ input }: Command) =>
      Object.values(input.ExpressionAttributeValues ?? {}).includes('gone');
    beforeFirst(isEnd, async () => {
      const { client_id, slot, version } = await read(webhook);
      await setAttributes(webhookKey(client_id, slot), { version: version + 1 });
    });
    await sendWebhooks();
    const { user_id } = await read(webhook);
    expect(await readItem(userKey(user_id))).not.toHaveProperty('news_webhook');
  });

  test('with Retry-After is left alone for so long', async () => {
    const { receiver, webhook } = await subscribe();
    receiver.respond = status(429, { 'Retry-After': '7200' });
    await ann.publishes();
    const start = Date.now();
    stopClock(start);
    await run();
    expect((await read(webhook)).retry_at).toBe(new Date(start + 7_200_000).toISOString());
  });
});

describe('the lag', () => {
  /** Runs as if the time of a run were over before the first task. Returns the lag in seconds. */
  async function lagWithoutTasks(): Promise<number | null> {
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 60_000));
    expect((await sendWebhooks()).hasMore).toBe(true);
    clock.mockRestore();
    return (await readHealth()).webhook_lag_seconds;
  }

  /** Stops the clock an hour after a run that served everybody. Something is logged since. */
  async function waitAnHour() {
    await run();
    stopClock(Date.now() + 3_600_000);
    const id = await ann.publishes();
    await applyStream();
    return id;
  }

  test.each([
    ['three accounts', 3, 1],
    ['one account, with any number of them', 1, 3],
  ])('is logged if webhooks of %s have no task in a run', async (_, accounts, each) => {
    const warned = silence('warn');
    for (const owner of await makeUsers(accounts)) {
      for (let i = 0; i < each; i++) await beginWebhook(await startReceiver(), { owner });
    }
    await waitAnHour();
    await lagWithoutTasks();
    const late = { message: 'Webhooks are late', accounts: 3 };
    expect(warned.mock.calls).toEqual(accounts === 3 ? [[late]] : []);
  });

  test('begins when an account has no task in a run, and ends when all had one', async () => {
    const { receiver } = await subscribe();
    const id = await waitAnHour();
    expect(await lagWithoutTasks()).toBe(3_600);
    expect(receiver.take()).toEqual([]);
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
    expect((await readHealth()).webhook_lag_seconds).toBe(0);
  });

  test('is none of an account whose own webhooks wait for each other', async () => {
    const owner = await makeUser();
    const receiver = await startReceiver();
    for (let i = 0; i < 4; i++) await beginWebhook({ url: `${receiver.url}/${i}` }, { owner });
    await waitAnHour();
    // The time of the run is over with the first message.
    const passed = performance.now.bind(performance);
    receiver.respond = () => {
      jest.spyOn(performance, 'now').mockImplementation(() => passed() + 60_000);
    };
    expect((await sendWebhooks()).hasMore).toBe(true);
    expect(receiver.take().length).toBeLessThan(4);
    expect((await readHealth()).webhook_lag_seconds).toBe(0);
  });
});

describe('messages', () => {
  test.each([
    ['three accounts, if nobody gets one', [3, 0], [3]],
    ['three accounts, if somebody gets one', [3, 1], []],
    ['two accounts', [2, 0], []],
  ])('that fail are counted, and logged of %s', async (_, [failing = 0, working = 0], logged) => {
    const warned = silence('warn');
    const before = (await readHealth()).webhook_messages;
    for (let i = 0; i < failing + working; i++) {
      const { receiver } = await subscribe();
      if (i < failing) receiver.respond = status(500);
    }
    await ann.publishes();
    await run();
    const { delivered, failed } = (await readHealth()).webhook_messages;
    expect(failed - before.failed).toBe(failing);
    // The tests of all, and one message.
    expect(delivered - before.delivered).toBe(failing + 2 * working);
    const lines = logged.map((accounts) => [{ message: 'All webhooks fail', accounts }]);
    expect(warned.mock.calls).toEqual(lines);
  });

  test('of one account that fail are logged for nobody, however many webhooks it has', async () => {
    const warned = silence('warn');
    const owner = await makeUser();
    for (let i = 0; i < 4; i++) {
      const receiver = await startReceiver();
      await beginWebhook(receiver, { owner });
      receiver.respond = status(500);
    }
    await ann.publishes();
    await run();
    expect(warned.mock.calls).toEqual([]);
  });
});

test('a minute without news reads 65,000 units a month, and an event 2.5 a webhook', async () => {
  // On a busy machine, a task of over a second would read and write once more.
  jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  const cost = async () => {
    await applyStream();
    return measureRun(sendWebhooks);
  };
  const receiver = await startReceiver();
  for (let i = 0; i < 6; i++) await beginWebhook(receiver);
  await run();
  const idle = await cost();
  expect(idle.read * 60 * 24 * 30).toBeLessThanOrEqual(65_000);
  await ann.publishes();
  const one = await cost();
  expect(receiver.take()).toHaveLength(6);
  for (let i = 0; i < 8; i++) await ann.publishes();
  const eight = await cost();
  expect(receiver.take()).toHaveLength(48);
  // A minute with news reads the webhooks, once, and two items of each owner.
  // Then each webhook reads the log, the review and its author.
  expect(one.read - idle.read).toBeLessThanOrEqual(6 * 2.5 + 1 + 6);
  expect((eight.read - one.read) / 7).toBeLessThanOrEqual(6 * 2.5);
  // The lease, and one write of each webhook for up to 20 messages: 1 a KB and 1 for the index.
  expect([one.write - idle.write, eight.write - idle.write]).toEqual([6 * 3, 6 * 4]);
});
