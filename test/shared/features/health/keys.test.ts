import { handler as getHealth } from '../../../../functions/api/get-health.ts';
import { handler as sendHeartbeat } from '../../../../functions/background/send-heartbeat.ts';
import { lastRunKey } from '../../../../shared/base/background/last-run.ts';
import { expectKeys } from '../../../../shared/features/health/public.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { countMetrics, silence } from '../../../helpers/console.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { readItem } from '../../../helpers/items.ts';
import { applyStream } from '../../../helpers/stream.ts';

const { SIGNING_KEYS: former = '' } = process.env;
const other = Buffer.alloc(48, 'other').toString('base64url');
const { now: realNow } = Date;

let errors: jest.SpiedFunction<typeof console.error>;
let counted: string[];
beforeEach(() => {
  counted = countMetrics();
  errors = silence('error');
});

/** Sends a heartbeat so many seconds from now, with these keys. Returns what health says then. */
async function beat(seconds: number, keys: string) {
  process.env.SIGNING_KEYS = keys;
  stopClock(realNow() + seconds * 1000);
  await sendHeartbeat();
  await applyStream();
  const { body } = await invoke(getHealth);
  return body.description;
}

test('keys that were rotated are no fault', async () => {
  expect(await beat(0, former)).toBeUndefined();
  expect(await beat(60, `${other},${former}`)).toBeUndefined();
  expect(await beat(120, other)).toBeUndefined();
  expect(await beat(180, `${former},${other}`)).toBeUndefined();
  expect(counted).toEqual([]);
});

test('keys that were rotated, and retired before the next heartbeat, are no fault', async () => {
  expect(await beat(190, former)).toBeUndefined();
  process.env.SIGNING_KEYS = `${other},${former}`;
  await expectKeys();
  expect(await beat(200, other)).toBeUndefined();
  expect(await beat(210, `${former},${other}`)).toBeUndefined();
  expect(counted).toEqual([]);
});

test('keys that were replaced are a fault, and an alarm, until the former one is back', async () => {
  await beat(240, former);
  expect(await beat(300, other)).toMatch(
    /^The signing keys were replaced 0 seconds ago: tokens and secrets made before are refused\./,
  );
  expect(await beat(900, other)).toMatch(/^The signing keys were replaced 600 seconds ago/);
  expect(counted).toEqual(['ReplacedKeys', 'ReplacedKeys']);
  expect(errors).toHaveBeenCalledWith({ message: 'The signing keys were replaced' });
  expect(await beat(960, former)).toBeUndefined();
  expect(await beat(1020, former)).toBeUndefined();
  expect(counted).toHaveLength(2);
});

test('after an hour the new keys count', async () => {
  expect(await beat(1080, other)).toMatch(/^The signing keys were replaced/);
  expect(await beat(1080 + 3599, other)).toMatch(/^The signing keys were replaced/);
  expect(await beat(1080 + 3601, other)).toBeUndefined();
  expect(await beat(1080 + 3700, other)).toBeUndefined();
});

test('the mark does not hold the key', async () => {
  await beat(6000, other);
  const item = JSON.stringify(await readItem(lastRunKey('heartbeat')));
  expect(item).toMatch(/"key_mark":"[\w-]{43}"/);
  expect(item).not.toContain(other.slice(0, 20));
});
