import { markOf } from '../changes/cursor.ts';
import { readLogEnd } from '../changes/log.ts';
import { webhookRunKey } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';
import { tryUpdate } from '../table/transact.ts';
import { fewestOwners, isMostFailing, type Owners, ownersAt } from './failing-owners.ts';
import { takeLease } from './lease.ts';
import { type Look, serveDue } from './serving.ts';
import { listWebhooks } from './webhook-repository.ts';

// The run of every minute that sends webhooks what is new in the change log.

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
 * In milliseconds, between two looks of a run for webhooks that are due by then. Each look costs
 * read units on AWS, and each webhook with news three write units. Their operator feels it while
 * one receiver is slow. A server looks more often.
 */
const lookPause = 20_000;

/**
 * Sends all webhooks what is due. One run at a time: a second one does nothing. A `look` between
 * two minutes writes nothing unless there is news. A run that lasts looks again for news, every
 * `lookEvery` milliseconds.
 */
export async function sendWebhooks({
  isLook = false,
  lookEvery = lookPause,
} = {}): Promise<RunResult> {
  const { look, waiting } = await readState();
  if (look.due.length === 0) {
    if (!isLook) await recordSending(look.now, { owners: await readOwners(waiting, look.now) });
    return { hasMore: false, isQuiet: waiting === 0 };
  }
  const lease = await takeLease();
  if (!lease) return { hasMore: false };
  try {
    const lookAgain = async () => (await readState()).look;
    const { failures, hasMore, late, lookedAt } = await serveDue(look, lookAgain, {
      lease,
      lookEvery,
    });
    const veryLate = late.filter(({ since }) => lookedAt - since > longestLag);
    await recordSending(Math.min(lookedAt, ...late.map(({ since }) => since)), {
      owners: await readOwners(waiting, lookedAt),
      lateOwners: new Set(veryLate.map(({ owner }) => owner)).size,
    });
    if (failures.length > 0) throw failures[0];
    return { hasMore };
  } finally {
    await lease.release();
  }
}

/** Reads what there is to do, and how many webhooks wait for another attempt. */
async function readState(): Promise<{ look: Look; waiting: number }> {
  const now = Date.now();
  const latest = `${new Date(now).toISOString()}#~`;
  const [entries, end] = await Promise.all([
    collect(queryIndex('all-by-date', 'WEBHOOK', { pageSize: 1000 })),
    readLogEnd(),
  ]);
  const isWaiting = ({ date = '' }: { date?: string }) => date > latest;
  const mark = markOf(end);
  const due = entries.filter((entry) => !isWaiting(entry) && entry.kind !== mark);
  return { look: { now, end, due }, waiting: entries.filter(isWaiting).length };
}

/** Reads the state of owners, unless too few webhooks wait for another attempt. */
async function readOwners(waiting: number, now: number): Promise<Owners> {
  if (waiting < fewestOwners) return { active: 0, failing: 0 };
  return ownersAt(await listWebhooks(undefined, { consistent: false }), now);
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
