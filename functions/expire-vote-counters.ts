import { noteDeed } from '../shared/health/health.ts';
import { deleteDailyVotes } from '../shared/vote/daily-votes.ts';

/** Removes the vote counters that neither the daily limit nor statistics need, once a day. The next run goes on where one was stopped. */
export async function handler(): Promise<{ deleted: number }> {
  const deleted = await deleteDailyVotes();
  await noteDeed('daily-job');
  if (deleted > 0) console.info({ message: 'Expired vote counters', deleted });
  return { deleted };
}
