import { setTimeout as sleep } from 'node:timers/promises';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { readHeads } from '../changes/log.ts';
import { type LanePlaces, type LogWindow, readWindow } from '../changes/window.ts';
import { ApiError } from '../errors.ts';
import { table, tableName } from '../table/client.ts';
import { webhookRunKey } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';
import { changeMessage, type Message } from './message.ts';
import { Receiver } from './receiver.ts';
import { listedIn, markOf, type Webhook } from './webhook.ts';
import { listWebhooks } from './webhook-repository.ts';

// The run of every minute that sends webhooks what is new in the change log.

/**
 * In milliseconds: no request begins later. The last one takes 15 s, so a run ends before the next
 * one begins.
 */
const longestRun = 40_000;

/** In milliseconds. A receiver that takes longer no longer shares reads with the others. */
const patience = 1_000;

/** Reviews in a window of the log. */
const windowSize = 100;

/** In milliseconds. A larger lag is logged, which an alarm reads. */
const longestLag = 300_000;

/** Webhooks that wait for another attempt. Fewer may well fail for reasons of their own. */
const fewestFailing = 3;

/** Sends all webhooks what is due. Two runs at the same time repeat messages, and lose none. */
export async function sendWebhooks(): Promise<void> {
  const now = new Date();
  const due = `${now.toISOString()}#~`;
  const [entries, heads] = await Promise.all([
    collect(queryIndex('all-by-date', 'WEBHOOK', { pageSize: 1000 })),
    readHeads(),
  ]);
  const isWaiting = ({ date = '' }: { date?: string }) => date > due;
  const mark = markOf({ lanes: heads });
  const run = new Run(heads, now);
  if (entries.some((entry) => !isWaiting(entry) && entry.kind !== mark)) {
    // Items of one partition cost less together than each by its key.
    const webhooks = await listWebhooks(undefined, { consistent: false });
    const isDue = (webhook: Webhook) => {
      const { date, kind } = listedIn(webhook);
      return date !== undefined && date <= due && kind !== mark;
    };
    await run.serve(webhooks.filter(isDue));
  }
  await recordSending(run.sentUntil, {
    active: entries.length,
    failing: entries.filter(isWaiting).length,
  });
}

/** One run: what it has read of the log, and when it has to end. */
class Run {
  readonly #heads: number[];
  readonly #now: Date;
  readonly #end = performance.now() + longestRun;
  /** Times of changes (epoch ms) that wait, although their receivers answer. */
  readonly #late: number[] = [];
  readonly #slow = new Set<Receiver>();
  /** Work under way. Slow receivers continue beside their group. */
  readonly #work: Promise<void>[] = [];
  readonly #failures: unknown[] = [];

  constructor(heads: number[], now: Date) {
    this.#heads = heads;
    this.#now = now;
  }

  /** Epoch ms. What was logged before is sent, unless its receiver fails or is slow. */
  get sentUntil(): number {
    return Math.min(this.#now.getTime(), ...this.#late);
  }

  /** Serves all webhooks at once, so that none waits for another. Throws the first error. */
  async serve(webhooks: readonly Webhook[]): Promise<void> {
    const isReady = ({ test_due, restarted_at, position, failures }: Webhook) =>
      !test_due && !restarted_at && position && failures === 0;
    const alone = webhooks.filter((webhook) => !isReady(webhook));
    const together = Map.groupBy(webhooks.filter(isReady), ({ position }) =>
      JSON.stringify(position),
    );
    for (const webhook of alone) this.#begin(this.#prepare(new Receiver(webhook)));
    for (const some of together.values()) {
      this.#begin(this.#follow(new Set(some.map((webhook) => new Receiver(webhook)))));
    }
    while (this.#work.length > 0) await Promise.all(this.#work.splice(0));
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  #begin(work: Promise<void>): void {
    this.#work.push(work.catch((error: unknown) => void this.#failures.push(error)));
  }

  /** Sends what comes before changes, and then changes. */
  async #prepare(receiver: Receiver): Promise<void> {
    if (receiver.webhook.test_due && !(await receiver.test(this.#heads))) return;
    const { state, retry_at = '', position, restarted_at } = receiver.webhook;
    if (state !== 'on' || retry_at > this.#now.toISOString()) return;
    if (!position) await this.#restart(receiver);
    else if (!restarted_at || (await receiver.tellRestart(position))) {
      await this.#follow(new Set([receiver]));
    }
  }

  async #restart(receiver: Receiver): Promise<void> {
    const lanes = this.#heads;
    if (await receiver.restart(lanes)) await receiver.tellRestart({ lanes });
  }

  /** Sends changes to receivers that stand at the same place, until the end of the log. */
  async #follow(group: Set<Receiver>, from?: LanePlaces): Promise<void> {
    const [first] = group;
    let position = from ?? first?.webhook.position;
    while (position && group.size > 0) {
      try {
        const start = { time: Date.now(), ...position };
        const window = await readWindow(start, this.#heads, windowSize);
        const isSent = await this.#sendWindow(group, window);
        position = isSent && window.hasMore ? window.end : undefined;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 410) throw error;
        await Promise.all([...group].map((receiver) => this.#restart(receiver)));
        return;
      }
    }
  }

  /** Returns false if the run is over. Receivers that fail or are slow leave the group. */
  async #sendWindow(group: Set<Receiver>, { changed, end }: LogWindow): Promise<boolean> {
    for (const [i, each] of changed.entries()) {
      const takers = [...group].filter((receiver) => receiver.takes(each.change.kind));
      if (takers.length === 0) continue;
      if (performance.now() > this.#end) {
        this.#noteLate(group, each.at);
        await moveAll(group, each.before);
        return false;
      }
      const message = await changeMessage(each);
      if (!message) continue;
      const after = changed[i + 1]?.before ?? end;
      await this.#sendTo(group, takers, message, { before: each.before, after });
    }
    await moveAll(group, end);
    return true;
  }

  /** Sends a message to all takers. Those that need longer continue alone. */
  async #sendTo(
    group: Set<Receiver>,
    takers: readonly Receiver[],
    message: Message,
    place: { before: LanePlaces; after: LanePlaces },
  ): Promise<void> {
    const pending = new Map(
      takers.map((receiver) => {
        const taking = receiver.take(message, place).then((isTaken) => {
          pending.delete(receiver);
          if (!isTaken) group.delete(receiver);
          return isTaken;
        });
        return [receiver, taking] as const;
      }),
    );
    const all = Promise.all(pending.values());
    await Promise.race([all, sleep(patience, undefined, { ref: false })]);
    for (const [receiver, taking] of pending) {
      group.delete(receiver);
      this.#slow.add(receiver);
      const next = new Set([receiver]);
      const following = taking.then(async (isTaken) => {
        if (isTaken) await this.#follow(next, place.after);
      });
      this.#begin(following);
    }
  }

  #noteLate(group: Set<Receiver>, at: number): void {
    for (const receiver of group) {
      const isOverdue = at >= Date.parse(receiver.webhook.since);
      if (isOverdue && !this.#slow.has(receiver)) this.#late.push(at);
    }
  }
}

async function moveAll(group: Set<Receiver>, position: LanePlaces): Promise<void> {
  await Promise.all(
    [...group].map(async (receiver) => {
      if (!receiver.isAt(position) && !(await receiver.moveTo(position))) group.delete(receiver);
    }),
  );
}

/**
 * Records the time (epoch ms) up to which everything is sent, and whether most webhooks fail. Then
 * the reason is probably ours.
 */
export async function recordSending(
  sentUntil: number,
  { active, failing }: { active: number; failing: number } = { active: 0, failing: 0 },
): Promise<void> {
  const lag = Date.now() - sentUntil;
  if (lag > longestLag) {
    console.warn({ message: 'Webhooks are late', lag_seconds: Math.floor(lag / 1000) });
  }
  const isMost = failing >= fewestFailing && failing > active / 2;
  if (isMost) console.warn({ message: 'Most webhooks fail', failing, active });
  await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: webhookRunKey,
      UpdateExpression: 'SET #at = :at, #failing = :failing',
      ExpressionAttributeNames: { '#at': 'at', '#failing': 'failing' },
      ExpressionAttributeValues: {
        ':at': new Date(sentUntil).toISOString(),
        ':failing': isMost ? `${failing} of ${active}` : '',
      },
    }),
  );
}
