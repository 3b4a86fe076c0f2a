import { handler as sendWebhooks } from '../../../../functions/background/send-webhooks.ts';
import { webhookKey } from '../../../../shared/core/keys.ts';
import { testWebhook } from '../../../../shared/features/webhooks/webhook-actions.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { beforeFirst, type Command } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { forgetWebhooks, read, run, status, subscribe } from '../../../helpers/webhooks.ts';
import { makeUser } from '../../../helpers/world.ts';

afterEach(forgetWebhooks);

const ann = await makeUser();

test('a run that has died holds up its webhooks until it would have ended', async () => {
  const { receiver, webhook } = await subscribe();
  const key = webhookKey(webhook.client_id, webhook.slot);
  const id = await ann.publishes();
  await applyStream();
  const begin = Date.now();
  stopClock(begin);
  // The other run dies while it sends.
  const leases: unknown[] = [];
  receiver.respond = async () => {
    leases.push((await readItem(key))?.leased_until);
  };
  await sendWebhooks();
  const [lease] = leases;
  expect(Date.parse(`${lease}`) - begin).toBeLessThanOrEqual(90_000);
  // Of a request that begins at the end of the run, too.
  expect(Date.parse(`${lease}`) - begin).toBeGreaterThanOrEqual(65_000);
  expect(receiver.take()).toEqual([`review.published ${id}`]);
  expect(await readItem(key)).not.toHaveProperty('leased_until');

  await setAttributes(key, { leased_until: lease });
  const next = await ann.publishes();
  const { version } = await read(webhook);
  await run();
  expect(receiver.take()).toEqual([]);
  // The other run could not store what it has sent.
  expect((await read(webhook)).version).toBe(version);
  stopClock(Date.parse(`${lease}`));
  await run();
  expect(receiver.take()).toEqual([`review.published ${next}`]);
  expect(await readItem(key)).not.toHaveProperty('leased_until');
});

test('what its owner changes meanwhile ends the lease, and the next run begins with it', async () => {
  const { receiver, webhook } = await subscribe();
  const id = await ann.publishes();
  await applyStream();
  receiver.respond = async () => {
    receiver.respond = undefined;
    await testWebhook(webhook);
  };
  await sendWebhooks();
  expect(receiver.tests).toHaveLength(1);
  await sendWebhooks();
  expect(receiver.tests).toHaveLength(2);
  // At least once.
  expect(new Set(receiver.take())).toEqual(new Set([`review.published ${id}`]));
});

test('a failure ends the lease too', async () => {
  const { receiver, webhook } = await subscribe();
  receiver.respond = status(500);
  await ann.publishes();
  await run();
  expect(receiver.take()).toHaveLength(1);
  const key = webhookKey(webhook.client_id, webhook.slot);
  expect(await readItem(key)).not.toHaveProperty('leased_until');
});

test('a webhook that another run has served meanwhile is left alone', async () => {
  const { receiver, webhook } = await subscribe();
  const id = await ann.publishes();
  await applyStream();
  // The lease is the first write that names the webhook.
  const isLease = ({ input }: Command) =>
    Object.values(input.ExpressionAttributeValues ?? {}).includes(webhook.id);
  beforeFirst(isLease, () => sendWebhooks().then(() => undefined));
  await sendWebhooks();
  expect(receiver.take()).toEqual([`review.published ${id}`]);
});
