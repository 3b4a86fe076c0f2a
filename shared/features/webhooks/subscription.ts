import { keysOf } from '../../base/secrets.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import { webhookKey } from '../../core/keys.ts';
import { newsUpdate } from '../../core/user/news.ts';
import { type Changed, type LogCursor, markOf } from '../changes/public.ts';
import { messageAbout, messageAgain } from './compose.ts';
import { Connection, type Delivery } from './connection.ts';
import { afterFailure, afterTest, isAsked, isSending, isSlow, noFailures } from './decisions.ts';
import { isChallenge, type Message, restartMessage, testMessage } from './message.ts';
import { challengeOf, signatureHeaders, webhookSecret } from './signature.ts';
import { type Attempt, signingIds, updateOf, type Webhook, withAttempts } from './webhook.ts';
import { readAhead, windowSize } from './webhook-repository.ts';

/** In milliseconds. A task begins no request later. */
const longestTask = 1_000;

/** State that the webhooks of a run share. */
export interface Run {
  /** The end of the log when the run last looked. */
  end: LogCursor;
  /** ISO 8601. By then, no request of this run is under way. */
  leasedUntil: string;
  /** Returns true if no request may begin any more. Slow receivers need more time for one. */
  isOver(isSlow: boolean): boolean;
  /** True if the time was over before everything was sent. */
  hasMore: boolean;
}

/** Numbers of messages that a run has sent to the webhooks of an account. */
export interface Tally {
  delivered: number;
  failed: number;
  /** True once one of them had a task. */
  isServed: boolean;
}

/** A webhook in a run: how far it is in the log, and the connection to its receiver. */
export class Subscription {
  readonly #run: Run;
  readonly #tally: Tally;
  readonly #connection: Connection;
  /** The webhook as the end of this task stores it, and what differs from the table. */
  #webhook: Webhook;
  #changes: Partial<Webhook> = {};
  #isLeased = false;
  /** The rest of a window of the log, and the cursor after it. */
  #ahead: Changed[] = [];
  #windowEnd: LogCursor | undefined;
  /** The begin of this task, and the messages that were sent or passed in it. */
  #begin = 0;
  #messages = 0;

  constructor(webhook: Webhook, run: Run, tally: Tally) {
    this.#webhook = webhook;
    this.#run = run;
    this.#tally = tally;
    this.#connection = new Connection(webhook.address);
  }

  /** True if its owner waits for a test, or for a message again. */
  get isAsked(): boolean {
    return isAsked(this.#webhook, Date.now());
  }

  /**
   * Sends messages for a second, at most 20, and a slow receiver one. Then stores the cursor.
   * Returns true if something is left for another task of this run.
   */
  async take(): Promise<boolean> {
    this.#begin = performance.now();
    this.#messages = 0;
    let isLeft = false;
    try {
      const isLate = this.#isLate();
      this.#tally.isServed ||= !isLate;
      const hasMore = isLate || (await this.#send());
      this.#run.hasMore ||= hasMore && this.#isLate();
      isLeft = await this.#store(hasMore && !this.#isLate());
    } finally {
      if (!isLeft) this.#connection.close();
    }
    return isLeft;
  }

  /** Returns true if something is left. */
  async #send(): Promise<boolean> {
    if (this.isAsked) {
      if (!(await this.#lease())) return false;
      const { resend } = this.#webhook;
      await (resend ? this.#sendAgain(resend) : this.#sendTest());
      this.#messages++;
      if (this.isAsked) return true;
    }
    return isSending(this.#webhook, Date.now()) && this.#follow();
  }

  async #sendAgain(resend: NonNullable<Webhook['resend']>): Promise<void> {
    const message = await messageAgain(this.#webhook, resend);
    if (message) await this.#request(message);
    this.#note({ resend: undefined });
  }

  async #sendTest(): Promise<void> {
    const [key] = await keysOf('WEBHOOK_KEYS');
    const challenge = challengeOf(this.#webhook, key);
    // A new webhook is sent whatever is logged from now on.
    const { end } = this.#run;
    const { cause } = await this.#request(testMessage(this.#webhook, challenge), challenge);
    this.#note(afterTest(this.#webhook, cause === undefined, { end, now: Date.now() }));
  }

  /** Sends messages of the log. Returns true if something is left. */
  async #follow(): Promise<boolean> {
    for (;;) {
      const next = await this.#next();
      if (!next) return false;
      if (this.#isTaskOver()) return true;
      if (!(await this.#lease())) return false;
      const message =
        next === 'restart'
          ? restartMessage(this.#webhook)
          : await messageAbout(this.#webhook, next);
      if (message && !(await this.#deliver(message))) return false;
      this.#pass();
    }
  }

  /** Returns true if no request to this receiver may begin any more. */
  #isLate(): boolean {
    return this.#run.isOver(isSlow(this.#webhook.attempts));
  }

  #isTaskOver(): boolean {
    if (this.#isLate()) return true;
    if (this.#messages === 0) return false;
    const isLong = performance.now() - this.#begin > longestTask;
    return isLong || this.#messages >= windowSize || isSlow(this.#webhook.attempts);
  }

  /** Finds the next change, or that the cursor was lost. Undefined at the end of the log. */
  async #next(): Promise<Changed | 'restart' | undefined> {
    for (;;) {
      const { cursor, restarted_at } = this.#webhook;
      if (restarted_at !== undefined) return 'restart';
      const [change] = this.#ahead;
      if (change) return change;
      if (cursor && markOf(cursor) === markOf(this.#run.end)) return undefined;
      const window = await readAhead(this.#webhook, this.#run.end);
      if (!window) {
        this.#note({ cursor: this.#run.end, restarted_at: new Date().toISOString() });
        continue;
      }
      this.#ahead = window.changed;
      this.#windowEnd = window.end;
      this.#moveTo(window.changed[0]?.before ?? window.end);
      if (window.changed.length === 0 && !window.hasMore) return undefined;
    }
  }

  /** Goes to what comes after it. */
  #pass(): void {
    this.#messages++;
    if (this.#webhook.restarted_at !== undefined) {
      this.#note({ restarted_at: undefined });
      return;
    }
    this.#ahead.shift();
    this.#moveTo(this.#ahead[0]?.before ?? this.#windowEnd);
  }

  #moveTo(cursor: LogCursor | undefined): void {
    const before = this.#webhook.cursor;
    if (before && cursor && markOf(before) !== markOf(cursor)) this.#note({ cursor });
  }

  /** Sends a message of the log. Returns false if the receiver has failed. */
  async #deliver(message: Message): Promise<boolean> {
    const delivery = await this.#request(message);
    if (delivery.outcome === 'delivered') {
      if (this.#webhook.failures > 0) this.#note(noFailures);
      return true;
    }
    const stuck = { id: message.id, type: message.type };
    this.#note(afterFailure(this.#webhook, delivery, { stuck, now: Date.now() }));
    return false;
  }

  /** Sends a message once. With a challenge, another answer has failed. */
  async #request({ id, type, body }: Message, challenge?: string): Promise<Delivery> {
    const at = new Date();
    const timestamp = Math.floor(at.getTime() / 1000);
    const secrets = await secretsOf(this.#webhook);
    const headers = signatureHeaders({ id, timestamp, body, secrets });
    const delivery = await this.#connection.send({ headers, body });
    const { status = null, milliseconds, answer = '' } = delivery;
    const isWrong = challenge !== undefined && !isChallenge(answer, challenge);
    const cause = delivery.cause ?? (isWrong ? 'answer' : undefined);
    const attempt: Attempt = { at: at.toISOString(), type, id, status, milliseconds };
    if (cause) attempt.cause = cause;
    this.#note({ attempts: withAttempts(this.#webhook, [attempt]) });
    this.#tally[cause ? 'failed' : 'delivered']++;
    return { ...delivery, cause };
  }

  #note(change: Partial<Webhook>): void {
    this.#webhook = { ...this.#webhook, ...change };
    Object.assign(this.#changes, change);
  }

  /** Takes the lease until the run ends, unless another run has it or the webhook has changed. */
  async #lease(): Promise<boolean> {
    if (this.#isLeased) return true;
    const { id, version, client_id, slot } = this.#webhook;
    this.#isLeased = await tryUpdate({
      Key: webhookKey(client_id, slot),
      set: { leased_until: this.#run.leasedUntil },
      was: { id, version },
      where: [absentOr('leased_until', '<=', new Date().toISOString())],
    });
    if (!this.#isLeased) this.#changes = {};
    return this.#isLeased;
  }

  /**
   * Stores what has changed, and ends the lease unless something is left. After a crash, the lease
   * lasts until the run would have ended. Returns false if nothing is left, or something else has
   * changed the webhook meanwhile: this run then leaves it alone.
   */
  async #store(isLeft: boolean): Promise<boolean> {
    if (this.#isLeased && !isLeft) this.#note({ leased_until: undefined });
    const changes = this.#changes;
    if (Object.keys(changes).length === 0) return isLeft;
    const { id, version, client_id, slot, user_id } = this.#webhook;
    if (!(await tryUpdate(updateOf(this.#webhook, changes)))) {
      const Key = webhookKey(client_id, slot);
      const was = { id, leased_until: this.#run.leasedUntil };
      if (this.#isLeased) await tryUpdate({ Key, set: { leased_until: undefined }, was });
      return false;
    }
    this.#changes = {};
    this.#webhook = { ...this.#webhook, version: version + 1 };
    if (changes.state === 'off') await tryUpdate(newsUpdate(user_id, 'webhook'));
    return isLeft;
  }
}

/** Returns the secrets that sign: of each id under each key. */
async function secretsOf(webhook: Webhook): Promise<string[]> {
  const keys = await keysOf('WEBHOOK_KEYS');
  return signingIds(webhook).flatMap((id) => keys.map((key) => webhookSecret(id, key)));
}
