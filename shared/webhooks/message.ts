import { isOfReview } from '../changes/logged-change.ts';
import type { Changed } from '../changes/window.ts';
import { knownEntity, presentMetadata } from '../entity/metadata.ts';
import type { Metadata } from '../entity/presented.ts';
import type { EntityRecord } from '../entity/record.ts';
import { isWhole } from '../review/long-text.ts';
import { presentReview } from '../review/review.ts';
import type { AuthoredReview } from '../review/review-repository.ts';
import type { PersonMessage, ReviewMessage, WebhookMessage } from './presented.ts';
import type { Webhook } from './webhook.ts';

// The messages of webhooks, as Standard Webhooks 1.0.0 describes them.

/** A message: its id, which is the same for each attempt, and its body as JSON. */
export interface Message {
  id: string;
  type: WebhookMessage['type'];
  body: string;
}

/** A change as a message reports it: with its time of logging. */
export type Reported = Pick<Changed, 'newest' | 'at'>;

/** Maximum bytes of a body. */
export const largestBody = 24 * 1024;

/**
 * Returns the id of the message about a change: the same for each attempt. Two entities may have
 * one id under two types, so the type of an entity is part of it.
 */
export function messageIdOf({ newest: { id, kind, entity_type }, at }: Reported): string {
  if (kind === 'named') return `ent_${entity_type}_${id}_${at}`;
  return `${isOfReview({ kind }) ? 'rev' : 'usr'}_${id}_${at}`;
}

/**
 * Returns the review, person or entity in the id of a message about a change, and the time of
 * logging. An id that older code has made of an entity has no type.
 */
export function changeIn(
  messageId: string,
): { id: string; at: number; entity_type: string | undefined } | undefined {
  const [, entity_type, id, at] =
    /^(?:rev|usr|ent(?:_([a-z0-9_]+))?)_([\da-f-]{36})_(\d+)$/.exec(messageId) ?? [];
  return id === undefined ? undefined : { id, at: Number(at), entity_type };
}

/**
 * Makes the message about a review as anybody sees it now. Without `authored` it is not public.
 * Over 24 KB, and with an imported text that is longer than people write, the review is left out.
 */
export function reviewMessage(
  type: ReviewMessage['type'],
  change: Reported,
  authored: AuthoredReview | undefined,
): Message {
  const { id, entity_id = null, user_id = null } = authored?.review ?? change.newest;
  const version = change.at;
  const messageWith = (part: Pick<ReviewMessage['data'], 'review' | 'truncated'>) =>
    messageOf(messageIdOf(change), version, {
      type,
      data: { subject: { type: 'review', id }, id, version, entity_id, user_id, ...part },
    });
  if (!authored) return messageWith({ review: null, truncated: false });
  const truncated = messageWith({ review: null, truncated: true });
  if (!isWhole(authored.review)) return truncated;
  const review = presentReview(authored.review, authored.author);
  const whole = messageWith({ review, truncated: false });
  return Buffer.byteLength(whole.body) <= largestBody ? whole : truncated;
}

/** Makes the message about a person whose access or account has ended. */
export function personMessage(type: PersonMessage['type'], change: Reported): Message {
  const data = { user_id: change.newest.id };
  return messageOf(messageIdOf(change), change.at, { type, data });
}

/** Makes the message about an entity whose name changed, as it is now. */
export function entityMessage(change: Reported, record: EntityRecord): Message {
  const entity = presentMetadata(knownEntity(record)) as Metadata;
  const subject = { type: entity.type, id: entity.id };
  const data = { subject, entity, version: change.at };
  return messageOf(messageIdOf(change), change.at, { type: 'entity.edited', data });
}

/** Makes the message that the cursor was lost: the receiver reads everything again. */
export function restartMessage({ id, restarted_at = '' }: Webhook): Message {
  const at = Date.parse(restarted_at);
  return messageOf(`log_${id}_${at}`, at, { type: 'log.restarted', data: {} });
}

/** Makes the message of a test, with the challenge that the receiver answers. */
export function testMessage({ id, test_due = '' }: Webhook, challenge: string): Message {
  const at = Date.parse(test_due);
  return messageOf(`test_${id}_${at}`, at, { type: 'webhook.test', data: { challenge } });
}

/** Returns true if the answer to a test is the challenge: as text, as JSON, or in an object. */
export function isChallenge(answer: string, challenge: string): boolean {
  const text = answer.trim();
  if (text === challenge) return true;
  try {
    const json: unknown = JSON.parse(text);
    return json === challenge || (json as { challenge?: unknown } | null)?.challenge === challenge;
  } catch {
    return false;
  }
}

/** Fields of a message apart from its time. */
type Content = WebhookMessage extends infer M
  ? M extends unknown
    ? Omit<M, 'timestamp'>
    : never
  : never;

/** `at` is the epoch ms of the event. */
function messageOf(id: string, at: number, { type, data }: Content): Message {
  const timestamp = new Date(at).toISOString();
  return { id, type, body: JSON.stringify({ type, timestamp, data }) };
}
