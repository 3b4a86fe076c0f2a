import { recordRun } from '../shared/health/health.ts';
import { deleteDailyVotes } from '../shared/vote/daily-votes.ts';

/**
 * Deletes vote counters that neither the daily limit nor statistics need. Runs once a day. A run
 * continues where the last one was interrupted.
 */
export async function handler(): Promise<{ deleted: number }> {
  const deleted = await deleteDailyVotes();
  await recordRun('daily-job');
  if (deleted > 0) console.info({ message: 'Expired vote counters', deleted });
  return { deleted };
}
