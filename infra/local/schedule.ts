import type { Schedule } from '../../shared/background.ts';
import { invoke, type Load } from './invoke.ts';

/** The daily jobs at work. */
export interface Clock {
  /** Starts no more jobs, and resolves when the one at hand is done. */
  stop(): Promise<void>;
}

const minute = 60_000;

/**
 * Runs every job now, because a laptop sleeps at midnight, and then daily at its time. The clock is looked at every
 * minute, so that hours asleep only delay a job. One that fails runs again a minute later.
 */
export function followClock(schedules: readonly Schedule[], load: Load): Clock {
  const jobs = schedules.map((schedule) => ({ schedule, due: 0 }));

  async function look(): Promise<void> {
    for (const job of jobs) {
      const now = new Date();
      if (now.getTime() < job.due) continue;
      const { operation } = job.schedule;
      try {
        await invoke(await load(operation), operation, { time: now.toISOString() });
        job.due = nextTime(job.schedule, now);
      } catch (error) {
        console.error(`${operation} failed, and runs again in a minute:`, error);
      }
    }
  }

  let looking = look();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, minute).unref();
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** The first time after `now` that the schedule names, in milliseconds since 1970. */
export function nextTime({ hour, minute }: Schedule, now: Date): number {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), hour, minute);
  return today > now.getTime() ? today : today + 86_400_000;
}
