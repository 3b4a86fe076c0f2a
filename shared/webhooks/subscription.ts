import { findChanges } from '../changes/log.ts';
import type { Changed } from '../changes/window.ts';
import type { EntityType } from '../entity/entity-type.ts';
import { readRecord } from '../entity/record.ts';
import { ApiError } from '../errors.ts';
import { findPublicReviews } from '../review/review-repository.ts';
import { keysOf } from '../secrets.ts';
import {
  afterSuccess,
  afterTest,
  isSending,
  typeOfPerson,
  typeOfReview,
  wants,
} from './decisions.ts';
import type { LogReader } from './log-reader.ts';
import { LogWalk } from './log-walk.ts';
import {
  changeIn,
  entityMessage,
  isChallenge,
  type Message,
  personMessage,
  type Reported,
  restartMessage,
  reviewMessage,
  testMessage,
} from './message.ts';
import type { PersonMessage, ReviewMessage } from './presented.ts';
import { Receiver } from './receiver.ts';
import { challengeOf } from './signature.ts';
import type { Turn } from './turns.ts';
import type { Webhook } from './webhook.ts';

/** In milliseconds: reviews are read for the messages that are likely to be sent within it. */
const readAhead = 250;

/** When a run may begin requests, and when it ends. */
export interface RunTime {
  /** Returns true if no request may begin any more. Slow receivers need more time for one. */
  isOver(isSlow: boolean): boolean;
  /** Returns the milliseconds until no request may be under way. */
  left(): number;
}

/** The end of a turn: nothing was left to send, others wait, or the run was over. */
export type TurnResult = 'done' | 'waits' | 'late';

/** A webhook in a run. Decides what its receiver is sent, and knows how far it is in the log. */
export class Subscription {
  readonly #receiver: Receiver;
  readonly #walk: LogWalk;
  readonly #log: LogReader;
  readonly #time: RunTime;
  #hadTurn = false;

  constructor(webhook: Webhook, { log, time }: { log: LogReader; time: RunTime }) {
    this.#receiver = new Receiver(webhook);
    this.#walk = new LogWalk(log, webhook.cursor, (change) => wants(webhook, change));
    this.#log = log;
    this.#time = time;
  }

  /** True once it had a turn in this run. */
  get hadTurn(): boolean {
    return this.#hadTurn;
  }

  get isSlow(): boolean {
    return this.#receiver.isSlow;
  }

  /** The id of the account that owns the webhook. */
  get owner(): string {
    return this.#receiver.webhook.user_id;
  }

  /** Sends messages until none is left, one fails, the run is over, or others wait. */
  async take(turn: Turn): Promise<TurnResult> {
    if (this.#time.isOver(this.isSlow)) return this.#stop();
    const isFirst = !this.#hadTurn;
    this.#hadTurn = true;
    try {
      if (isFirst) await this.#sendAsked();
      if (!this.#isSending()) return 'done';
      return (await this.#begin()) ? await this.#follow(turn) : 'done';
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 410) throw error;
      await this.#restart();
      return 'done';
    } finally {
      this.#receiver.close();
    }
  }

  /** Returns the time (epoch ms) since when its next change waits. Undefined if none does. */
  async waitingSince(): Promise<number | undefined> {
    if (!this.#isSending()) return undefined;
    const { since, retry_at = since } = this.#receiver.webhook;
    const change = await this.#walk.next();
    // Until then it waited for the receiver.
    return change && Math.max(change.at, Date.parse(since), Date.parse(retry_at));
  }

  #isSending(): boolean {
    return !this.#receiver.isOthers && isSending(this.#receiver.webhook, Date.now());
  }

  async #stop(): Promise<TurnResult> {
    await this.#receiver.store(this.#walk.cursor);
    return 'late';
  }

  /** Sends a test and a message that the owner has asked for. */
  async #sendAsked(): Promise<void> {
    const { webhook } = this.#receiver;
    if (webhook.test_due && webhook.test_due <= new Date().toISOString()) await this.#sendTest();
    if (!webhook.resend || this.#receiver.isOthers) return;
    const message = await messageAgain(webhook.resend);
    if (message && !(await this.#receiver.send(message, this.#time.left()))) return;
    await this.#receiver.write({ resend: undefined });
  }

  async #sendTest(): Promise<void> {
    const { webhook } = this.#receiver;
    const [key] = await keysOf('WEBHOOK_KEYS');
    const challenge = challengeOf(webhook, key);
    const message = testMessage(webhook, challenge);
    const delivery = await this.#receiver.send(message, this.#time.left());
    if (!delivery) return;
    const isRight = isChallenge(delivery.answer ?? '', challenge);
    if (delivery.outcome === 'delivered' && !isRight) this.#receiver.markAnswer();
    const hasSucceeded = delivery.outcome === 'delivered' && isRight;
    const { end } = this.#log;
    await this.#receiver.write(afterTest(webhook, hasSucceeded, { end, now: Date.now() }));
    this.#walk.goTo(this.#receiver.webhook.cursor);
  }

  /** Sends what comes before changes. Returns false if the receiver has failed. */
  async #begin(): Promise<boolean> {
    if (!this.#walk.cursor) return this.#restart();
    return this.#receiver.webhook.restarted_at === undefined || this.#sendRestart();
  }

  /** Goes on at the end of the log, because the cursor is lost. */
  async #restart(): Promise<boolean> {
    this.#walk.goTo(this.#log.end);
    const now = new Date().toISOString();
    await this.#receiver.write({ cursor: this.#log.end, restarted_at: now, since: now });
    return !this.#receiver.isOthers && this.#sendRestart();
  }

  async #sendRestart(): Promise<boolean> {
    const { webhook } = this.#receiver;
    if ((await this.#deliver(restartMessage(webhook))) !== 'delivered') return false;
    await this.#receiver.write({ restarted_at: undefined, ...afterSuccess(webhook, Date.now()) });
    return !this.#receiver.isOthers;
  }

  async #follow(turn: Turn): Promise<TurnResult> {
    for (;;) {
      const change = await this.#walk.next();
      if (!change) {
        await this.#receiver.store(this.#walk.cursor);
        return 'done';
      }
      if (this.#time.isOver(this.isSlow)) return this.#stop();
      if (turn.isOver()) return 'waits';
      const message = await this.#messageAbout(change);
      const outcome = message && (await this.#deliver(message));
      if (outcome === 'interrupted') return this.#stop();
      if (outcome === 'failed') return 'done';
      this.#walk.pass();
      if (message) await this.#receiver.noteSuccess(this.#walk.cursor);
      if (this.#receiver.isOthers) return 'done';
    }
  }

  async #messageAbout(change: Changed): Promise<Message | undefined> {
    const { kind, client_id } = change.newest;
    if (kind === 'named') return messageAboutName(change);
    if (client_id !== undefined) {
      return personMessage(typeOfPerson(this.#receiver.webhook, change.kinds), change);
    }
    const [{ milliseconds } = { milliseconds: 0 }] = this.#receiver.attempts.slice(-1);
    const likely = Math.max(1, Math.floor(readAhead / Math.max(1, milliseconds)));
    const authored = await this.#log.reviewOf(this.#walk.upcoming(likely));
    const type = typeOfReview(this.#receiver.webhook, change.kinds, authored !== undefined);
    return type && reviewMessage(type as ReviewMessage['type'], change, authored);
  }

  /** Sends a message of the log, and stores a failure. */
  async #deliver(message: Message): Promise<'delivered' | 'failed' | 'interrupted'> {
    const delivery = await this.#receiver.send(message, this.#time.left());
    if (!delivery) return 'interrupted';
    if (delivery.outcome === 'delivered') return 'delivered';
    await this.#receiver.noteFailure(message, delivery, this.#walk.cursor);
    return 'failed';
  }
}

/** Makes the message about the name that an entity has now. */
async function messageAboutName(change: Reported): Promise<Message | undefined> {
  const { id, entity_type } = change.newest;
  const record = await readRecord({ entity_id: id, entity_type: entity_type as EntityType });
  return record && entityMessage(change, record);
}

/** Makes a message once more, from what was logged. Undefined if that has expired. */
async function messageAgain({ id, type }: { id: string; type: string }) {
  const { id: subject = '', at = 0 } = changeIn(id) ?? {};
  const newest = (await findChanges(subject, at)).at(-1);
  if (!newest) return undefined;
  if (newest.kind === 'named') return messageAboutName({ newest, at });
  if (newest.client_id !== undefined) {
    return personMessage(type as PersonMessage['type'], { newest, at });
  }
  const [authored] = await findPublicReviews([subject]);
  return reviewMessage(type as ReviewMessage['type'], { newest, at }, authored);
}
