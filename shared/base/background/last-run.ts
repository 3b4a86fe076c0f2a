import { batchWrite } from '../table/batch.ts';
import type { Key } from '../table/item.ts';

/** Takes a regular task, such as `backup`. */
export const lastRunKey = (task: string): Key => ({ pk: 'HEALTH', sk: `DONE#${task}` });

/** Records that a regular task of the service or its operator is done. */
export async function recordRun(task: 'daily-job' | 'backup' | 'thing-entries'): Promise<void> {
  await batchWrite([{ put: { ...lastRunKey(task), at: new Date().toISOString() } }]);
}
