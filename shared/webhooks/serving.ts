import type { LogCursor } from '../changes/cursor.ts';
import type { Entry } from '../table/item.ts';
import { isDue } from './decisions.ts';
import type { Lease } from './lease.ts';
import { LogReader } from './log-reader.ts';
import { withActiveOwner } from './owners.ts';
import { newReplayPace } from './replay-pace.ts';
import { type RunTime, Subscription } from './subscription.ts';
import { type Turn, Turns } from './turns.ts';
import { webhookIdIn } from './webhook.ts';
import { listWebhooks } from './webhook-repository.ts';

// The part of a run that has the lease. It gives turns to webhooks that are due.

/**
 * In milliseconds since the begin of a run. A slow receiver may take 15 s, so the last request to
 * one begins earlier. What is still under way at the end is broken off and counts as not sent.
 */
const limits = { slow: 40_000, quick: 52_000, end: 56_000 };

/** A look at what there is to do. */
export interface Look {
  /** Epoch ms. */
  now: number;
  /** The end of the log. */
  end: LogCursor;
  /** Entries of the webhooks that are due. */
  due: readonly Entry[];
}

/** The result of a run, and the rest that it has left. */
export interface Served {
  /** Errors of webhooks, which did not stop the others. */
  failures: unknown[];
  /** True if the time was over before everything was sent. */
  hasMore: boolean;
  /** Owners that the service gave no turn, and since when (epoch ms) a change of theirs waits. */
  late: { owner: string; since: number }[];
  /** The time (epoch ms) of the last look. */
  lookedAt: number;
}

/**
 * Serves the webhooks that are due. While some are under way it looks again, every so many
 * milliseconds, for those that are due by then. So nobody waits for the slowest receiver.
 */
export async function serveDue(
  first: Look,
  lookAgain: () => Promise<Look>,
  { lease, lookEvery }: { lease: Lease; lookEvery: number },
): Promise<Served> {
  const time = timeOf(lease);
  const log = new LogReader(first.end);
  const failures: unknown[] = [];
  /** Ids of webhooks that have a turn, wait for one, or have none any more in this run. */
  const admitted = new Set<string>();
  /** Ids of webhooks that had nothing left. The next look may admit them again. */
  const done = new Set<string>();
  const served = new Set<string>();
  const late = new Set<Subscription>();

  async function take(subscription: Subscription, turn: Turn): Promise<boolean> {
    try {
      const result = await subscription.take(turn);
      if (subscription.hadTurn) served.add(subscription.claim.owner);
      if (result === 'late') late.add(subscription);
      if (result === 'done') done.add(subscription.id);
      return result === 'waits';
    } catch (error) {
      failures.push(error);
      return false;
    }
  }
  const turns = new Turns<Subscription>(({ claim }) => claim, take);

  async function admit({ now, end, due }: Look, consistent: boolean): Promise<void> {
    log.moveTo(end);
    const ids = new Set(due.map(webhookIdIn).filter((id) => !admitted.has(id)));
    if (ids.size === 0) return;
    // Items of one partition cost less together than each by its key.
    const listed = await listWebhooks(undefined, { consistent });
    // The index may lag behind the items.
    const webhooks = listed.filter((each) => ids.has(each.id) && isDue(each, end, now));
    const active = await withActiveOwner(webhooks);
    for (const { id } of webhooks) admitted.add(id);
    turns.add(active.map((webhook) => new Subscription(webhook, { log, time })));
  }

  await admit(first, false);
  let lookedAt = first.now;
  while (!(await turns.areOver(lookEvery))) {
    if (time.isOver(false)) continue;
    // Before the look, which may not see yet what they have stored since.
    for (const id of done) admitted.delete(id);
    done.clear();
    try {
      const look = await lookAgain();
      await admit(look, true);
      lookedAt = look.now;
    } catch (error) {
      failures.push(error);
    }
  }
  const waiting = [...late].filter(
    ({ claim }) => claim.kind !== 'replay' && !served.has(claim.owner),
  );
  return { failures, hasMore: late.size > 0, late: await waitsOf(waiting, lookedAt), lookedAt };
}

function timeOf(lease: Lease): RunTime {
  const begin = performance.now();
  return {
    isOver: (isSlow) =>
      lease.isLost() || performance.now() - begin > (isSlow ? limits.slow : limits.quick),
    left: () => begin + limits.end - performance.now(),
    replayPace: newReplayPace(),
  };
}

function waitsOf(waiting: readonly Subscription[], now: number): Promise<Served['late']> {
  return Promise.all(
    waiting.map(async (subscription) => {
      const since = (await subscription.waitingSince()) ?? now;
      return { owner: subscription.claim.owner, since };
    }),
  );
}
