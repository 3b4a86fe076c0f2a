import { measureRun } from '../../../bin/bench/measure.ts';
import { handler as sendWebhooks } from '../../../functions/background/send-webhooks.ts';
import { decideUser } from '../../../shared/moderation/account-decisions.ts';
import { pauseWebhook, replayWebhook } from '../../../shared/webhooks/webhook-actions.ts';
import { type Answer, afterSend } from '../../helpers/sends.ts';
import { applyStream } from '../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  type Receiver,
  read,
  startReceiver,
  subscribe,
} from '../../helpers/webhooks.ts';
import { makeUser, operator } from '../../helpers/world.ts';

afterEach(forgetWebhooks);

const ann = await makeUser();

/** Waits for what another part of the service does. Fails after 10 seconds. */
async function until(isSo: () => boolean) {
  for (let i = 0; i < 1_000 && !isSo(); i++) await new Promise((done) => setTimeout(done, 10));
  expect(isSo()).toBe(true);
}

/** Begins a webhook whose receiver answers nothing before `release`. */
async function beginTarpit() {
  const { receiver, webhook } = await subscribe();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  receiver.respond = () => promise;
  return { receiver, webhook, release };
}

/** Begins a run with a new change. It looks again 20 times a second. */
async function beginRun(tarpit: Receiver) {
  const id = await ann.publishes();
  await applyStream();
  const running = sendWebhooks({ lookEvery: 0.05 });
  await until(() => tarpit.messages.length === 1);
  return { id, running };
}

describe('while a receiver does not answer, in the same run', () => {
  test('others are sent what is logged by then', async () => {
    const instant = await startReceiver();
    const webhook = await beginWebhook(instant);
    const { receiver, release } = await beginTarpit();
    const { id, running } = await beginRun(receiver);
    const ids = [id];
    for (let i = 0; i < 3; i++) {
      await until(() => instant.messages.length === ids.length);
      ids.push(await ann.publishes());
      await applyStream();
    }
    await until(() => instant.messages.length === ids.length);
    release();
    expect((await running).hasMore).toBe(false);
    expect(instant.take()).toEqual(ids.map((each) => `review.published ${each}`));
    // The slow one reads on as well, and all cursors are stored.
    expect(receiver.take().sort()).toEqual(ids.map((each) => `review.published ${each}`).sort());
    expect(await read(webhook)).toMatchObject({ failures: 0 });
    await sendWebhooks();
    expect([instant.take(), receiver.take()]).toEqual([[], []]);
  });

  test('a new webhook is tested, and sent what follows', async () => {
    const { receiver, release } = await beginTarpit();
    const { running } = await beginRun(receiver);
    const fresh = await startReceiver();
    const webhook = await makeWebhook(fresh);
    await until(() => fresh.tests.length === 1);
    while ((await read(webhook)).state !== 'on') await new Promise(setImmediate);
    const id = await ann.publishes();
    await applyStream();
    await until(() => fresh.messages.length === 1);
    expect(fresh.take()).toEqual([`review.published ${id}`]);
    release();
    await running;
  });

  test('a webhook has what is logged since its test was sent, whatever the run reads', async () => {
    const { receiver, release } = await beginTarpit();
    const instant = await startReceiver();
    await beginWebhook(instant);
    const { running } = await beginRun(receiver);
    const fresh = await startReceiver();
    const answered = Promise.withResolvers<void>();
    fresh.respond = () => answered.promise;
    await makeWebhook(fresh);
    await until(() => fresh.tests.length === 1);
    const id = await ann.publishes();
    await applyStream();
    // The run has read this change when the test is answered.
    await until(() => instant.messages.length === 2);
    answered.resolve();
    await until(() => fresh.messages.length === 1);
    expect(fresh.take()).toEqual([`review.published ${id}`]);
    release();
    await running;
  });

  test('one that is paused is sent nothing more', async () => {
    const instant = await startReceiver();
    const webhook = await beginWebhook(instant);
    const other = await startReceiver();
    await beginWebhook(other);
    const { receiver, release } = await beginTarpit();
    const { running } = await beginRun(receiver);
    await until(() => instant.messages.length === 1);
    await pauseWebhook(webhook);
    await ann.publishes();
    await applyStream();
    await until(() => other.messages.length === 2);
    release();
    await running;
    expect(instant.messages).toHaveLength(1);
  });

  test('others are sent what is logged by then, also after an index was late', async () => {
    const instant = await startReceiver();
    await beginWebhook(instant);
    const { receiver, release } = await beginTarpit();
    const answers: Answer[] = [];
    afterSend(({ input }, answer) => {
      if (input.IndexName !== 'all-by-date') return undefined;
      answers.push(answer);
      // The looks of a run after the first see what the first one saw.
      return answers.length < 5 ? answers[0] : undefined;
    });
    const { running } = await beginRun(receiver);
    await until(() => answers.length > 5);
    await ann.publishes();
    await applyStream();
    await until(() => instant.messages.length === 2);
    release();
    await running;
    expect(instant.messages).toHaveLength(2);
  });

  test('looks cost no more than those of a quiet minute', async () => {
    const blocked = await makeUser();
    await beginWebhook(await startReceiver(), { owner: blocked });
    await decideUser(blocked.id, 'block', operator);
    await beginWebhook(await startReceiver());
    const { receiver, release } = await beginTarpit();
    await ann.publishes();
    await applyStream();
    let looks = 0;
    afterSend(({ input }) => {
      if (input.IndexName === 'all-by-date') looks++;
      if (looks === 10) release();
    });
    const cost = await measureRun(() => sendWebhooks({ lookEvery: 0.05 }));
    expect(receiver.take()).toHaveLength(1);
    // The first look with the webhooks, three owners, and the log with the review and its author.
    expect(cost.read).toBeLessThanOrEqual(looks * 1.5 + 1 + 3 * 1 + 2.5);
  });
});

test('a replay goes on while live messages are sent', async () => {
  const [replaying, live] = await Promise.all([startReceiver(), startReceiver()]);
  const webhook = await beginWebhook(replaying);
  await beginWebhook(live);
  const begin = Date.now();
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push(await ann.publishes());
  await applyStream();
  await sendWebhooks();
  expect(replaying.take().sort()).toEqual(ids.map((id) => `review.published ${id}`).sort());
  live.take();
  await replayWebhook(webhook, begin);
  const times: number[] = [];
  replaying.respond = () => {
    times.push(performance.now());
  };
  const id = await ann.publishes();
  await applyStream();
  const start = performance.now();
  await sendWebhooks();
  expect(live.take()).toEqual([`review.published ${id}`]);
  expect(replaying.take().sort()).toEqual(
    [...ids, id].map((each) => `review.published ${each}`).sort(),
  );
  // The three of the replay have the pace of 50 a second. A busy machine only delays them.
  expect((times[2] ?? 0) - start).toBeGreaterThanOrEqual(39);
});
