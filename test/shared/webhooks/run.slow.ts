import { afterEach, expect, test } from '@jest/globals';
import { handler as sendWebhooks } from '../../../functions/background/send-webhooks.ts';
import { restore, stopClock } from '../../helpers/clock.ts';
import { afterSend } from '../../helpers/sends.ts';
import { applyStream } from '../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  read,
  run,
  slowly,
  startReceiver,
} from '../../helpers/webhooks.ts';
import { makeUser } from '../../helpers/world.ts';

afterEach(forgetWebhooks);
afterEach(restore);

const ann = await makeUser();

test('a tarpit holds up nobody else, and the run ends within a minute', async () => {
  const [good, tarpit, drip] = await Promise.all([
    startReceiver(),
    startReceiver(),
    startReceiver(),
  ]);
  const webhook = await beginWebhook(good);
  const stuck = await beginWebhook(tarpit);
  const slow = await beginWebhook(drip);
  tarpit.respond = slowly(60_000);
  drip.respond = slowly(14_000);
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await ann.publishes());
  await applyStream();
  const begin = performance.now();
  const ending = sendWebhooks();
  while (good.messages.length < 6 && performance.now() - begin < 30_000) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // The others share reads with the good one for a second at most.
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(good.take().sort()).toEqual(ids.map((id) => `review.published ${id}`).sort());
  await ending;
  expect(performance.now() - begin).toBeLessThan(59_000);
  expect(await read(webhook)).toMatchObject({ failures: 0 });
  expect(await read(stuck)).toMatchObject({ failures: 1, last: { status: null } });
  // A slow receiver is no failure: it gets what fits into the run, one message at a time.
  expect(await read(slow)).toMatchObject({ failures: 0, last: { status: 200 } });
  expect(drip.messages.length).toBeGreaterThanOrEqual(3);
  tarpit.respond = undefined;
}, 120_000);

test('two runs at the same time lose nothing', async () => {
  const receiver = await startReceiver();
  const webhook = await beginWebhook(receiver);
  receiver.respond = slowly(20);
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(await ann.publishes());
  await applyStream();
  await Promise.all([sendWebhooks(), sendWebhooks()]);
  await run();
  expect(new Set(receiver.take())).toEqual(new Set(ids.map((id) => `review.published ${id}`)));
  expect(await read(webhook)).toMatchObject({ state: 'on', failures: 0 });
}, 60_000);

test('200 webhooks at once share what is read, and each writes once', async () => {
  const receiver = await startReceiver();
  for (let i = 0; i < 200; i++) await makeWebhook(receiver);
  await run();
  stopClock(Date.now() + 60_000);
  const id = await ann.publishes();
  await applyStream();
  const commands: string[] = [];
  afterSend((command) => {
    commands.push(command.constructor.name);
  });
  const begin = performance.now();
  await sendWebhooks();
  expect(performance.now() - begin).toBeLessThan(40_000);
  expect(receiver.take()).toEqual(Array(200).fill(`review.published ${id}`));
  // One for each webhook.
  expect(commands.filter((name) => name.startsWith('TransactWrite'))).toHaveLength(200);
  // The review, its author.
  expect(commands.filter((name) => name === 'BatchGetCommand').length).toBeLessThanOrEqual(2);
}, 120_000);
