import { countMetric } from '../../shared/base/metric.ts';
import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import { longestWait } from '../../shared/core/report/desk.ts';
import { checkAddress, checkKeys, recordHeartbeat } from '../../shared/features/health/public.ts';

/**
 * Writes an item every minute, which proves that writes work and that consumers follow. Tells of
 * signing keys that were replaced, and on AWS of an address that does not answer. Counts the hours
 * of what has waited longest for moderators.
 */
export const handler = notingColdStart(async (): Promise<void> => {
  const before = await recordHeartbeat();
  await checkKeys(before);
  await checkAddress();
  const age = await longestWait();
  if (age !== undefined) countMetric('OldestCaseHours', age / 3_600_000);
});
