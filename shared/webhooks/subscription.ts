import { findChanges } from '../changes/log.ts';
import type { Changed } from '../changes/window.ts';
import type { EntityType } from '../entity/entity-type.ts';
import { readRecord } from '../entity/record.ts';
import { ApiError } from '../errors.ts';
import { findOpenCase } from '../moderation/case-repository.ts';
import { findOpenName } from '../moderation/open-name.ts';
import { findPublicReviews } from '../review/read-reviews.ts';
import { keysOf } from '../secrets.ts';
import {
  afterSuccess,
  afterTest,
  claimOf,
  isAsked,
  isSending,
  isSlow,
  typeOfPerson,
  typeOfReview,
  wants,
} from './decisions.ts';
import type { LogReader } from './log-reader.ts';
import { LogWalk } from './log-walk.ts';
import {
  caseMessage,
  changeIn,
  entityMessage,
  isChallenge,
  type Message,
  nameMessage,
  personMessage,
  type Reported,
  restartMessage,
  reviewMessage,
  subjectTypeOf,
  testMessage,
} from './message.ts';
import type { PersonMessage, ReviewMessage } from './presented.ts';
import { Receiver } from './receiver.ts';
import type { ReplayPace } from './replay-pace.ts';
import { challengeOf } from './signature.ts';
import type { Claim, Turn } from './turns.ts';
import type { Webhook } from './webhook.ts';

/** In milliseconds: reviews are read for the messages that are likely to be sent within it. */
const readAhead = 250;

/** Limits of a run: for the start of requests, and for its end. */
export interface RunTime {
  /** Returns true if no request may begin any more. Slow receivers need more time for one. */
  isOver(isSlow: boolean): boolean;
  /** Returns the milliseconds until no request may be under way. */
  left(): number;
  replayPace: ReplayPace;
}

/** The end of a turn: nothing was left to send, others wait, or the run was over. */
type TurnResult = 'done' | 'waits' | 'late';

/** A webhook in a run. Decides what its receiver is sent, and knows how far it is in the log. */
export class Subscription {
  readonly #receiver: Receiver;
  readonly #walk: LogWalk;
  readonly #log: LogReader;
  readonly #time: RunTime;
  #hadTurn = false;
  /** True once this turn has sent or passed something. */
  #hasMoved = false;

  constructor(webhook: Webhook, { log, time }: { log: LogReader; time: RunTime }) {
    this.#receiver = new Receiver(webhook);
    this.#walk = new LogWalk(log, webhook.cursor, (change) => wants(webhook, change));
    this.#log = log;
    this.#time = time;
  }

  get id(): string {
    return this.#receiver.webhook.id;
  }

  /** True once it had a turn in this run. */
  get hadTurn(): boolean {
    return this.#hadTurn;
  }

  /** The reasons by which it is given a turn now. */
  get claim(): Claim {
    const { webhook, attempts } = this.#receiver;
    return claimOf({ ...webhook, attempts, cursor: this.#walk.cursor }, Date.now());
  }

  /** The id of the account that owns the webhook. */
  get owner(): string {
    return this.#receiver.webhook.user_id;
  }

  /** Sends messages until none is left, one fails, the run is over, or others wait. */
  async take(turn: Turn): Promise<TurnResult> {
    if (this.#isLate()) return this.#stop();
    this.#hadTurn = true;
    this.#hasMoved = false;
    try {
      if (isAsked(this.#receiver.webhook, Date.now())) return await this.#sendAsked();
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

  /** Returns true if no request to this receiver may begin any more. */
  #isLate(): boolean {
    return this.#time.isOver(isSlow(this.#receiver.attempts));
  }

  #isSending(): boolean {
    return !this.#receiver.isOthers && isSending(this.#receiver.webhook, Date.now());
  }

  async #stop(): Promise<TurnResult> {
    await this.#receiver.store(this.#walk.cursor);
    return 'late';
  }

  /** Sends a message that the owner has asked for, or a test. The log then has another turn. */
  async #sendAsked(): Promise<TurnResult> {
    const { resend } = this.#receiver.webhook;
    const isSent = resend ? await this.#sendAgain(resend) : await this.#sendTest();
    if (!isSent) return 'late';
    if (this.#receiver.isOthers) return 'done';
    const isLeft = isAsked(this.#receiver.webhook, Date.now()) || this.#isSending();
    return isLeft ? 'waits' : 'done';
  }

  /** Returns false if the time of the run was over before the receiver's. */
  async #sendAgain(resend: NonNullable<Webhook['resend']>): Promise<boolean> {
    const message = await messageAgain(this.#receiver.webhook, resend);
    if (message && !(await this.#receiver.send(message, this.#time.left()))) return false;
    await this.#receiver.write({ resend: undefined });
    return true;
  }

  /** Returns false if the time of the run was over before the receiver's. */
  async #sendTest(): Promise<boolean> {
    const { webhook } = this.#receiver;
    const [key] = await keysOf('WEBHOOK_KEYS');
    const challenge = challengeOf(webhook, key);
    const message = testMessage(webhook, challenge);
    // A new webhook is sent whatever is logged from now on.
    const { end } = this.#log;
    const delivery = await this.#receiver.send(message, this.#time.left());
    if (!delivery) return false;
    const isRight = isChallenge(delivery.answer ?? '', challenge);
    if (delivery.outcome === 'delivered' && !isRight) this.#receiver.markAnswer();
    const hasSucceeded = delivery.outcome === 'delivered' && isRight;
    await this.#receiver.write(afterTest(webhook, hasSucceeded, { end, now: Date.now() }));
    this.#walk.goTo(this.#receiver.webhook.cursor);
    return true;
  }

  /** Sends what comes before changes. Returns false if the receiver has failed. */
  async #begin(): Promise<boolean> {
    if (!this.#walk.cursor) return this.#restart();
    return this.#receiver.webhook.restarted_at === undefined || this.#sendRestart();
  }

  /** Goes on at the end of the log, because the cursor is lost. */
  async #restart(): Promise<boolean> {
    const { end } = this.#log;
    this.#walk.goTo(end);
    const now = new Date().toISOString();
    await this.#receiver.write({ cursor: end, restarted_at: now, since: now });
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
      if (this.#isLate()) return this.#stop();
      if (this.#hasMoved && turn.isOver()) return 'waits';
      if (this.claim.kind === 'replay') await this.#time.replayPace();
      const message = await this.#messageAbout(change);
      const outcome = message && (await this.#deliver(message));
      if (outcome === 'interrupted') return this.#stop();
      if (outcome === 'failed') return 'done';
      this.#walk.pass();
      this.#hasMoved = true;
      if (message) await this.#receiver.noteSuccess(this.#walk.cursor);
      if (this.#receiver.isOthers) return 'done';
    }
  }

  async #messageAbout(change: Changed): Promise<Message | undefined> {
    const { kind, client_id } = change.newest;
    if (kind === 'named') return messageAboutName(change);
    if (kind === 'opened') return messageAboutCase(this.#receiver.webhook, change);
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
    this.#hasMoved = true;
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

/**
 * Makes the message about a case as it is now. Undefined if the case is closed by now, if the owner
 * is no moderator, or wants another entity or author: only the review knows both.
 */
async function messageAboutCase(
  { types, entity_id, author_id }: Webhook,
  change: Reported,
): Promise<Message | undefined> {
  if (!types.includes('case.opened')) return undefined;
  const { id, entity_type, user_id } = change.newest;
  if (entity_type !== undefined) {
    const entity = { entity_id: id, entity_type: entity_type as EntityType };
    const named = await findOpenName(entity, user_id);
    const isOfEntity = entity_id === undefined || entity_id === id;
    const isOfAuthor = author_id === undefined || author_id === named?.user_id;
    return named && isOfEntity && isOfAuthor ? nameMessage(change, named) : undefined;
  }
  const opened = await findOpenCase(id);
  const isOfEntity = entity_id === undefined || entity_id === opened?.review.entity_id;
  const isOfAuthor = author_id === undefined || author_id === opened?.review.user_id;
  return opened && isOfEntity && isOfAuthor ? caseMessage(change, opened) : undefined;
}

/** Makes a message once more, from what was logged. Undefined if that has expired. */
async function messageAgain(webhook: Webhook, { id, type }: { id: string; type: string }) {
  const subject = changeIn(id);
  if (!subject) return undefined;
  const { about, at, entity_type } = subject;
  const changes = await findChanges(subject.id, at);
  const newest = changes.findLast((each) => {
    const isOfType = entity_type === undefined || each.entity_type === entity_type;
    return subjectTypeOf(each) === about && isOfType;
  });
  if (!newest) return undefined;
  if (newest.kind === 'named') return messageAboutName({ newest, at });
  if (newest.kind === 'opened') return messageAboutCase(webhook, { newest, at });
  if (newest.client_id !== undefined) {
    return personMessage(type as PersonMessage['type'], { newest, at });
  }
  const [authored] = await findPublicReviews([subject.id]);
  return reviewMessage(type as ReviewMessage['type'], { newest, at }, authored);
}
