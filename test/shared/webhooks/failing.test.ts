import { handler as getHealth } from '../../../functions/api/get-health.ts';
import { recordHeartbeat } from '../../../shared/health/heartbeat.ts';
import { stopClock } from '../../helpers/clock.ts';
import { silence } from '../../helpers/console.ts';
import { invoke } from '../../helpers/invoke.ts';
import { applyStream } from '../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  type Receiver,
  run,
  startReceiver,
  status,
  subscribe,
} from '../../helpers/webhooks.ts';
import { makeUser, makeUsers } from '../../helpers/world.ts';

let warnings: jest.SpiedFunction<typeof console.warn>;
beforeEach(() => {
  warnings = silence('warn');
});
afterEach(forgetWebhooks);

const ann = await makeUser();

/** Begins a webhook of a new owner. */
async function beginOne() {
  const { receiver } = await subscribe();
  return receiver;
}

/** Lets the first `failing` of these receivers fail from now on, and sends something to all. */
async function failSome(receivers: readonly Receiver[], failing: number) {
  for (const receiver of receivers.slice(0, failing)) receiver.respond = status(500);
  await ann.publishes();
  // The first run finds out, and the second one sees it.
  for (let i = 0; i < 2; i++) await run();
}

/** Returns what the log of a run and the health of the service say of it. */
async function said() {
  await recordHeartbeat();
  await applyStream();
  const lines = warnings.mock.calls.map(([line]) => line);
  const { status: health, body } = await invoke(getHealth);
  return {
    health,
    owners: body.failing_webhook_owners,
    logged: lines.filter(({ message }) => message === 'Most webhooks fail'),
  };
}

test('most owners whose webhooks fail are logged, and are no fault of health', async () => {
  const receivers = await Promise.all([1, 2, 3, 4, 5].map(beginOne));
  await failSome(receivers, 3);
  expect(await said()).toEqual({
    health: 200,
    owners: 3,
    logged: [{ message: 'Most webhooks fail', failing: 3, active: 5 }],
  });
  for (const receiver of receivers) receiver.respond = undefined;
  stopClock(Date.now() + 73_000);
  warnings.mockClear();
  for (let i = 0; i < 2; i++) await run();
  expect(await said()).toEqual({ health: 200, owners: 0, logged: [] });
});

test('half of the owners may fail for reasons of their own', async () => {
  const receivers = await Promise.all([1, 2, 3, 4, 5, 6].map(beginOne));
  await failSome(receivers, 3);
  expect(await said()).toEqual({ health: 200, owners: 3, logged: [] });
});

test('one account cannot make them fail, with any number of webhooks that worked', async () => {
  const owner = await makeUser();
  const receivers = await Promise.all([1, 2, 3, 4].map(() => startReceiver()));
  for (const receiver of receivers) await beginWebhook(receiver, { owner });
  await failSome(receivers, 4);
  expect(await said()).toEqual({ health: 200, owners: 1, logged: [] });
});

test('receivers that never worked count for nobody', async () => {
  const owners = await makeUsers(3);
  // The name does not exist (RFC 6761 section 6.4).
  for (const owner of owners) await makeWebhook({ url: 'https://hook.invalid/' }, { owner });
  for (let i = 0; i < 2; i++) await run();
  expect(await said()).toEqual({ health: 200, owners: 0, logged: [] });
});

test('an owner whose receivers have failed for a day counts no more', async () => {
  const receivers = await Promise.all([1, 2, 3].map(beginOne));
  await failSome(receivers, 3);
  expect((await said()).owners).toBe(3);
  stopClock(Date.now() + 25 * 3_600_000);
  warnings.mockClear();
  for (let i = 0; i < 2; i++) await run();
  expect((await said()).logged).toEqual([]);
});
