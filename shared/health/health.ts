import { batchGet, batchWrite, getItems } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { bulkImportKey, lastRunKey, projectionKey } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';

/** State of the service. Ages are in seconds, or null if there is none. */
export interface Health {
  /** Age of the oldest sampled review that lists and totals lack, or 0. */
  stream_lag_seconds: number;
  daily_job_age_seconds: number | null;
  backup_age_seconds: number | null;
  /** Sentences for an operator, none if all is well. */
  faults: string[];
}

/** Ages of the sampled reviews in seconds. The stream catches up within the last. */
const sampleAges = [5, 120];
/** 26 hours. The job runs daily, and again after a failure. */
const maxJobAge = 26 * 3600;

/** Reads the state of the service by at most four small reads, in two round trips. */
export async function readHealth(): Promise<Health> {
  const [[job, backup, bulk], ...samples] = await Promise.all([
    getItems([lastRunKey('daily-job'), lastRunKey('backup'), bulkImportKey]),
    ...sampleAges.map(newestReview),
  ]);
  const reviews = new Map(samples.flatMap((review) => (review ? [[review.pk, review]] : [])));
  const projections = await batchGet([...reviews.values()].map(projectionKey));
  const uncounted = [...reviews.values()].filter(
    (review) => !projections.has(keyString(projectionKey(review))),
  );
  const lag = Math.max(0, ...uncounted.map(({ date = '' }) => ageOf(date.split('#')[0]) ?? 0));
  const jobAge = ageOf(job?.at);
  const faults = [
    bulk && 'An import is not finished. Lists and counts are incomplete until it is',
    !bulk && lag > Math.max(...sampleAges) && `The stream is ${lag} seconds behind`,
    (jobAge ?? 0) > maxJobAge && `The daily job last ran ${jobAge} seconds ago`,
  ];
  return {
    stream_lag_seconds: lag,
    daily_job_age_seconds: jobAge,
    backup_age_seconds: ageOf(backup?.at),
    faults: faults.filter((fault) => typeof fault === 'string'),
  };
}

/** Records that a regular task of the service or its operator is done. */
export async function recordRun(task: 'daily-job' | 'backup'): Promise<void> {
  await batchWrite([{ put: { ...lastRunKey(task), at: new Date().toISOString() } }]);
}

/** Returns the index entry of the newest public review that is at least this many seconds old. */
async function newestReview(seconds: number) {
  const high = new Date(Date.now() - seconds * 1000).toISOString();
  const newest = { descending: true, range: { high }, pageSize: 1 };
  const [review] = await collect(queryIndex('all-by-date', 'REVIEW', newest), 1);
  return review;
}

function ageOf(at: unknown): number | null {
  return typeof at === 'string' ? Math.floor((Date.now() - Date.parse(at)) / 1000) : null;
}
