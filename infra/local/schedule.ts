import type { Schedule } from '../../shared/background.ts';
import { invoke, type Load } from './invoke.ts';

/**
 * Runs every job now, because a laptop sleeps at midnight, and then daily at its time. The clock is
 * read every minute, so that sleep only delays a job. A failed job runs again a minute later.
 * `stop` starts no further jobs, and resolves when the current job is done.
 */
export function followClock(schedules: readonly Schedule[], load: Load) {
  const jobs = schedules.map((schedule) => ({ schedule, due: 0 }));

  async function runDueJobs() {
    for (const job of jobs) {
      const now = new Date();
      if (now.getTime() < job.due) continue;
      const { operation } = job.schedule;
      try {
        await invoke(await load(operation), operation, { time: now.toISOString() });
        job.due = nextTime(job.schedule, now);
      } catch (error) {
        console.error(`${operation} failed and runs again in a minute:`, error);
      }
    }
  }

  let running = runDueJobs();
  const timer = setInterval(() => {
    running = running.then(runDueJobs);
  }, 60_000).unref();
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}

/** In milliseconds since 1970. */
function nextTime({ hour, minute }: Schedule, now: Date) {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), hour, minute);
  return today > now.getTime() ? today : today + 86_400_000;
}
