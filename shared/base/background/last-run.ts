import { batchWrite } from '../table/batch.ts';
import { lastRunKey } from '../table/keys.ts';

/** Records that a regular task of the service or its operator is done. */
export async function recordRun(task: 'daily-job' | 'backup' | 'thing-entries'): Promise<void> {
  await batchWrite([{ put: { ...lastRunKey(task), at: new Date().toISOString() } }]);
}
