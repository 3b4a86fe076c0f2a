import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { handler as dailyJob } from '../../functions/expire-vote-counters.ts';
import { handler } from '../../functions/get-health.ts';
import { recordRun } from '../../shared/health/health.ts';
import { batchDelete } from '../../shared/table/batch.ts';
import { table } from '../../shared/table/client.ts';
import { lastRunKey } from '../../shared/table/keys.ts';
import { beginBulk, isEmptyTable } from '../../shared/transfer/bulk.ts';
import { restore } from '../helpers/clock.ts';
import { makeReview, makeUser } from '../helpers/fixtures.ts';
import { invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';

const { now: realNow } = Date;

/** Sets the clock ahead of the real one, and changes nothing else. */
function wait(seconds: number): void {
  const now = realNow() + seconds * 1000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
}

async function refusal(): Promise<string> {
  const { status, headers, body } = await invoke(handler);
  expect([status, headers['cache-control']]).toEqual([503, 'no-store']);
  expect(body.error).toBe('service_unavailable');
  return body.description;
}

beforeEach(() => {
  jest.spyOn(console, 'info').mockImplementation(() => {});
});
afterEach(restore);

test('health records do not make a table non-empty for imports and the demo', async () => {
  await Promise.all([recordRun('daily-job'), recordRun('backup')]);
  const end = await beginBulk();
  expect(await isEmptyTable()).toBe(true);
  await end();
  await batchDelete([lastRunKey('daily-job'), lastRunKey('backup')]);
});

describe('GET /health', () => {
  test('is healthy with an empty table, before any job has run', async () => {
    const { status, headers, body } = await invoke(handler);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      status: 'ok',
      stream_lag_seconds: 0,
      daily_job_age_seconds: null,
      backup_age_seconds: null,
    });
  });

  test('reports the age of the last daily job and the last backup', async () => {
    await dailyJob();
    await recordRun('backup');
    wait(90);
    const { body } = await invoke(handler);
    for (const age of [body.daily_job_age_seconds, body.backup_age_seconds]) {
      expect(age).toBeGreaterThanOrEqual(90);
      expect(age).toBeLessThan(100);
    }
  });

  test('returns 503 once the daily job is over a day late', async () => {
    await dailyJob();
    wait(25 * 3600);
    expect((await invoke(handler)).status).toBe(200);
    wait(27 * 3600);
    expect(await refusal()).toMatch(/^The daily job last ran \d+ seconds ago$/);
  });

  test('returns 503 while an import is unfinished', async () => {
    const finish = await beginBulk();
    expect(await refusal()).toMatch(/^An import is not finished/);
    await finish();
    expect((await invoke(handler)).status).toBe(200);
  });

  test('returns 503 for any database failure, and logs the cause', async () => {
    const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
    const failure = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    jest.spyOn(table, 'send').mockImplementation(() => Promise.reject(failure));
    expect(await refusal()).toBe('The database cannot be read');
    expect(logged).toHaveBeenCalledTimes(1);
  });

  describe('with reviews', () => {
    beforeAll(async () => {
      await makeReview(await makeUser());
    });

    test('reports the lag of the stream, and fails from two minutes on', async () => {
      expect((await invoke(handler)).body.stream_lag_seconds).toBe(0);
      wait(60);
      expect((await invoke(handler)).body.stream_lag_seconds).toBeGreaterThanOrEqual(60);
      wait(130);
      expect(await refusal()).toMatch(/^The stream is 13\d seconds behind$/);
      jest.restoreAllMocks();
      await applyStream();
      wait(130);
      expect((await invoke(handler)).body).toMatchObject({ status: 'ok', stream_lag_seconds: 0 });
    });

    test('reports a lag even while new reviews arrive', async () => {
      const author = await makeUser();
      await makeReview(author);
      wait(135);
      await makeReview(author);
      expect(await refusal()).toMatch(/^The stream is 13\d seconds behind$/);
    });
  });
});
