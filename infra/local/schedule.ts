import type { Schedule } from '../../shared/background/schedules.ts';
import { invoke, type Load } from './invoke.ts';

/**
 * Runs every job now, because a laptop sleeps at midnight, and then every minute or daily at its
 * time. The clock is read every minute, so that sleep only delays a job. A failed job runs again a
 * minute later. Jobs do not wait for each other. The promise `begun` resolves when each job of
 * every minute has run once. A stop starts no further jobs, and waits for the current ones.
 */
export function followClock(schedules: readonly Schedule[], load: Load) {
  const jobs = schedules.map((schedule) => ({ schedule, due: 0, running: Promise.resolve() }));

  async function runIfDue(job: (typeof jobs)[number]) {
    const now = new Date();
    if (now.getTime() < job.due) return;
    const { operation } = job.schedule;
    try {
      await invoke(await load(operation), operation, { time: now.toISOString() });
      job.due = nextTime(job.schedule, now);
    } catch (error) {
      console.error(`${operation} failed and runs again in a minute:`, error);
    }
  }

  function runDueJobs() {
    for (const job of jobs) job.running = job.running.then(() => runIfDue(job));
  }
  runDueJobs();
  const timer = setInterval(runDueJobs, 60_000).unref();
  const minutely = jobs.filter(({ schedule }) => schedule.runs === 'every minute');
  return {
    begun: Promise.all(minutely.map(({ running }) => running)),
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(jobs.map(({ running }) => running));
    },
  };
}

/** In milliseconds since 1970. */
function nextTime({ runs }: Schedule, now: Date) {
  if (runs === 'every minute') return now.getTime();
  const { hour, minute } = runs;
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), hour, minute);
  return today > now.getTime() ? today : today + 86_400_000;
}
