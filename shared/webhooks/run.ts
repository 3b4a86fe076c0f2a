import { type LogCursor, markOf } from '../changes/cursor.ts';
import { readLogEnd } from '../changes/log.ts';
import { webhookRunKey } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';
import { tryUpdate } from '../table/transact.ts';
import { isDue } from './decisions.ts';
import { fewestOwners, isMostFailing, type Owners, ownersAt } from './failing-owners.ts';
import { type Lease, takeLease } from './lease.ts';
import { LogReader } from './log-reader.ts';
import { withActiveOwner } from './owners.ts';
import { type RunTime, Subscription } from './subscription.ts';
import { takeTurns } from './turns.ts';
import { listWebhooks } from './webhook-repository.ts';

// The run of every minute that sends webhooks what is new in the change log.

/**
 * In milliseconds since the begin of a run. A slow receiver may take 15 s, so the last request to
 * one begins earlier. What is still under way at the end is broken off and counts as not sent.
 */
const limits = { slow: 40_000, quick: 52_000, end: 56_000 };

/** In milliseconds. A larger lag of several owners is logged, which an alarm reads. */
const longestLag = 300_000;

/** The result of a run. */
export interface RunResult {
  /** More can be sent: a server begins the next run at once. */
  hasMore: boolean;
  /** Until something is written, a look would find nothing: no webhook waits for a time. */
  isQuiet?: boolean;
}

/**
 * Sends all webhooks what is due. One run at a time: a second one does nothing. A `look` between
 * two minutes writes nothing unless there is news.
 */
export async function sendWebhooks({ isLook = false } = {}): Promise<RunResult> {
  const now = Date.now();
  const due = `${new Date(now).toISOString()}#~`;
  const [entries, end] = await Promise.all([
    collect(queryIndex('all-by-date', 'WEBHOOK', { pageSize: 1000 })),
    readLogEnd(),
  ]);
  const isWaiting = ({ date = '' }: { date?: string }) => date > due;
  const waiting = entries.filter(isWaiting).length;
  const mark = markOf(end);
  if (!entries.some((entry) => !isWaiting(entry) && entry.kind !== mark)) {
    if (!isLook) await recordSending(now, { owners: await readOwners(waiting, now) });
    return { hasMore: false, isQuiet: waiting === 0 };
  }
  const lease = await takeLease();
  if (!lease) return { hasMore: false };
  try {
    const { failures, hasMore, ...sending } = await serveAll(end, now, lease);
    await recordSending(sending.sentUntil, {
      owners: await readOwners(waiting, now),
      lateOwners: sending.lateOwners,
    });
    if (failures.length > 0) throw failures[0];
    return { hasMore };
  } finally {
    await lease.release();
  }
}

/** Reads the state of owners, unless too few webhooks wait for another attempt. */
async function readOwners(waiting: number, now: number): Promise<Owners> {
  if (waiting < fewestOwners) return { active: 0, failing: 0 };
  return ownersAt(await listWebhooks(undefined, { consistent: false }), now);
}

/** Serves all webhooks that are due, 50 at a time. Returns what has failed, after all others. */
async function serveAll(end: LogCursor, now: number, lease: Lease) {
  const begin = performance.now();
  const time: RunTime = {
    isOver: (isSlow) =>
      lease.isLost() || performance.now() - begin > (isSlow ? limits.slow : limits.quick),
    left: () => begin + limits.end - performance.now(),
  };
  const log = new LogReader(end);
  // Items of one partition cost less together than each by its key.
  const listed = await listWebhooks(undefined, { consistent: false });
  const webhooks = await withActiveOwner(listed.filter((webhook) => isDue(webhook, end, now)));
  const subscriptions = webhooks.map((webhook) => new Subscription(webhook, { log, time }));
  const failures: unknown[] = [];
  const late = new Set<Subscription>();
  await takeTurns(
    subscriptions,
    ({ isSlow }) => isSlow,
    async (subscription, turn) => {
      try {
        const result = await subscription.take(turn);
        if (result === 'late') late.add(subscription);
        return result === 'waits';
      } catch (error) {
        failures.push(error);
        return false;
      }
    },
  );
  return { failures, hasMore: late.size > 0, ...(await lateness([...late], now)) };
}

/**
 * Returns the time (epoch ms) up to which the service has sent everything that it could, and the
 * number of owners whose changes are late. A receiver that had a turn and did not finish is as late
 * as it is slow, and does not count.
 */
async function lateness(late: readonly Subscription[], now: number) {
  const waiting = late.filter(({ hadTurn, isSlow }) => !hadTurn && !isSlow);
  const times = await Promise.all(
    waiting.map(async (subscription) => ({
      owner: subscription.owner,
      since: (await subscription.waitingSince()) ?? now,
    })),
  );
  const lateOnes = times.filter(({ since }) => now - since > longestLag);
  return {
    sentUntil: Math.min(now, ...times.map(({ since }) => since)),
    lateOwners: new Set(lateOnes.map(({ owner }) => owner)).size,
  };
}

/**
 * Records that a run has ended, the time (epoch ms) up to which everything is sent, and the state
 * of owners. Logs what hints at a fault of the service: webhooks of one account may be late because
 * they are many.
 */
export async function recordSending(
  sentUntil: number,
  { owners, lateOwners = 0 }: { owners?: Owners; lateOwners?: number } = {},
): Promise<void> {
  const now = Date.now();
  if (lateOwners >= fewestOwners) {
    const lag_seconds = Math.floor((now - sentUntil) / 1000);
    console.warn({ message: 'Webhooks are late', owners: lateOwners, lag_seconds });
  }
  const { failing = 0, active = 0 } = owners ?? {};
  if (isMostFailing({ failing, active })) {
    console.warn({ message: 'Most webhooks fail', failing, active });
  }
  const set = {
    at: new Date(sentUntil).toISOString(),
    ran_at: new Date(now).toISOString(),
    failing_owners: failing,
  };
  await tryUpdate({ Key: webhookRunKey, set });
}
