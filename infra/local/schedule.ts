import type { Schedule } from '../../shared/base/background/schedule.ts';
import { invoke, type Load } from './invoke.ts';

/**
 * Runs every job now, because a laptop sleeps at midnight, and then every minute or daily at its
 * time. The clock is read every minute, so that sleep only delays a job. A failed job runs again a
 * minute later. A job with looks also runs every few seconds, and at once while it has more to do.
 * Jobs do not wait for each other. The promise `begun` resolves when each job of every minute has
 * run once. A stop starts no further jobs, and waits for the current ones. `version` changes with
 * every commit to the database. A job that was quiet has no look before the next commit.
 */
export function followClock(
  schedules: readonly Schedule[],
  load: Load,
  version: () => unknown = () => undefined,
) {
  const jobs = schedules.map((schedule) => ({
    schedule,
    due: 0,
    running: Promise.resolve(),
    hasFailed: false,
    /** The version at which the job had nothing to do before the next commit. */
    quietAt: undefined as unknown,
  }));

  let isStopped = false;

  async function runIfDue(job: (typeof jobs)[number], look = false) {
    let hasMore = await runOnce(job, look);
    while (hasMore && !isStopped) hasMore = await runOnce(job, true);
  }

  /** Runs a job if it is due. Returns true if it has more to do at once. */
  async function runOnce(job: (typeof jobs)[number], look: boolean): Promise<boolean> {
    const now = new Date();
    if (now.getTime() < job.due || (look && job.hasFailed)) return false;
    const { operation, lookEvery } = job.schedule;
    try {
      const time = now.toISOString();
      const current = version();
      const result = await invoke(await load(operation), operation, { time, look, lookEvery });
      job.due = nextTime(job.schedule, now);
      job.hasFailed = false;
      const { hasMore = false, isQuiet = false } = (result ?? {}) as JobResult;
      job.quietAt = isQuiet ? current : undefined;
      return hasMore;
    } catch (error) {
      job.hasFailed = true;
      console.error(`${operation} failed and runs again in a minute:`, error);
      return false;
    }
  }

  function runDueJobs() {
    for (const job of jobs) job.running = job.running.then(() => runIfDue(job));
  }
  runDueJobs();
  const timer = setInterval(runDueJobs, 60_000).unref();
  const looks = jobs.flatMap((job) => {
    const { lookEvery } = job.schedule;
    if (lookEvery === undefined) return [];
    // A look that is late is left out: the job is running.
    let isLooking = false;
    const look = async () => {
      const isQuiet = job.quietAt !== undefined && job.quietAt === version();
      if (isLooking || isQuiet) return;
      isLooking = true;
      job.running = job.running.then(() => runIfDue(job, true));
      await job.running;
      isLooking = false;
    };
    return [setInterval(look, lookEvery * 1000).unref()];
  });
  const minutely = jobs.filter(({ schedule }) => schedule.runs === 'every minute');
  return {
    begun: Promise.all(minutely.map(({ running }) => running)),
    async stop(): Promise<void> {
      isStopped = true;
      for (const each of [timer, ...looks]) clearInterval(each);
      await Promise.all(jobs.map(({ running }) => running));
    },
  };
}

/** The result of a job with looks. */
interface JobResult {
  /** The next run begins at once. */
  hasMore?: boolean;
  /** There is nothing to do until something is written. */
  isQuiet?: boolean;
}

/** In milliseconds since 1970. */
function nextTime({ runs }: Schedule, now: Date) {
  if (runs === 'every minute') return now.getTime();
  const { hour, minute } = runs;
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), hour, minute);
  return today > now.getTime() ? today : today + 86_400_000;
}
