import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../chunks.ts';
import { describeError } from '../describe-error.ts';
import { askForRecords } from '../entity/asking.ts';
import { batchSize } from '../entity/database-request.ts';
import { type Provider, providers } from '../entity/metadata-provider.ts';
import { type Patience, patienceOf, take, takeSoon } from '../entity/pace.ts';
import { type EntityRecord, recordIn, recordWrites, renewed } from '../entity/record.ts';
import { writeRecords } from '../entity/write-records.ts';
import { namesPaceKey, paceKey } from '../table/keys.ts';
import { tryUpdate } from '../table/transact.ts';
import { type Due, postpone, readDue } from './queue.ts';

// The run of every minute that asks the databases for names.

/**
 * In milliseconds. A run begins no request after `run`, and a request takes at most `request`. The
 * lease of a run outlasts both. A server repeats a run at once, so its runs are short: a stop waits
 * for them.
 */
const limits = { run: 45_000, shortRun: 4_000, request: 10_000, lease: 60_000 };

/**
 * Asks each database for the names that are due, the longest due first. One run at a time for each
 * database. One that fails is left alone until the lease of the run has ended, while the others go
 * on. Returns true in `hasMore` if the time was over. Throws if the table fails.
 */
export async function updateNames({ isShort = false } = {}): Promise<{ hasMore: boolean }> {
  const left = patienceOf(isShort ? limits.shortRun : limits.run);
  const runs = await Promise.allSettled(providers().map((provider) => serve(provider, left)));
  const failure = runs.find(({ status }) => status === 'rejected');
  if (failure) throw (failure as PromiseRejectedResult).reason;
  return { hasMore: runs.some((run) => run.status === 'fulfilled' && run.value) };
}

/** Serves the queue of a database. Returns true if the time was over before it was empty. */
async function serve(provider: Provider, left: Patience): Promise<boolean> {
  const { group } = provider;
  const first = await readDue(group);
  const lease = { Key: namesPaceKey(group), milliseconds: limits.lease };
  if (first.isEmpty || !(await take(lease))) return false;
  const outcome = await serveFrom(first, provider, left);
  if (outcome !== 'failed') await tryUpdate({ Key: lease.Key, set: { due_at: Date.now() } });
  return outcome === 'over';
}

async function serveFrom(
  first: Awaited<ReturnType<typeof readDue>>,
  provider: Provider,
  left: Patience,
): Promise<'done' | 'over' | 'failed'> {
  const { group, interval } = provider;
  for (let found = first; !found.isEmpty; found = await readDue(group)) {
    for (const some of requestsOf(found.due, provider)) {
      if (!(await takeTurn(provider, left))) return 'over';
      const turn = performance.now();
      if (!(await ask(provider, some))) return 'failed';
      await sleep(Math.max(0, turn + interval - performance.now()));
    }
    if (left() <= 0) return 'over';
  }
  return 'done';
}

/** Returns requests for entities of one type each, the longest due first. */
function requestsOf(due: readonly Due[], provider: Provider): Due[][] {
  const byType = Map.groupBy(due, ({ entity }) => entity.entity_type);
  return [...byType.values()].flatMap((some) => chunks(some, batchSize(provider)));
}

/** Waits for the next turn to ask a database. People who search take turns, too. */
async function takeTurn({ group, interval }: Provider, left: Patience): Promise<boolean> {
  if (left() <= 0) return false;
  return interval === 0 || takeSoon({ Key: paceKey(group), milliseconds: interval }, left);
}

/** Asks for entities of one type, and stores the outcome. Returns false if the database fails. */
async function ask(provider: Provider, due: readonly Due[]): Promise<boolean> {
  const [{ entity }] = due as [Due];
  const ids = due.map(({ entity: { entity_id } }) => entity_id);
  const signal = AbortSignal.timeout(limits.request);
  let records: EntityRecord[];
  try {
    records = await askForRecords(provider, entity.entity_type, ids, signal);
  } catch (error) {
    const database = provider.group;
    console.warn({ message: 'A database gives no names', database, error: describeError(error) });
    await Promise.all(due.map((each) => postpone(each, 'failed')));
    return false;
  }
  const byId = new Map(records.map((record) => [record.entity_id, record]));
  const outcomes = due.map((each) => ({ each, record: byId.get(each.entity.entity_id) }));
  await writeRecords(
    outcomes.flatMap(({ each: { entity, item }, record }) => {
      const before = recordIn(entity, item);
      return record ? [recordWrites(before, renewed(before, record))] : [];
    }),
  );
  await Promise.all(
    outcomes.map(({ each, record }) => (record ? undefined : postpone(each, 'unknown'))),
  );
  return true;
}
