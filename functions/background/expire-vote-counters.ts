import { recordRun } from '../../shared/health/health.ts';
import { notingColdStart } from '../../shared/http/cold-start.ts';
import { deleteDailyCounts } from '../../shared/user/daily-limit.ts';

/** Deletes old vote counters once a day. Continues where the last run was interrupted. */
export const handler = notingColdStart(async (): Promise<{ deleted: number }> => {
  const deleted = await deleteDailyCounts();
  await recordRun('daily-job');
  if (deleted > 0) console.info({ message: 'Expired vote counters', deleted });
  return { deleted };
});
