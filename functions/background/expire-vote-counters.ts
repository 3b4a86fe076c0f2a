import { recordRun } from '../../shared/base/background/last-run.ts';
import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import { deleteDailyCounts } from '../../shared/core/user/daily-limit.ts';

/**
 * Deletes old vote counters once a day. Continues where the last run was interrupted. A run that
 * leaves some is done too: DynamoDB deletes them by their time to live.
 */
export const handler = notingColdStart(async (): Promise<{ deleted: number; isWhole: boolean }> => {
  const { deleted, isWhole } = await deleteDailyCounts();
  await recordRun('daily-job');
  if (deleted > 0) console.info({ message: 'Expired vote counters', deleted, isWhole });
  return { deleted, isWhole };
});
