import { markOf } from '../changes/cursor.ts';
import { readLogEnd } from '../changes/log.ts';
import { webhookRunKey } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';
import { tryUpdate } from '../table/transact.ts';
import { takeLease } from './lease.ts';
import { type Look, serveDue } from './serving.ts';

// The run of every minute that sends webhooks what is new in the change log.

/** In milliseconds. A larger lag is logged, which an alarm reads. */
const longestLag = 300_000;

/** Webhooks that wait for another attempt. Fewer may well fail for reasons of their own. */
const fewestFailing = 3;

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
  const { look, health } = await readState();
  if (look.due.length === 0) {
    if (!isLook) await recordSending(look.now, health);
    return { hasMore: false, isQuiet: health.failing === 0 };
  }
  const lease = await takeLease();
  if (!lease) return { hasMore: false };
  try {
    const lookAgain = async () => (await readState()).look;
    const { failures, hasMore, late, lookedAt } = await serveDue(look, lookAgain, {
      lease,
      lookEvery,
    });
    if (failures.length > 0) throw failures[0];
    await recordSending(Math.min(lookedAt, ...late.map(({ since }) => since)), health);
    return { hasMore };
  } finally {
    await lease.release();
  }
}

/** Reads what there is to do, and how many webhooks wait for another attempt. */
async function readState(): Promise<{ look: Look; health: { active: number; failing: number } }> {
  const now = Date.now();
  const latest = `${new Date(now).toISOString()}#~`;
  const [entries, end] = await Promise.all([
    collect(queryIndex('all-by-date', 'WEBHOOK', { pageSize: 1000 })),
    readLogEnd(),
  ]);
  const isWaiting = ({ date = '' }: { date?: string }) => date > latest;
  const mark = markOf(end);
  const due = entries.filter((entry) => !isWaiting(entry) && entry.kind !== mark);
  const health = { active: entries.length, failing: entries.filter(isWaiting).length };
  return { look: { now, end, due }, health };
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
  const set = {
    at: new Date(sentUntil).toISOString(),
    failing: isMost ? `${failing} of ${active}` : '',
  };
  await tryUpdate({ Key: webhookRunKey, set });
}
