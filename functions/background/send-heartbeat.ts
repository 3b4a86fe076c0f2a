import { checkAddress } from '../../shared/health/address.ts';
import { recordHeartbeat } from '../../shared/health/heartbeat.ts';
import { checkKeys } from '../../shared/health/keys.ts';
import { notingColdStart } from '../../shared/http/cold-start.ts';
import { countMetric } from '../../shared/metric.ts';
import { longestWait } from '../../shared/moderation/desk.ts';

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
