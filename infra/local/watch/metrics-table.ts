import { existsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { readLength } from '../../../shared/base/list/totals.ts';
import { countWaiting } from '../../../shared/core/report/desk.ts';
import { countReviews } from '../../../shared/core/review/review-list.ts';
import { type Health, readHealth } from '../../../shared/features/health/public.ts';
import { oldestNotice } from '../../../shared/features/notices/public.ts';

// The metrics that are read from the table: ages, sizes and open cases.

/** Milliseconds for which a reading is served again. It costs up to twenty read units. */
const cached = 30_000;
/** In milliseconds: a scrape does not wait longer for the table. */
const patience = 3_000;

interface Reading {
  health: Health;
  openCases: number;
  reviews: number;
  accounts: number;
  /** Time (epoch ms) of the oldest notice, if any. */
  oldest: number | undefined;
}

/**
 * Registers the metrics of the table and of its database file, if given. Call the result before the
 * metrics are read. If the table cannot be read, the metrics of the table are absent, except for
 * `review_table_readable`.
 */
export function tableGauges(registry: Registry, file: string | undefined): () => Promise<void> {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const readable = gauge('review_table_readable', '1 if the table could be read, otherwise 0.');
  const databaseBytes = gauge(
    'review_database_bytes',
    'Size of the database with its log on the disk.',
  );
  const lag = new Gauge({
    name: 'review_consumer_lag_seconds',
    help: 'Age of the newest heartbeat that a consumer of the stream has passed. Up to 60 if it keeps up.',
    labelNames: ['consumer'],
    registers,
  });
  const ofTable = {
    reviews: gauge('review_public_reviews', 'Public reviews.'),
    accounts: gauge('review_accounts', 'Accounts.'),
    openCases: gauge(
      'review_open_cases',
      'Cases and names that wait for moderators. 100 stands for 100 or more.',
    ),
    faults: gauge('review_health_faults', 'Faults that /ws/health reports. 0 if all is well.'),
    streamLag: gauge(
      'review_stream_lag_seconds',
      'Age of the oldest sampled review that lists lack, or 0.',
    ),
    webhookLag: gauge(
      'review_webhook_lag_seconds',
      'Time since no account waited for its first message of a run. Up to 60.',
    ),
    noticesLag: gauge(
      'review_notices_lag_seconds',
      'Age of the oldest notice that waits to be mailed, or 0. Up to 3,600 if mails are sent.',
    ),
    lastWrite: gauge('review_last_write_age_seconds', 'Age of the newest heartbeat.'),
    dailyJob: gauge('review_daily_job_age_seconds', 'Time since the daily job ran.'),
    backup: gauge('review_backup_age_seconds', 'Time since the last backup.'),
  };

  let reading: Promise<Reading> | undefined;
  let readUntil = 0;
  const readCached = () => {
    if (reading === undefined || performance.now() > readUntil) {
      readUntil = performance.now() + cached;
      reading = inTime(readTable());
    }
    return reading;
  };

  return async () => {
    if (file !== undefined) databaseBytes.set(sizeOf(file));
    for (const each of Object.values(ofTable)) each.remove();
    lag.reset();
    try {
      const { health, oldest, ...counts } = await readCached();
      readable.set(1);
      const values: Record<keyof typeof ofTable, number | null> = {
        ...counts,
        faults: health.faults.length,
        streamLag: health.stream_lag_seconds,
        webhookLag: health.webhook_lag_seconds,
        noticesLag: oldest === undefined ? 0 : (Date.now() - oldest) / 1000,
        lastWrite: health.last_write_age_seconds,
        dailyJob: health.daily_job_age_seconds,
        backup: health.backup_age_seconds,
      };
      for (const [name, value] of Object.entries(values)) {
        // A gauge without a value is absent.
        if (value !== null) ofTable[name as keyof typeof ofTable].set(value);
      }
      for (const [consumer, age] of Object.entries(health.consumer_age_seconds)) {
        if (age !== null) lag.set({ consumer }, age);
      }
    } catch {
      // /ws/health logs the cause.
      readable.set(0);
    }
  };
}

async function readTable(): Promise<Reading> {
  const [health, openCases, reviews, accounts, oldest] = await Promise.all([
    readHealth(),
    countWaiting(),
    countReviews(),
    readLength('users'),
    oldestNotice(),
  ]);
  return { health, openCases, reviews, accounts, oldest };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(patience, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`no answer within ${patience} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

/** Returns the bytes of a database with its write-ahead log. */
function sizeOf(file: string) {
  const files = [file, `${file}-wal`].filter((each) => existsSync(each));
  return files.reduce((sum, each) => sum + statSync(each).size, 0);
}
