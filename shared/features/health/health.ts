import { lastRunKey } from '../../base/background/last-run.ts';
import { batchGet } from '../../base/table/batch.ts';
import { hasFullDisk } from '../../base/table/full-disk.ts';
import { type Entry, keyString } from '../../base/table/item.ts';
import { collect, getItem, queryIndex, queryItems } from '../../base/table/query.ts';
import { bulkImportKey, projectionKey } from '../../core/keys.ts';
import { mailFault } from '../../core/user/mail-fault.ts';
import { providerFault } from '../../core/user/provider-fault.ts';
import { waitingSince } from '../names/public.ts';
import { webhookRunKey } from '../webhooks/public.ts';

/** State of the service. Ages are in seconds, or null if there is none. */
export interface Health {
  /** Age of the oldest sampled review that lists and totals lack, or 0. */
  stream_lag_seconds: number;
  daily_job_age_seconds: number | null;
  backup_age_seconds: number | null;
  /** Age of the newest heartbeat, which is written every minute. */
  last_write_age_seconds: number | null;
  /** Age of the newest heartbeat that each consumer of the stream has passed. */
  consumer_age_seconds: Record<keyof typeof longestLags, number | null>;
  /** Time since no account waited for its first message of a run, about a minute. */
  webhook_lag_seconds: number | null;
  /** Messages of webhooks that were ever delivered, and attempts that failed. */
  webhook_messages: { delivered: number; failed: number };
  /**
   * Seconds for which the longest due name waits for a music or book database. A database that does
   * not answer is no fault of the service.
   */
  names_lag_seconds: number;
  /**
   * The cause if the mail server takes no mails. No fault: another machine would have it too, and
   * pages are read without mails.
   */
  mail_server_fault: string | null;
  /** Sentences for an operator, none if all is well. Nothing that a client does makes one. */
  faults: string[];
}

/** Ages of the sampled reviews in seconds. The stream catches up within the last. */
const sampleAges = [5, 120];
/** In seconds: a heartbeat so much younger than a review was written after the review. */
const samplingSlack = 5;
/** 26 hours. The job runs daily, and again after a failure. */
const maxJobAge = 26 * 3600;
/** In seconds: clocks differ by less. */
const longestLead = 300;
/** In seconds: three heartbeats. */
const longestSilence = 180;
/** In seconds. A run of the webhooks' job takes up to a minute, and the next one follows. */
const longestSending = 600;
/** In seconds, by consumer. The eraser takes a while for a large account. */
const longestLags = { 'update-aggregates': longestSilence, eraser: 3600 };

type Consumer = keyof typeof longestLags;

/**
 * Reads the state of the service by at most nine small reads, in two round trips. Reads the newest
 * reviews too, if lists lack them.
 */
export async function readHealth(): Promise<Health> {
  const [records, bulk, sending, namesSince, ahead, ...samples] = await Promise.all([
    collect(queryItems(lastRunKey(''), { consistent: false })),
    getItem(bulkImportKey, { consistent: false }),
    getItem(webhookRunKey, { consistent: false }),
    waitingSince(),
    newestReview({ low: secondsAgo(-longestLead) }),
    ...sampleAges.map((age) => newestReview({ high: secondsAgo(age) })),
  ]);
  const reviews = new Map(samples.flatMap((review) => (review ? [[review.pk, review]] : [])));
  const projections = await batchGet([...reviews.values()].map(projectionKey));
  const uncounted = [...reviews.values()].filter(
    (review) => !projections.has(keyString(projectionKey(review))),
  );
  const lag = Math.max(0, ...(await Promise.all(uncounted.map(secondsInTable))));

  const runs = new Map(records.map((record) => [record.sk, record]));
  const lastRun = (task: string) => ageOf(runs.get(lastRunKey(task).sk)?.at);
  const age = ageOf(runs.get(lastRunKey('heartbeat').sk)?.since) ?? 0;
  const writeAge = lastRun('heartbeat');
  const keysAge = ageOf(runs.get(lastRunKey('heartbeat').sk)?.keys_replaced_at);
  const jobAge = lastRun('daily-job');
  const consumer_age_seconds = {
    'update-aggregates': lastRun('update-aggregates'),
    eraser: lastRun('eraser'),
  };
  // Older code has not stored the time of the run.
  const sendingAge = ageOf(sending?.ran_at ?? sending?.at);
  const faults = [
    bulk && 'An import is not finished. Lists and counts are incomplete until it is',
    hasFullDisk() && 'The disk is full, and nothing can be saved. Make room',
    providerFault(),
    writeFault(writeAge),
    // The stream is off during an import, and empty without heartbeats.
    ...(bulk || writeFault(writeAge) ? [] : consumerFaults(consumer_age_seconds, age)),
    !bulk && lag > Math.max(...sampleAges) && lagFault(lag, consumer_age_seconds),
    (jobAge ?? age) > maxJobAge && jobFault(jobAge, age),
    ahead && clockFault(ahead),
    keysAge !== null && keysFault(keysAge),
    !bulk &&
      (sendingAge ?? 0) > longestSending &&
      `The job of the webhooks last ended ${sendingAge} seconds ago. The log says why`,
  ];
  return {
    stream_lag_seconds: lag,
    daily_job_age_seconds: jobAge,
    backup_age_seconds: lastRun('backup'),
    last_write_age_seconds: writeAge,
    consumer_age_seconds,
    webhook_lag_seconds: ageOf(sending?.at),
    webhook_messages: {
      delivered: Number(sending?.delivered ?? 0),
      failed: Number(sending?.failed ?? 0),
    },
    names_lag_seconds: ageOf(namesSince) ?? 0,
    mail_server_fault: mailFault() ?? null,
    faults: faults.filter((fault) => typeof fault === 'string'),
  };
}

function writeFault(age: number | null) {
  if (age === null) return 'The service has written nothing yet. It writes every minute';
  if (age <= longestSilence) return undefined;
  return `The last write that the service makes every minute was ${age} seconds ago. The log says why`;
}

/** `age` is that of the first heartbeat, for consumers that have never passed one. */
function consumerFaults(ages: Health['consumer_age_seconds'], age: number) {
  const consumers = Object.keys(longestLags) as Consumer[];
  return consumers.flatMap((consumer) => {
    const lag = ages[consumer] ?? age;
    if (lag <= longestLags[consumer]) return [];
    return [`${consumer} is ${lag} seconds behind the stream. The log says why`];
  });
}

/** A consumer that has passed a heartbeat after the review will not count the review any more. */
function lagFault(lag: number, ages: Health['consumer_age_seconds']) {
  const passed = ages['update-aggregates'] ?? Number.POSITIVE_INFINITY;
  if (passed > lag - samplingSlack) return `The stream is ${lag} seconds behind`;
  return `Lists lack a review of ${lag} seconds ago that the stream has passed. Type: npm run admin -- aggregates rebuild`;
}

function jobFault(jobAge: number | null, age: number) {
  if (jobAge === null) return `The daily job has not run for ${age} seconds, since the first start`;
  return `The daily job last ran ${jobAge} seconds ago`;
}

/** The heartbeat removes the time when a former key is back, or after an hour. */
function keysFault(age: number) {
  return `The signing keys were replaced ${age} seconds ago: tokens and secrets made before are refused. Restore the former key`;
}

/** Such a review leads the lists by date until the clock has reached it. */
function clockFault({ date = '' }: Entry) {
  const [published = '', id] = date.split('#');
  const lead = Math.floor((Date.parse(published) - Date.now()) / 1000);
  return `Review ${id} is dated ${lead} seconds ahead of the clock. Set the clock. If the clock is right, type: npm run admin -- review hide ${id}`;
}

/** Returns the index entry of the newest public review of these dates. */
async function newestReview(range: { low?: string; high?: string }) {
  const options = { descending: true, range, pageSize: 1 };
  const [review] = await collect(queryIndex('all-by-date', 'REVIEW', options), 1);
  return review;
}

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/**
 * Returns the seconds since a review was written. An imported review keeps its date, but its
 * version begins with the time of the import in epoch ms.
 */
async function secondsInTable({ pk, sk, date = '' }: Entry): Promise<number> {
  const review = await getItem({ pk, sk }, { consistent: false });
  if (!review) return 0;
  const published = Date.parse(date.slice(0, date.indexOf('#')));
  return Math.floor((Date.now() - Math.max(published, Number(review.version))) / 1000);
}

function ageOf(at: unknown): number | null {
  return typeof at === 'string' ? Math.floor((Date.now() - Date.parse(at)) / 1000) : null;
}
