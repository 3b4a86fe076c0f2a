import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { handler as getHealth } from '../../../functions/api/get-health.ts';
import { recordHeartbeat } from '../../../shared/health/heartbeat.ts';
import { restore, stopClock } from '../../helpers/clock.ts';
import { invoke } from '../../helpers/invoke.ts';
import { applyStream } from '../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  run,
  startReceiver,
  status,
} from '../../helpers/webhooks.ts';
import { makeUser } from '../../helpers/world.ts';

const warnings = jest.spyOn(console, 'warn').mockImplementation(() => {});
beforeEach(() => {
  warnings.mockClear();
});
afterEach(forgetWebhooks);
afterEach(restore);

const ann = await makeUser();

/** Begins so many webhooks, some of which fail from now on. */
async function beginMany(count: number, failing: number) {
  const receivers = await Promise.all(Array.from({ length: count }, () => startReceiver()));
  for (const receiver of receivers) await beginWebhook(receiver);
  for (const receiver of receivers.slice(0, failing)) receiver.respond = status(500);
  await ann.publishes();
  // The first run finds out, and the second one sees it.
  for (let i = 0; i < 2; i++) await run();
  return receivers;
}

/** Returns what the log of a run and the health of the service say of it. */
async function said() {
  await recordHeartbeat();
  await applyStream();
  const lines = warnings.mock.calls.map(([line]) => line as { message: string });
  const { body } = await invoke(getHealth);
  return {
    logged: lines.filter(({ message }) => message === 'Most webhooks fail'),
    fault: /Most webhooks fail[^.]*/.exec(`${body.description ?? ''}`)?.[0],
  };
}

test('most webhooks that fail are a fault of the service, until they recover', async () => {
  const receivers = await beginMany(5, 3);
  expect(await said()).toEqual({
    logged: [{ message: 'Most webhooks fail', failing: 3, active: 5 }],
    fault: 'Most webhooks fail: 3 of 5',
  });
  for (const receiver of receivers) receiver.respond = undefined;
  stopClock(Date.now() + 73_000);
  warnings.mockClear();
  for (let i = 0; i < 2; i++) await run();
  expect(await said()).toEqual({ logged: [], fault: undefined });
});

test.each([
  [2, 2],
  [6, 3],
])('of %i webhooks, %i may fail for reasons of their own', async (count, failing) => {
  await beginMany(count, failing);
  expect(await said()).toEqual({ logged: [], fault: undefined });
});
