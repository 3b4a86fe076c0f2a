import { authUrl } from '../../base/auth-url.ts';
import { pick } from '../../base/pick.ts';
import { presentEntity } from '../../core/entity/metadata.ts';
import type { EntityRecord } from '../../core/entity/record.ts';
import { openedBy, type ReviewCase } from '../../core/report/case-repository.ts';
import { isWhole } from '../../core/review/long-text.ts';
import type { AuthoredReview } from '../../core/review/read-reviews.ts';
import { presentReview } from '../../core/review/review.ts';
import { type Reason, reasons } from '../../core/review/verdict.ts';
import { type Changed, isOfReview, type LoggedChange } from '../changes/public.ts';
import type { OpenName } from '../names/public.ts';
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
export function messageIdOf({ newest, at }: Reported): string {
  const { id, entity_type } = newest;
  const about = subjectTypeOf(newest);
  return [about, entity_type, id, at].filter((part) => part !== undefined).join('_');
}

/** The beginning of the ids of messages about a review, its case, an entity, or a person. */
export function subjectTypeOf({ kind }: Pick<LoggedChange, 'kind'>): string {
  if (kind === 'named') return 'ent';
  if (kind === 'opened') return 'case';
  return isOfReview({ kind }) ? 'rev' : 'usr';
}

/** The parts of the id of a message about a change. */
interface MessageSubject {
  /** The beginning of the id. */
  about: string;
  id: string;
  /** Epoch ms of logging. */
  at: number;
  /** Undefined also in an id that older code has made of an entity. */
  entity_type: string | undefined;
}

/** Returns the parts of the id of a message about a change. */
export function changeIn(messageId: string): MessageSubject | undefined {
  const [, about = '', entity_type, id, at] =
    /^(rev|case|usr|ent)(?:(?<=ent|case)_([a-z0-9_]+))?_([\da-f-]{36})_(\d+)$/.exec(messageId) ??
    [];
  return id === undefined ? undefined : { about, id, at: Number(at), entity_type };
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

/** Makes the message about an entity whose name or state changed, as it is now. */
export function entityMessage(change: Reported, record: EntityRecord): Message {
  const subject = { type: record.entity_type, id: record.entity_id };
  const data = { subject, ...presentEntity(record), version: change.at };
  return messageOf(messageIdOf(change), change.at, { type: 'entity.edited', data });
}

/** Makes the message about an open case: what it is about, and no text of anybody. */
export function caseMessage(
  change: Reported,
  opened: Pick<ReviewCase, 'review' | 'moderationCase'>,
): Message {
  const { review, moderationCase } = opened;
  const data = {
    review_id: review.id,
    entity_id: review.entity_id,
    entity_type: review.entity_type,
    opened_by: openedBy(opened),
    opened_at: moderationCase.opened_at,
    reasons: pick(moderationCase, reasons),
    url: `${authUrl()}/account/moderation/reviews/${review.id}`,
  };
  return messageOf(messageIdOf(change), change.at, { type: 'case.opened', data });
}

/** Makes the message about a name that waits, which is not in it. */
export function nameMessage(change: Reported, opened: OpenName): Message {
  const { entity_id, entity_type, opened_by, opened_at } = opened;
  const page = opened_by === 'name' ? 'things' : 'names';
  const url = `${authUrl()}/account/moderation/${page}/${entity_id}?entity_type=${entity_type}`;
  const none = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>;
  const about = { review_id: null, entity_id, entity_type };
  const data = { ...about, opened_by, opened_at, reasons: none, url };
  return messageOf(messageIdOf(change), change.at, { type: 'case.opened', data });
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
