import { type LogCursor, markOf } from '../changes/cursor.ts';
import { keysOf } from '../secrets.ts';
import { tryUpdate } from '../table/transact.ts';
import { newsUpdate } from '../user/news.ts';
import { Connection, type Delivery, longestRequest } from './connection.ts';
import { afterFailure, afterSuccess } from './decisions.ts';
import type { Message } from './message.ts';
import { signatureHeaders, webhookSecret } from './signature.ts';
import { type Attempt, signingIds, updateOf, type Webhook, withAttempts } from './webhook.ts';

/** Messages after which the cursor is stored, at the latest. A crash repeats at most so many. */
const mostUnsaved = 20;

/** A webhook in a run, and the connection to its receiver. Stores what became of messages. */
export class Receiver {
  #webhook: Webhook;
  readonly #connection: Connection;
  /** Attempts that are not stored yet, and the number of delivered messages among them. */
  #attempts: Attempt[] = [];
  #unsaved = 0;
  #isOthers = false;

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
    this.#connection = new Connection(webhook.address);
  }

  /** The webhook as it is stored. */
  get webhook(): Webhook {
    return this.#webhook;
  }

  /** True once something else has changed the webhook. This run then leaves it alone. */
  get isOthers(): boolean {
    return this.#isOthers;
  }

  /** The last attempts, the newest last. */
  get attempts(): Attempt[] {
    return withAttempts(this.#webhook, this.#attempts);
  }

  /**
   * Sends a message once. Returns undefined if `time` (ms) was over before the 15 seconds of a
   * receiver were.
   */
  async send({ id, type, body }: Message, time: number): Promise<Delivery | undefined> {
    const at = new Date();
    const timestamp = Math.floor(at.getTime() / 1000);
    const secrets = await secretsOf(this.#webhook);
    const headers = signatureHeaders({ id, timestamp, body, secrets });
    const patience = Math.max(1, Math.min(longestRequest, Math.floor(time)));
    const delivery = await this.#connection.send({ headers, body, patience });
    const { status = null, milliseconds, cause } = delivery;
    if (cause === 'timeout' && patience < longestRequest) return undefined;
    const attempt = { at: at.toISOString(), type, id, status, milliseconds };
    this.#attempts.push(cause ? { ...attempt, cause } : attempt);
    return delivery;
  }

  /** Marks the last attempt: its status was right, but not its answer. */
  markAnswer(): void {
    const last = this.#attempts.at(-1);
    if (last) last.cause = 'answer';
  }

  /** Stores that a message failed, and the cursor before it. */
  async noteFailure({ id, type }: Message, delivery: Delivery, cursor?: LogCursor): Promise<void> {
    const failure = afterFailure(this.#webhook, delivery, { stuck: { id, type }, now: Date.now() });
    await this.write({ cursor, ...failure });
    // Two runs may find the end. Only the run that stores it tells the owner.
    if (failure.state === 'off' && !this.#isOthers) {
      await tryUpdate(newsUpdate(this.#webhook.user_id, 'webhook'));
    }
  }

  /** Notes that a message was delivered. Stores the cursor now and then, and after a failure. */
  async noteSuccess(cursor?: LogCursor): Promise<void> {
    this.#unsaved++;
    const isDue = this.#unsaved >= mostUnsaved || this.#webhook.failures > 0;
    if (isDue) await this.write({ cursor, ...afterSuccess(this.#webhook, Date.now()) });
  }

  /** Stores the cursor, unless it is stored with everything that was sent before it. */
  async store(cursor: LogCursor | undefined): Promise<void> {
    const { cursor: stored } = this.#webhook;
    const isStored = stored && cursor && markOf(stored) === markOf(cursor);
    if (cursor && !(isStored && this.#unsaved === 0)) await this.write({ cursor });
  }

  /** Stores a change with the attempts so far, unless something else has written meanwhile. */
  async write(change: Partial<Webhook>): Promise<void> {
    const whole = { ...change, attempts: this.attempts };
    if (!(await tryUpdate(updateOf(this.#webhook, whole)))) {
      this.#isOthers = true;
      return;
    }
    this.#webhook = { ...this.#webhook, ...whole, version: this.#webhook.version + 1 };
    this.#attempts = [];
    this.#unsaved = 0;
  }

  /** Closes the connection until the next message. */
  close(): void {
    this.#connection.close();
  }
}

/** Returns the secrets that sign: of each id under each key. */
async function secretsOf(webhook: Webhook): Promise<string[]> {
  const keys = await keysOf('WEBHOOK_KEYS');
  return signingIds(webhook).flatMap((id) => keys.map((key) => webhookSecret(id, key)));
}
