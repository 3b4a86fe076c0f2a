import { setTimeout as sleep } from 'node:timers/promises';
import { countMetric } from '../../base/metric.ts';
import { collect, queryIndex } from '../../base/table/query.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { markOf, readLogEnd } from '../changes/public.ts';
import { isDue } from './decisions.ts';
import { webhookRunKey } from './kinds.ts';
import { withActiveOwner } from './owners.ts';
import { Queue } from './queue.ts';
import { type Run, Subscription, type Tally } from './subscription.ts';
import { type Webhook, webhookIdIn } from './webhook.ts';
import { listWebhooks } from './webhook-repository.ts';

// The run of every minute that sends webhooks what is new in the change log.

/** Requests at the same time. Each holds a connection. */
const mostRequests = 50;

/**
 * Requests of an account at the same time. Others wait for slow receivers only while 25 accounts
 * have some. An account with many slow receivers feels it, because they wait for each other.
 */
const mostOfAccount = 2;

/**
 * In milliseconds since the begin of a run: for the last request to a slow receiver, and to another
 * one, and for the end. A request may take 15 s. So a run rarely waits for slow ones alone.
 */
const limits = { slow: 40_000, quick: 55_000, end: 72_000 };

/**
 * In milliseconds, between two looks of a run for webhooks that are due by then. Each look costs
 * read units on AWS. Their operator feels it while one receiver is slow. A server looks more often.
 */
const lookPause = 20_000;

/**
 * Accounts in one run that hint at a fault of the service, if none of them gets a message. One
 * account can have 50 webhooks at hosts that do not exist, so webhooks are not counted.
 */
const fewestAccounts = 3;

/** The result of a run. */
export interface RunResult {
  /** More can be sent: a server begins the next run at once. */
  hasMore: boolean;
  /** Until something is written, a look would find nothing: no webhook waits for a time. */
  isQuiet?: boolean;
}

/** An account with webhooks that are due, in a run. */
class Account implements Tally {
  readonly queue = new Queue(mostOfAccount);
  delivered = 0;
  failed = 0;
  isServed = false;
}

/**
 * Sends all webhooks what is due. Each has a lease, so two runs never send to one receiver. A
 * `look` between two minutes writes nothing unless there is news. A run that lasts looks again for
 * news, every `lookEvery` milliseconds.
 */
export async function sendWebhooks({
  isLook = false,
  lookEvery = lookPause,
} = {}): Promise<RunResult> {
  const begin = performance.now();
  let look = await readState();
  const run: Run = {
    end: look.end,
    leasedUntil: new Date(look.now + limits.end).toISOString(),
    isOver: (isSlow) => performance.now() - begin > (isSlow ? limits.slow : limits.quick),
    hasMore: false,
  };
  const all = new Queue(mostRequests);
  const accounts = new Map<string, Account>();
  /** Ids of webhooks that are served, or cannot be served in this run. */
  const admitted = new Set<string>();
  const tasks = new Set<Promise<void>>();
  const failures: unknown[] = [];

  /** Gives one webhook tasks in the queue of its account, until nothing is left. */
  async function serve(webhook: Webhook, account: Account): Promise<void> {
    const subscription = new Subscription(webhook, run, account);
    const take = () => all.run(() => subscription.take());
    try {
      while (await account.queue.run(take, subscription.isAsked));
      admitted.delete(webhook.id);
    } catch (error) {
      failures.push(error);
    }
  }

  /** Serves the webhooks that are due and not served yet. */
  async function admit({ now, end, due }: State, consistent: boolean): Promise<void> {
    run.end = end;
    const ids = new Set(due.filter((id) => !admitted.has(id)));
    if (ids.size === 0) return;
    // Items of one partition cost less together than each by its key.
    const listed = await listWebhooks(undefined, { consistent });
    // The index may lag behind the items.
    const webhooks = listed.filter((each) => ids.has(each.id) && isDue(each, end, now));
    for (const { id } of webhooks) admitted.add(id);
    const active = await withActiveOwner(webhooks);
    for (const webhook of active.toSorted(byLastAttempt)) {
      const account = accounts.get(webhook.user_id) ?? new Account();
      accounts.set(webhook.user_id, account);
      const task = serve(webhook, account).finally(() => tasks.delete(task));
      tasks.add(task);
    }
  }

  await admit(look, false);
  while (tasks.size > 0) {
    await Promise.race([Promise.all(tasks), sleep(lookEvery, undefined, { ref: false })]);
    if (tasks.size === 0 || run.isOver(false)) continue;
    try {
      look = await readState();
      await admit(look, true);
    } catch (error) {
      failures.push(error);
    }
  }
  if (accounts.size > 0 || !isLook) await recordSending(look.now, [...accounts.values()]);
  if (failures.length > 0) throw failures[0];
  return { hasMore: run.hasMore, isQuiet: look.due.length === 0 && look.waiting === 0 };
}

/** The webhooks that a run looks at. */
interface State {
  /** Epoch ms. */
  now: number;
  /** The end of the log. */
  end: Run['end'];
  /** Ids of the webhooks that are due. */
  due: string[];
  /** The number of webhooks that wait for another attempt. */
  waiting: number;
}

async function readState(): Promise<State> {
  const now = Date.now();
  const latest = `${new Date(now).toISOString()}#~`;
  const [entries, end] = await Promise.all([
    collect(queryIndex('all-by-date', 'WEBHOOK', { pageSize: 1000 })),
    readLogEnd(),
  ]);
  const isWaiting = ({ date = '' }: { date?: string }) => date > latest;
  const mark = markOf(end);
  const due = entries.filter((entry) => !isWaiting(entry) && entry.kind !== mark);
  return { now, end, due: due.map(webhookIdIn), waiting: entries.filter(isWaiting).length };
}

/** Those that wait longest come first, so that each run begins with others. */
function byLastAttempt(one: Webhook, other: Webhook): number {
  const lastOf = ({ attempts, since }: Webhook) => attempts.at(-1)?.at ?? since;
  return lastOf(one) < lastOf(other) ? -1 : 1;
}

/**
 * Records that a run has ended, what it sent, and the time (epoch ms) of its last look if every
 * account was served. Logs what hints at a fault of the service.
 */
export async function recordSending(
  lookedAt: number,
  accounts: readonly Tally[] = [],
): Promise<void> {
  const sum = (name: 'delivered' | 'failed') =>
    accounts.reduce((total, account) => total + account[name], 0);
  const delivered = sum('delivered');
  const failed = sum('failed');
  const late = accounts.filter(({ isServed }) => !isServed).length;
  const failing = accounts.filter((account) => account.failed > 0).length;
  if (late >= fewestAccounts) console.warn({ message: 'Webhooks are late', accounts: late });
  if (failing >= fewestAccounts && delivered === 0) {
    console.warn({ message: 'All webhooks fail', accounts: failing });
  }
  if (delivered > 0) countMetric('WebhooksSent', delivered, { isSummed: true });
  if (failed > 0) countMetric('WebhooksFailed', failed, { isSummed: true });
  const set: Record<string, string> = { ran_at: new Date().toISOString() };
  if (late === 0) set.at = new Date(lookedAt).toISOString();
  await tryUpdate({ Key: webhookRunKey, set, amounts: { delivered, failed } });
}
