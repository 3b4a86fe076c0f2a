import { batchWrite } from '../table/batch.ts';
import { keyOf } from '../table/key-form.ts';

/** Takes a regular task, such as `backup`. */
export const lastRunKey = keyOf('HEALTH', 'DONE#<task>');

/** Records that a regular task of the service or its operator is done. */
export async function recordRun(task: 'daily-job' | 'backup' | 'thing-entries'): Promise<void> {
  await batchWrite([{ put: { ...lastRunKey(task), at: new Date().toISOString() } }]);
}
