import { setTimeout as sleep } from 'node:timers/promises';
import { chunks } from '../../base/chunks.ts';
import { describeError } from '../../base/describe-error.ts';
import { type Patience, patienceOf, take, takeSoon } from '../../base/table/pace.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { type Provider, providers } from '../../core/entity/metadata-provider.ts';
import { type EntityRecord, recordIn, recordWrites, renewed } from '../../core/entity/record.ts';
import { writeRecords } from '../../core/entity/write-records.ts';
import { askForRecords, batchSize, canLookUp, OddAnswer, paceKey } from '../databases/public.ts';
import { namesPaceKey } from './kinds.ts';
import { type Due, postpone, readDue } from './queue.ts';

// The run of every minute that asks the databases for names.

/**
 * In milliseconds. A run begins no request after `run`, and a request takes at most `request`. The
 * lease of a run outlasts both. A server repeats a run at once, so its runs are short: a stop waits
 * for them.
 */
const limits = { run: 45_000, shortRun: 4_000, request: 10_000, lease: 60_000 };

/** Odd answers in a row after which a database is left alone as one that fails. */
const mostOdd = 10;

/**
 * Asks each database for the names that are due, the longest due first. One run at a time for each
 * database. One that fails is left alone until the lease of the run has ended, while the others go
 * on. An odd answer about one entity holds up no other. Returns true in `hasMore` if the time was
 * over. Throws if the table fails.
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
  const run: Run = { provider, left, oddInARow: 0, missing: [] };
  for (let found = first; !found.isEmpty; found = await readDue(provider.group)) {
    const outcome = await askAll(requestsOf(found.due, provider), run);
    if (outcome !== 'done') return outcome;
    if (left() <= 0) return 'over';
  }
  return askAll(
    run.missing.map((each) => ({ due: [each], isLookup: true })),
    run,
  );
}

/** A request for entities of one type, or for one by its id, which a list lacked. */
interface Request {
  due: readonly Due[];
  isLookup?: boolean;
}

interface Run {
  provider: Provider;
  left: Patience;
  /** Odd answers since the last good one. */
  oddInARow: number;
  /** Entities that lists lacked, to ask for by their ids when no other is due. */
  missing: Due[];
}

/** Sends requests in turn, those with odd answers again in halves. */
async function askAll(requests: readonly Request[], run: Run): Promise<'done' | 'over' | 'failed'> {
  const { provider, left } = run;
  const pending = [...requests];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    if (!(await takeTurn(provider, left))) return 'over';
    const turn = performance.now();
    const outcome = await ask(next, run);
    run.oddInARow = outcome === 'odd' ? run.oddInARow + 1 : 0;
    if (outcome === 'failed' || run.oddInARow === mostOdd) return 'failed';
    if (outcome === 'odd') pending.unshift(...halvesOf(next.due));
    await sleep(Math.max(0, turn + provider.interval - performance.now()));
  }
  return 'done';
}

/** Returns requests for the two halves of several entities, so that an odd one is found. */
function halvesOf(due: readonly Due[]): Request[] {
  const half = Math.ceil(due.length / 2);
  return due.length > 1 ? [{ due: due.slice(0, half) }, { due: due.slice(half) }] : [];
}

/** Returns requests for entities of one type each, the longest due first. */
function requestsOf(all: readonly Due[], provider: Provider): Request[] {
  const byType = Map.groupBy(all, ({ entity }) => entity.entity_type);
  return [...byType.values()].flatMap((some) =>
    chunks(some, batchSize(provider)).map((due) => ({ due })),
  );
}

/** Waits for the next turn to ask a database. People who search take turns, too. */
async function takeTurn({ group, interval }: Provider, left: Patience): Promise<boolean> {
  if (left() <= 0) return false;
  return interval === 0 || takeSoon({ Key: paceKey(group), milliseconds: interval }, left);
}

/**
 * Asks for entities of one type, and stores the outcome. An answer is `odd` if the database fails
 * on these entities, and `failed` if it cannot be reached or is busy.
 */
async function ask(
  { due, isLookup = false }: Request,
  { provider, missing }: Run,
): Promise<'done' | 'odd' | 'failed'> {
  const [{ entity }] = due as readonly [Due];
  const ids = due.map(({ entity: { entity_id } }) => entity_id);
  const signal = AbortSignal.timeout(limits.request);
  let records: EntityRecord[];
  try {
    records = await askForRecords(provider, entity.entity_type, ids, { signal, isLookup });
  } catch (error) {
    const isOdd = error instanceof OddAnswer;
    const database = provider.group;
    const message = isOdd ? 'A database has an odd answer' : 'A database gives no names';
    console.warn({ message, database, ids: ids.slice(0, 3), error: describeError(error) });
    if (!isOdd || due.length === 1) {
      await Promise.all(due.map((each) => postpone(each, 'failed')));
    }
    return isOdd ? 'odd' : 'failed';
  }
  const byId = new Map(records.map((record) => [record.entity_id, record]));
  const outcomes = due.map((each) => ({ each, record: byId.get(each.entity.entity_id) }));
  await writeRecords(
    outcomes.flatMap(({ each: { entity, item }, record }) => {
      const before = recordIn(entity, item);
      return record ? [recordWrites(before, renewed(before, record))] : [];
    }),
  );
  const unknown = outcomes.flatMap(({ each, record }) => (record ? [] : [each]));
  const later = await Promise.all(
    unknown.map((each) => postpone(each, isLookup ? 'looked-up' : 'unknown')),
  );
  if (canLookUp(provider)) missing.push(...later.filter(({ item }) => !item.looked_up));
  return 'done';
}
