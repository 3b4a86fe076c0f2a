import { invalidRequest, limitExceeded } from '../../base/errors.ts';
import { keysOf } from '../../base/secrets.ts';
import { withNewSecret } from '../../core/oauth/application.ts';
import { cursorLifetime, findCursor, readLogEnd } from '../changes/public.ts';
import { begun, iso, noFailures, replayableFrom } from './decisions.ts';
import { changeIn, messageIdOf, restartMessage } from './message.ts';
import { challengeOf } from './signature.ts';
import { signingIds } from './webhook.ts';
import { changeAsOwner, changeWebhook, readAhead, type WebhookId } from './webhook-repository.ts';

// What owners and operators do with a webhook. All but a pause throws ApiError 403 if the owner's
// account is blocked.

const notBegun = () => invalidRequest('The webhook has not begun: test it first');

/** Asks for a test, which the next run sends. The test of a new webhook is repeated for an hour. */
export function testWebhook(webhook: WebhookId): Promise<void> {
  return changeAsOwner(webhook, ({ state }) => {
    const test = { test_due: iso(Date.now()) };
    return state === 'new' ? { ...test, ...noFailures } : test;
  });
}

/**
 * Begins a webhook whose receiver shows the challenge to its owner, instead of answering it. Throws
 * ApiError 400 for another challenge.
 */
export async function confirmWebhook(webhook: WebhookId, challenge: string): Promise<void> {
  const [keys, end] = await Promise.all([keysOf('WEBHOOK_KEYS'), readLogEnd()]);
  await changeAsOwner(webhook, (before) => {
    if (!keys.some((key) => challengeOf(before, key) === challenge.trim())) {
      throw invalidRequest('The challenge must be that of a test of this address');
    }
    return before.state === 'new' ? begun(before, end) : undefined;
  });
}

/** Stops a webhook until it is continued. Changes nothing unless it is on. */
export function pauseWebhook(webhook: WebhookId): Promise<void> {
  return changeWebhook(webhook, ({ state }) => (state === 'on' ? { state: 'paused' } : undefined));
}

/** Continues where the webhook stood. Changes nothing if it is on, or new. */
export function continueWebhook(webhook: WebhookId): Promise<void> {
  return changeAsOwner(webhook, ({ state }) => {
    if (state !== 'paused' && state !== 'off') return undefined;
    return { state: 'on', off_reason: undefined, ...noFailures };
  });
}

/**
 * Sets a webhook back to a time (epoch ms) of the last 30 days, once an hour. Throws ApiError 400
 * for another time, or before the webhook has begun, and 403 in the hour after a replay.
 */
export async function replayWebhook(webhook: WebhookId, from: number): Promise<void> {
  if (!(from <= Date.now() && from > Date.now() - cursorLifetime)) {
    throw invalidRequest('The time must be within the last 30 days');
  }
  const [cursor, until] = await Promise.all([findCursor(from), readLogEnd()]);
  await changeAsOwner(webhook, (before) => {
    if (before.state === 'new') throw notBegun();
    const now = Date.now();
    if (now < replayableFrom(before)) throw replayedBefore(replayableFrom(before), now);
    return { cursor, stuck: undefined, replay: { asked: iso(now), until } };
  });
}

function replayedBefore(next: number, now: number) {
  const minute = iso(Math.ceil(next / 60_000) * 60_000).slice(11, 16);
  return limitExceeded(`A webhook can be replayed once an hour: try again at ${minute} UTC`, {
    'Retry-After': `${Math.ceil((next - now) / 1000)}`,
  });
}

/**
 * Asks for a message of the last attempts once more. The next run sends it with the review of now.
 * Throws ApiError 400 for another message, or before the webhook has begun.
 */
export function resendMessage(webhook: WebhookId, messageId: string): Promise<void> {
  return changeAsOwner(webhook, ({ state, attempts }) => {
    if (state === 'new') throw notBegun();
    const attempt = changeIn(messageId) && attempts.find(({ id }) => id === messageId);
    if (!attempt) throw invalidRequest('The message must be one of the last attempts');
    return { resend: { id: messageId, type: attempt.type, asked: iso(Date.now()) } };
  });
}

/**
 * Passes over the message with this id, unless another one fails by now. If the review has changed
 * since, its message has become another one, which is sent instead.
 */
export async function skipMessage(webhook: WebhookId, messageId: string): Promise<void> {
  const end = await readLogEnd();
  await changeAsOwner(webhook, async (before) => {
    const { stuck } = before;
    if (stuck?.id !== messageId) return undefined;
    const next = { stuck: undefined, retry_at: undefined };
    if (before.restarted_at && stuck.id === restartMessage(before).id) {
      return { restarted_at: undefined, ...next };
    }
    const window = await readAhead(before, end);
    const [first, second] = window?.changed ?? [];
    if (!first || messageIdOf(first) !== messageId) return next;
    return { cursor: second?.before ?? window?.end, ...next };
  });
}

/**
 * Makes a new secret; the old one signs beside it for a day. Throws ApiError 400 while two secrets
 * sign.
 */
export function rotateWebhookSecret(webhook: WebhookId): Promise<void> {
  return changeAsOwner(webhook, (before) => {
    if (signingIds(before).length > 1) {
      throw invalidRequest('There are two secrets already: wait until the old one has ended');
    }
    return withNewSecret(before.secret_id);
  });
}
