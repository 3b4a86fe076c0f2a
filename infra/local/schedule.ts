import type { Schedule } from '../../shared/background.ts';
import { invoke, type Load } from './invoke.ts';

export interface Clock {
  /** Starts no further jobs. Resolves when the current job is done. */
  stop(): Promise<void>;
}

const minute = 60_000;

/**
 * Runs every job now, because a laptop sleeps at midnight, and then daily at its time. The clock is
 * read every minute, so that sleep only delays a job. A failed job runs again a minute later.
 */
export function followClock(schedules: readonly Schedule[], load: Load): Clock {
  const jobs = schedules.map((schedule) => ({ schedule, due: 0 }));

  async function runDueJobs(): Promise<void> {
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
  }, minute).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Returns the next time of the schedule after `now`, in milliseconds since 1970. */
function nextTime({ hour, minute }: Schedule, now: Date): number {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), hour, minute);
  return today > now.getTime() ? today : today + 86_400_000;
}
