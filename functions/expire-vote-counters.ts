import { deleteDailyVotes } from '../shared/vote/daily-votes.ts';

/** Once a day: removes the vote counters that neither the daily limit nor statistics need. Stopped anywhere, the next run goes on. */
export async function handler(): Promise<{ deleted: number }> {
  const deleted = await deleteDailyVotes();
  console.info({ message: 'Expired vote counters', deleted });
  return { deleted };
}
