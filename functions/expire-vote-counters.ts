import { recordRun } from '../shared/health/health.ts';
import { deleteDailyCounts } from '../shared/user/daily-limit.ts';

/** Deletes old vote counters once a day. Continues where the last run was interrupted. */
export async function handler(): Promise<{ deleted: number }> {
  const deleted = await deleteDailyCounts();
  await recordRun('daily-job');
  if (deleted > 0) console.info({ message: 'Expired vote counters', deleted });
  return { deleted };
}
