import { randomBytes } from 'node:crypto';
import type { Changed } from '../changes/window.ts';
import { presentReview } from '../review/review.ts';
import { findChangedReviews } from '../review/review-repository.ts';
import { typeOf, type Webhook } from './webhook.ts';

// The messages of webhooks, as Standard Webhooks 1.0.0 describes them.

/** A message: its id, which is the same for each attempt, and its body as JSON. */
export interface Message {
  id: string;
  type: string;
  body: string;
}

/** In bytes. */
const largestBody = 24 * 1024;

/**
 * Makes the message about a change, with the review as anybody sees it now. The review is null
 * after a removal, or if the body would exceed 24 KB. Returns undefined if the review is not public
 * now: a later change reports that.
 */
export async function changeMessage({ change, at }: Changed): Promise<Message | undefined> {
  const { id, version, kind } = change;
  const review = kind === 'removed' ? null : await readReview(change);
  if (review === undefined) return undefined;
  const type = typeOf(kind);
  const bodyWith = (shown: object | null) => bodyOf(type, at, { id, version, review: shown });
  const body = bodyWith(review);
  const isTooLong = Buffer.byteLength(body) > largestBody;
  return { id: messageIdOf(change), type, body: isTooLong ? bodyWith(null) : body };
}

/** Returns the id of the message about a change: the same for each attempt. */
export function messageIdOf({ id, version }: Changed['change']): string {
  return `rev_${id}_${version}`;
}

/** Consistent: a review that was hidden before this call is not sent. */
async function readReview(change: Changed['change']) {
  const [authored] = await findChangedReviews([change], { consistent: true });
  return authored && presentReview(authored.review, authored.author);
}

/** Makes the message that the webhook lost its place: the receiver reads everything anew. */
export function restartMessage({ id, restarted_at = '' }: Webhook): Message {
  const at = Date.parse(restarted_at);
  return { id: `log_${id}_${at}`, type: 'log.restarted', body: bodyOf('log.restarted', at, {}) };
}

/** Makes the message of a test, and the challenge that the receiver answers with. */
export function testMessage({ id, test_due = '' }: Webhook): Message & { challenge: string } {
  const at = Date.parse(test_due);
  const challenge = randomBytes(16).toString('hex');
  const body = bodyOf('webhook.test', at, { challenge });
  return { id: `test_${id}_${at}`, type: 'webhook.test', body, challenge };
}

/** `at` is the epoch ms of the event. */
function bodyOf(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}
