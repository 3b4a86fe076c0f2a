import type { ChangeKind } from '../changes/log.ts';
import type { LanePlaces } from '../changes/window.ts';
import { keysOf } from '../secrets.ts';
import { tryTransact } from '../table/transact.ts';
import { type Message, restartMessage, testMessage } from './message.ts';
import { type Delivery, sendRequest } from './send.ts';
import { signatureHeaders, webhookSecret } from './signature.ts';
import {
  hasGivenUp,
  markOf,
  noFailures,
  pauseAfter,
  signingIds,
  typeOf,
  updateOf,
  type Webhook,
} from './webhook.ts';

/** Messages after which the place is stored, at the latest. A crash repeats at most so many. */
const mostUnsaved = 20;

/** A webhook in a run: sends it messages, one at a time, and stores what became of them. */
export class Receiver {
  #webhook: Webhook;
  /** Successes that are not stored yet, and the last of them. */
  #unsaved = 0;
  #last: Webhook['last'];

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
  }

  get webhook(): Webhook {
    return this.#webhook;
  }

  takes(kind: ChangeKind): boolean {
    return this.#webhook.types.includes(typeOf(kind));
  }

  /**
   * Sends a message that stands between two places of the log. Returns true to go on after it, and
   * false if the receiver failed, or something else has changed the webhook.
   */
  async take(
    message: Message,
    { before, after }: { before: LanePlaces; after: LanePlaces },
  ): Promise<boolean> {
    const { delivery, last } = await this.#send(message);
    if (delivery.outcome !== 'delivered') {
      await this.#fail(message, delivery, { position: before, last });
      return false;
    }
    this.#unsaved++;
    this.#last = last;
    const isDue = this.#unsaved >= mostUnsaved || this.#webhook.failures > 0;
    return isDue ? this.moveTo(after) : true;
  }

  /** Stores the place. Returns false if something else has changed the webhook. */
  async moveTo(position: LanePlaces, change: Partial<Webhook> = {}): Promise<boolean> {
    const { failures, last } = this.#webhook;
    const isRecovered = this.#unsaved > 0 && failures > 0;
    // What was missed meanwhile is not late.
    const recovery = { ...noFailures, since: new Date().toISOString() };
    return this.#write({
      position,
      last: this.#last ?? last,
      ...(isRecovered && recovery),
      ...change,
    });
  }

  /** Returns true if this place is stored already, with everything that was sent before it. */
  isAt(position: LanePlaces): boolean {
    const { position: stored } = this.#webhook;
    return this.#unsaved === 0 && stored !== undefined && markOf(stored) === markOf(position);
  }

  /**
   * Sends the test that is due. A new webhook begins if the receiver answers with the challenge:
   * at these places of the log, unless it has a place already.
   */
  async test(lanes: number[]): Promise<boolean> {
    const { state, position = { lanes } } = this.#webhook;
    const { challenge, ...message } = testMessage(this.#webhook);
    const { delivery, last } = await this.#send(message);
    const has_succeeded = delivery.outcome === 'delivered' && delivery.answer?.trim() === challenge;
    const result = { test_due: undefined, last: { ...last, has_succeeded } };
    if (state !== 'new' || !has_succeeded) return this.#write(result);
    return this.#write({ ...result, state: 'on', position, since: last.at, ...noFailures });
  }

  /** Continues at these places of the log, because the own place is lost. */
  async restart(lanes: number[]): Promise<boolean> {
    const restarted_at = new Date().toISOString();
    return this.moveTo({ lanes }, { restarted_at, since: restarted_at });
  }

  /** Tells the receiver that the place was lost. */
  async tellRestart(position: LanePlaces): Promise<boolean> {
    const message = restartMessage(this.#webhook);
    const isTold = await this.take(message, { before: position, after: position });
    return isTold && this.moveTo(position, { restarted_at: undefined });
  }

  async #send({ id, type, body }: Message) {
    const at = new Date();
    const timestamp = Math.floor(at.getTime() / 1000);
    const secrets = await secretsOf(this.#webhook);
    const headers = signatureHeaders({ id, timestamp, body, secrets });
    const delivery = await sendRequest({ address: this.#webhook.address, headers, body });
    const last = {
      at: at.toISOString(),
      type,
      status: delivery.status ?? null,
      milliseconds: delivery.milliseconds,
      has_succeeded: delivery.outcome === 'delivered',
    };
    return { delivery, last };
  }

  async #fail(
    { id, type }: Message,
    { outcome, retryAfter }: Delivery,
    { position, last }: { position: LanePlaces; last: NonNullable<Webhook['last']> },
  ): Promise<void> {
    const isFirst = this.#unsaved > 0 || this.#webhook.failures === 0;
    const failures = isFirst ? 1 : this.#webhook.failures + 1;
    const failing_since = (isFirst ? undefined : this.#webhook.failing_since) ?? last.at;
    const failed = { position, last, failures, failing_since, stuck: { id, type } };
    if (outcome === 'gone' || hasGivenUp(failing_since)) {
      const off_reason = outcome === 'gone' ? 'gone' : 'failing';
      await this.#write({ ...failed, state: 'off', off_reason, retry_at: undefined });
      return;
    }
    const retry_at = new Date(Date.now() + pauseAfter(failures, retryAfter)).toISOString();
    await this.#write({ ...failed, retry_at });
  }

  async #write(change: Partial<Webhook>): Promise<boolean> {
    const isWritten = await tryTransact([{ Update: updateOf(this.#webhook, change) }]);
    if (!isWritten) return false;
    this.#webhook = { ...this.#webhook, ...change, version: this.#webhook.version + 1 };
    this.#unsaved = 0;
    return true;
  }
}

/** Returns the secrets that sign: of each id under each key. */
async function secretsOf(webhook: Webhook): Promise<string[]> {
  const keys = await keysOf('WEBHOOK_KEYS');
  return signingIds(webhook).flatMap((id) => keys.map((key) => webhookSecret(id, key)));
}
