import { createHmac, type KeyObject } from 'node:crypto';
import { countMetric } from '../../base/metric.ts';
import { keysOf } from '../../base/secrets.ts';
import type { Item } from '../../base/table/item.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { heartbeatKey } from './heartbeat.ts';

// A lost signing key ends all tokens at once. Refused tokens do not show it, because anybody can
// send made-up ones. So the heartbeat holds a mark of the key that signs.

/** In milliseconds: an hour. After it the new key counts, for it was replaced on purpose. */
const longestComplaint = 3_600_000;

/**
 * Compares the signing keys with the mark in the heartbeat as it was before. While the key of the
 * mark is missing, logs and counts it, and `/ws/health` says so.
 */
export async function checkKeys({ key_mark, keys_replaced_at }: Partial<Item>): Promise<void> {
  const [current = '', ...earlier] = (await keysOf('SIGNING_KEYS')).map(markOf);
  const isKnown = key_mark === undefined || [current, ...earlier].includes(`${key_mark}`);
  const now = Date.now();
  const since = typeof keys_replaced_at === 'string' ? Date.parse(keys_replaced_at) : now;
  if (isKnown || now - since > longestComplaint) {
    const isSettled = key_mark === current && keys_replaced_at === undefined;
    if (!isSettled) await setMark({ key_mark: current, keys_replaced_at: undefined });
    return;
  }
  console.error({ message: 'The signing keys were replaced' });
  countMetric('ReplacedKeys', 1, { isSummed: true });
  if (keys_replaced_at === undefined) {
    await setMark({ keys_replaced_at: new Date(now).toISOString() });
  }
}

/**
 * Lets the key that signs now be the expected one. Call it before a key is deleted on purpose: no
 * heartbeat may have come since that key was the first.
 */
export async function expectKeys(): Promise<void> {
  const [current] = await keysOf('SIGNING_KEYS');
  if (current) await setMark({ key_mark: markOf(current) });
}

async function setMark(set: Readonly<Record<string, string | undefined>>): Promise<void> {
  await tryUpdate({ Key: heartbeatKey, set });
}

/** Marks a key. It does not reveal the key, and is no credential. */
function markOf(key: KeyObject): string {
  return createHmac('sha256', key).update('mark of a signing key').digest('base64url');
}
