import { batchGet, batchWrite, getItems } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { bulkImportKey, deedKey, projectionKey } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';

/** A deed of the service or its operator that should not be long ago. */
export type Deed = 'daily-job' | 'backup';

/** The state of the service. Ages are in seconds, and null for what was never done. */
export interface Health {
  /** Age of the oldest review looked at that totals and lists do not count yet, or 0. */
  stream_lag_seconds: number;
  daily_job_age_seconds: number | null;
  backup_age_seconds: number | null;
  /** Sentences for an operator, none while all is well. */
  faults: string[];
}

/**
 * Looks at the newest review that is so old, in seconds. The last is more than a stream ever needs.
 */
const sampleAges = [5, 120];
/** A day and two hours, in seconds. The job runs daily, and again when it has failed. */
const longestPause = 26 * 3600;

/** Reads the health of the service: four small reads at most, in two round trips. */
export async function readHealth(): Promise<Health> {
  const [[job, backup, bulk], ...samples] = await Promise.all([
    getItems([deedKey('daily-job'), deedKey('backup'), bulkImportKey]),
    ...sampleAges.map(newestReview),
  ]);
  const reviews = new Map(samples.flatMap((review) => (review ? [[review.pk, review]] : [])));
  const projections = await batchGet([...reviews.values()].map(projectionKey));
  const waiting = [...reviews.values()].filter(
    (review) => !projections.has(keyString(projectionKey(review))),
  );
  const lag = Math.max(0, ...waiting.map(({ date = '' }) => ageOf(date.split('#')[0]) ?? 0));
  const jobAge = ageOf(job?.at);
  const faults = [
    bulk && 'An import is not finished: until it is, lists and counts are incomplete',
    !bulk && lag > Math.max(...sampleAges) && `The stream is ${lag} seconds behind`,
    (jobAge ?? 0) > longestPause && `The daily job last ran ${jobAge} seconds ago`,
  ];
  return {
    stream_lag_seconds: lag,
    daily_job_age_seconds: jobAge,
    backup_age_seconds: ageOf(backup?.at),
    faults: faults.filter((fault) => typeof fault === 'string'),
  };
}

/** Notes that a deed is done, for `readHealth`. */
export async function noteDeed(deed: Deed): Promise<void> {
  await batchWrite([{ put: { ...deedKey(deed), at: new Date().toISOString() } }]);
}

/** The index entry of the newest public review that was published at least so many seconds ago. */
async function newestReview(seconds: number) {
  const high = new Date(Date.now() - seconds * 1000).toISOString();
  const newest = { descending: true, range: { high }, pageSize: 1 };
  const [review] = await collect(queryIndex('all-by-date', 'REVIEW', newest), 1);
  return review;
}

/** Seconds since an ISO 8601 time, or null. */
function ageOf(at: unknown): number | null {
  return typeof at === 'string' ? Math.floor((Date.now() - Date.parse(at)) / 1000) : null;
}
