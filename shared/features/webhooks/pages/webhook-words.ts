import { html } from 'hono/html';
import type { Html } from '../../../pages/frame/layout.ts';
import { minuteOf } from '../../../pages/frame/words.ts';
import type { Attempt, Cause, Webhook } from '../webhook.ts';

// Sentences about the state of a webhook and its last requests.

/** Descriptions of failed requests, by cause. */
const faults: Readonly<Record<Exclude<Cause, 'status'>, string>> = {
  dns: 'The name of the host has no address',
  connect: 'No connection: it was refused, or nobody answered',
  tls: 'TLS failed: check the certificate',
  timeout: 'No complete answer within 15 seconds',
  address: 'The address is not public, or not allowed',
  answer: 'The answer is not complete HTTP, or too long',
};

/** Describes what came of a request, without a full stop. */
export function outcomeOf({ type, status, cause }: Attempt): string {
  const answered = status === null ? '' : `Status ${status}`;
  if (cause === undefined || cause === 'status') return answered;
  const isOtherAnswer = cause === 'answer' && type === 'webhook.test' && status !== null;
  return isOtherAnswer ? `${answered}, but the answer is not the challenge` : faults[cause];
}

/** The state of a webhook, as a warning if its owner should act. */
export function stateOf(webhook: Webhook, isBlocked: boolean): Html {
  if (isBlocked) {
    return html`<p class="warning">Your account is blocked, so this webhook sends nothing.</p>`;
  }
  const { state, off_reason, failing_since, retry_at } = webhook;
  if (state === 'off') {
    const reason =
      off_reason === 'gone'
        ? 'its receiver answered 410 (Gone)'
        : 'its receiver has taken no message for 5 days';
    return html`<p class="warning">This webhook is off, because ${reason}. Repair the receiver, then continue.</p>`;
  }
  if (state === 'new') return untestedOf(webhook);
  if (state === 'paused') return html`<p>Paused.</p>`;
  if (!failing_since) return html`<p>On.</p>`;
  return html`<p class="warning">On, but its receiver has failed since ${minuteOf(failing_since)}.
    ${retry_at && html`The next attempt is at ${minuteOf(retry_at)}.`}</p>`;
}

/** The state of a webhook whose address no test has reached yet. */
function untestedOf({ attempts, test_due }: Webhook): Html {
  const last = attempts.findLast(({ type }) => type === 'webhook.test');
  if (!last?.cause) return html`<p>Waits for a successful test of its receiver.</p>`;
  const next = test_due
    ? html`The next test is at ${minuteOf(test_due)}.`
    : 'Repair the receiver, then send another test.';
  return html`<p class="warning">The test of its receiver failed: ${outcomeOf(last)}. ${next}</p>`;
}
