import { type ChangeKind, type LogCursor, type LoggedChange, markOf } from '../changes/public.ts';
import type { Delivery } from './connection.ts';
import type { PersonMessage } from './presented.ts';
import { type Attempt, listedIn, type MessageType, typeOf, type Webhook } from './webhook.ts';

// Decisions on webhooks: pure functions of a webhook, what happened, and the time.

/** Minutes until the next attempt after a number of failures; later ones as the last. */
const pauses = [1, 2, 5, 15, 30, 60, 120, 240, 480];

/** Share by which a pause is at most longer or shorter, so that retries do not meet. */
const jitter = 0.2;

/** In milliseconds: 5 days. */
export const longestFailing = 5 * 86_400_000;

/** In milliseconds: an hour, for which the first test of an address is repeated. */
export const longestTesting = 3_600_000;

/** In milliseconds. A receiver with a longer answer among its last attempts is slow. */
const quickAnswer = 1_000;

/**
 * In milliseconds: an hour between two replays of a webhook. Its owner feels it: a replay may send
 * the changes of 30 days, and takes the thread from people.
 */
export const replayPause = 3_600_000;

/** Attributes of a webhook that does not fail. */
export const noFailures = {
  failures: 0,
  failing_since: undefined,
  retry_at: undefined,
  stuck: undefined,
} satisfies Partial<Webhook>;

/** Chance of a decision, from 0 to 1. Tests choose it. */
type Chance = () => number;

/**
 * Returns milliseconds until the next attempt after `failures` in a row, with jitter. Waits longer
 * if the receiver asks for it by `retryAfter` (seconds).
 */
export function pauseAfter(failures: number, retryAfter = 0, chance: Chance = Math.random): number {
  const minutes = pauses[Math.min(failures, pauses.length) - 1] ?? 1;
  const pause = minutes * 60_000 * (1 - jitter + 2 * jitter * chance());
  return Math.round(Math.max(pause, retryAfter * 1000));
}

/** Decides what becomes of a webhook whose receiver failed. `now` is epoch ms. */
export function afterFailure(
  webhook: Webhook,
  { outcome, retryAfter }: Pick<Delivery, 'outcome' | 'retryAfter'>,
  { stuck, now, chance }: { stuck: Webhook['stuck']; now: number; chance?: Chance },
): Partial<Webhook> {
  const failures = webhook.failures + 1;
  const failing_since = webhook.failing_since ?? iso(now);
  const failed = { failures, failing_since, stuck, retry_at: undefined };
  if (outcome === 'gone') return { ...failed, state: 'off', off_reason: 'gone' };
  if (now - Date.parse(failing_since) >= longestFailing) {
    return { ...failed, state: 'off', off_reason: 'failing' };
  }
  return { ...failed, retry_at: iso(now + pauseAfter(failures, retryAfter, chance)) };
}

/**
 * Decides what becomes of a webhook after a test. A new one begins after a success: at the end of
 * the log, unless it has a cursor. The first test of an address is repeated for an hour.
 */
export function afterTest(
  webhook: Webhook,
  hasSucceeded: boolean,
  { end, now, chance }: { end: LogCursor; now: number; chance?: Chance },
): Partial<Webhook> {
  const tested = { test_due: undefined };
  if (webhook.state !== 'new') return tested;
  if (hasSucceeded) return { ...tested, ...begun(webhook, end) };
  const failures = webhook.failures + 1;
  const failing_since = webhook.failing_since ?? iso(now);
  const next = now + pauseAfter(failures, 0, chance);
  const isRepeated = next < Date.parse(failing_since) + longestTesting;
  return { failures, failing_since, test_due: isRepeated ? iso(next) : undefined };
}

/** Returns the attributes of a webhook whose address is confirmed. */
export function begun({ cursor }: Webhook, end: LogCursor): Partial<Webhook> {
  return {
    state: 'on',
    cursor: cursor ?? end,
    test_due: undefined,
    ...noFailures,
  };
}

/** Returns true if a run has something to do for the webhook. `end` is that of the log. */
export function isDue(webhook: Webhook, end: LogCursor, now: number): boolean {
  const { date, kind } = listedIn(webhook);
  return date !== undefined && date <= `${iso(now)}#~` && kind !== markOf(end);
}

/** Returns true if messages may be sent, apart from tests and those that the owner wants again. */
export function isSending({ state, retry_at = '' }: Webhook, now: number): boolean {
  return state === 'on' && retry_at <= iso(now);
}

/** Returns true if something is to be sent that the owner has asked for: a test, or a message. */
export function isAsked({ test_due, resend }: Webhook, now: number): boolean {
  return resend !== undefined || (test_due !== undefined && test_due <= iso(now));
}

/** Returns true if a receiver with these last attempts is slow. */
export function isSlow(attempts: readonly Attempt[]): boolean {
  return attempts.some(({ milliseconds }) => milliseconds > quickAnswer);
}

/** Returns the time (epoch ms) from which the webhook may be replayed. */
export function replayableFrom({ replay }: Pick<Webhook, 'replay'>): number {
  return replay ? Date.parse(replay.asked) + replayPause : 0;
}

/**
 * Returns true if the webhook is about the review or person, and has chosen such a change. The
 * entity and author of a case are looked at when its message is made.
 */
export function wants(webhook: Webhook, change: LoggedChange): boolean {
  const { types, client_id, entity_id, author_id } = webhook;
  if (!types.includes(typeOf(change.kind))) return false;
  if (change.client_id !== undefined) return change.client_id === client_id;
  if (change.kind === 'opened') return true;
  if (change.kind === 'named') {
    return author_id === undefined && (entity_id === undefined || entity_id === change.id);
  }
  const isOfEntity = entity_id === undefined || change.entity_id === entity_id;
  const isOfAuthor = author_id === undefined || change.user_id === author_id;
  return isOfEntity && isOfAuthor;
}

/** Kinds of changes by weight, of a review that is public now, and of one that is not. */
const weights = {
  public: ['published', 'edited', 'voted', 'removed'],
  removed: ['removed', 'published', 'edited', 'voted'],
} as const satisfies Record<string, readonly ChangeKind[]>;

/**
 * Chooses the type of the message about a review: the weightiest that happened, of those that the
 * owner has chosen. Returns undefined if a later change brings a message about its state of now.
 */
export function typeOfReview(
  { types }: Pick<Webhook, 'types'>,
  kinds: ReadonlySet<ChangeKind>,
  isPublic: boolean,
): MessageType | undefined {
  const order = weights[isPublic ? 'public' : 'removed'];
  const weightiest = order.find((kind) => kinds.has(kind) && types.includes(typeOf(kind)));
  if (weightiest === undefined) return undefined;
  const isPublicAgain = isPublic && weightiest === 'removed' && types.includes('review.published');
  const isRemovedSince = !isPublic && weightiest !== 'removed' && types.includes('review.removed');
  return isPublicAgain || isRemovedSince ? undefined : typeOf(weightiest);
}

/** Chooses the type of the message about a person: the end of the account is the weightier one. */
export function typeOfPerson(
  { types }: Pick<Webhook, 'types'>,
  kinds: ReadonlySet<ChangeKind>,
): PersonMessage['type'] {
  const isDeleted = kinds.has('deleted') && types.includes('user.deleted');
  return isDeleted ? 'user.deleted' : 'access.revoked';
}

/** Returns epoch ms as an ISO 8601 time. */
export const iso = (time: number) => new Date(time).toISOString();
