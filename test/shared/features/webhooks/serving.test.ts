import { measureRun } from '../../../../bin/bench/measure.ts';
import { handler as sendWebhooks } from '../../../../functions/background/send-webhooks.ts';
import { webhookKey } from '../../../../shared/core/keys.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { pauseWebhook } from '../../../../shared/features/webhooks/webhook-actions.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { type Answer, afterSend } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  type Receiver,
  read,
  startReceiver,
  subscribe,
} from '../../../helpers/webhooks.ts';
import { makeUser, operator } from '../../../helpers/world.ts';

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
    // The latter are read for each of two receivers.
    expect(cost.read).toBeLessThanOrEqual(looks * 1.5 + 1 + 3 * 1 + 2 * 2.5);
  });
});

describe('the webhooks of an account', () => {
  /** Begins three webhooks of one account, each at the end of a path. */
  async function beginThree() {
    const owner = await makeUser();
    const receiver = await startReceiver();
    const webhooks = [];
    for (const name of ['a', 'b', 'c']) {
      webhooks.push(await beginWebhook({ url: `${receiver.url}/${name}` }, { owner }));
    }
    return { owner, receiver, webhooks };
  }

  test('are sent two messages at a time, and a test goes before the others', async () => {
    const { owner, receiver } = await beginThree();
    const { receiver: another } = await subscribe();
    receiver.tests.length = 0;
    const answers: (() => void)[] = [];
    receiver.respond = () => new Promise<void>((resolve) => answers.push(resolve));
    const { running } = await beginRun(another);
    await until(() => answers.length === 2);
    const fresh = await startReceiver();
    await makeWebhook(fresh, { owner });
    // The run looks again, and what is due waits for the two.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([answers.length, fresh.tests.length]).toEqual([2, 0]);
    // The test takes the place of the first that is answered.
    let isFirst: boolean | undefined;
    fresh.respond = () => {
      isFirst ??= answers.length === 2;
    };
    answers[0]?.();
    await until(() => answers.length === 3);
    expect(isFirst).toBe(true);
    for (const answer of answers) answer();
    await running;
    expect(receiver.messages).toHaveLength(3);
  });

  test.each([
    ['20 messages', 22, 0, {}],
    ['a second', 6, 300, {}],
    ['one message, if they are slow', 3, 0, { milliseconds: 1_001 }],
  ])('wait for each other after %s', async (_, count, answersAfter, attempt) => {
    const { receiver, webhooks } = await beginThree();
    for (const { client_id, slot, attempts } of webhooks) {
      const others = attempts.map((each) => ({ ...each, ...attempt }));
      await setAttributes(webhookKey(client_id, slot), { attempts: others });
    }
    for (let i = 0; i < count; i++) await ann.publishes();
    await applyStream();
    const real = performance.now.bind(performance);
    let elapsed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => real() + elapsed);
    const order: string[] = [];
    receiver.respond = ({ path }) => {
      order.push(path.slice(-1));
      elapsed += answersAfter;
    };
    await sendWebhooks();
    expect(order.toSorted().join('')).toBe(['a', 'b', 'c'].map((it) => it.repeat(count)).join(''));
    // The third begins before one of the first two has everything.
    const [one = '', another = '', third = ''] = new Set(order);
    const ends = [one, another].map((name) => order.lastIndexOf(name));
    expect(order.indexOf(third)).toBeLessThan(Math.min(...ends));
  });

  test('begin with the one that waits longest', async () => {
    const { receiver, webhooks } = await beginThree();
    const order: string[] = [];
    receiver.respond = ({ path }) => {
      order.push(path.slice(-1));
    };
    const ages = [1, 3, 2];
    for (const [i, { client_id, slot, attempts }] of webhooks.entries()) {
      const at = new Date(Date.now() - Number(ages[i]) * 60_000).toISOString();
      await setAttributes(webhookKey(client_id, slot), {
        attempts: attempts.map((each) => ({ ...each, at })),
      });
    }
    await ann.publishes();
    await applyStream();
    await sendWebhooks();
    // Two at a time.
    expect(new Set(order.slice(0, 2))).toEqual(new Set(['b', 'c']));
    expect(order[2]).toBe('a');
  });
});
