import { recordHeartbeat } from '../shared/health/heartbeat.ts';

/** Writes an item every minute, which proves that writes work and that consumers follow. */
export async function handler(): Promise<void> {
  await recordHeartbeat();
}
