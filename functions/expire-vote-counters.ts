import { deleteDailyVotes } from '../shared/vote/daily-votes.ts';

/** Once a day: removes the vote counters of past UTC days. Stopped anywhere, the next run goes on. */
export async function handler(): Promise<{ deleted: number }> {
  const today = new Date().toISOString().slice(0, 10);
  const deleted = await deleteDailyVotes(today);
  console.info({ message: 'Expired vote counters', deleted });
  return { deleted };
}
