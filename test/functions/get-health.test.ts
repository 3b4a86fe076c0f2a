import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/get-health.ts';
import { handler as dailyJob } from '../../functions/background/expire-vote-counters.ts';
import { handler as sendHeartbeat } from '../../functions/background/send-heartbeat.ts';
import { lastRunKey, recordRun } from '../../shared/base/background/last-run.ts';
import { batchDelete } from '../../shared/base/table/batch.ts';
import { table } from '../../shared/base/table/client.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { queueEntities } from '../../shared/features/names/queue.ts';
import { beginBulk, isEmptyTable } from '../../shared/features/transfer/bulk.ts';
import { webhookRunKey } from '../../shared/features/webhooks/kinds.ts';
import { recordSending } from '../../shared/features/webhooks/run.ts';
import { restore, stopClock } from '../helpers/clock.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream, readStream } from '../helpers/stream.ts';
import { makeUser, reviewBody } from '../helpers/world.ts';

const { now: realNow } = Date;

/** Sets the clock ahead of the real one, and changes nothing else. */
function wait(seconds: number) {
  const now = realNow() + seconds * 1000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
}

async function refusal() {
  const { status, headers, body } = await invoke(handler);
  expect(status).toBe(503);
  expect(headers['cache-control']).toBe('no-store');
  expect(body.error).toBe('service_unavailable');
  return body.description;
}

beforeEach(() => {
  silence('info');
});

/** The service works up to this many seconds ahead of the real clock. */
async function beat(seconds = 0) {
  stopClock(realNow() + seconds * 1000);
  await sendHeartbeat();
  jest.useRealTimers();
  await applyStream();
}

test('health records do not make a table non-empty for imports and the demo', async () => {
  await Promise.all([recordRun('daily-job'), recordRun('backup')]);
  const end = await beginBulk();
  expect(await isEmptyTable()).toBe(true);
  await end();
  await batchDelete([lastRunKey('daily-job'), lastRunKey('backup')]);
});

test('returns 503 before the first heartbeat', async () => {
  expect(await refusal()).toBe('The service has written nothing yet. It writes every minute');
});

describe('GET /health', () => {
  beforeAll(() => beat());

  test('is healthy with an empty table, before the daily job has run', async () => {
    const { status, headers, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      status: 'ok',
      stream_lag_seconds: 0,
      daily_job_age_seconds: null,
      backup_age_seconds: null,
      last_write_age_seconds: expect.any(Number),
      consumer_age_seconds: { 'update-aggregates': expect.any(Number), eraser: expect.any(Number) },
      webhook_lag_seconds: null,
      webhook_messages: { delivered: 0, failed: 0 },
      names_lag_seconds: 0,
      mail_server_fault: null,
    });
    expect(body.last_write_age_seconds).toBeLessThan(30);
    expect(body.consumer_age_seconds.eraser).toBeLessThan(30);
  });

  test('returns 503 when the job of the webhooks has not ended for ten minutes', async () => {
    await beat();
    stopClock(realNow() - 590_000);
    await recordSending(realNow() - 590_000);
    restore();
    expect((await invoke(handler)).body.webhook_lag_seconds).toBeGreaterThanOrEqual(590);
    stopClock(realNow() - 605_000);
    await recordSending(realNow() - 605_000);
    restore();
    expect(await refusal()).toMatch(
      /^The job of the webhooks last ended 60\d seconds ago\. The log says why$/,
    );
    await batchDelete([webhookRunKey]);
  });

  test('is well while webhooks lag, because their receivers are clients', async () => {
    await beat();
    await recordSending(realNow() - 7200_000);
    const { status, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(body.webhook_lag_seconds).toBeGreaterThanOrEqual(7200);
    await batchDelete([webhookRunKey]);
  });

  test('says how long a name waits for its database, which is no fault of the service', async () => {
    await beat();
    process.env.MUSICDB_API = 'http://127.0.0.1:9/{type}/{id}';
    process.env.MUSICDB_PAGE = 'https://music.example/{type}/{id}';
    await queueEntities([{ entity_id: randomUUID(), entity_type: 'work' }]);
    wait(120);
    const { status, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(body.names_lag_seconds).toBeGreaterThanOrEqual(120);
    delete process.env.MUSICDB_API;
    expect((await invoke(handler)).body.names_lag_seconds).toBe(0);
  });

  test('returns 503 three minutes after the last write, and not before', async () => {
    await beat();
    wait(150);
    expect((await invoke(handler)).body.last_write_age_seconds).toBeGreaterThanOrEqual(150);
    wait(200);
    expect(await refusal()).toMatch(
      /^The last write that the service makes every minute was 20\d seconds ago\. The log says why$/,
    );
  });

  test('returns 503 for a consumer that follows no more, within its own limit', async () => {
    await beat();
    // Written, but read by no consumer.
    stopClock(realNow() + 240_000);
    await sendHeartbeat();
    wait(240);
    expect(await refusal()).toMatch(
      /^update-aggregates is 24\d seconds behind the stream\. The log says why$/,
    );
    stopClock(realNow() + 4000_000);
    await sendHeartbeat();
    wait(4000);
    expect(await refusal()).toMatch(/update-aggregates is .* eraser is 400\d seconds behind/);
    restore();
    await beat();
    expect(await invoke(handler)).toHaveStatus(200);
  });

  test('records the last of several heartbeats that a consumer passes at once', async () => {
    const times = [30, 10].map((seconds) => realNow() - seconds * 1000);
    for (const time of times) {
      stopClock(time);
      await sendHeartbeat();
    }
    jest.useRealTimers();
    await applyStream();
    const last = new Date(Number(times[1])).toISOString();
    for (const consumer of ['update-aggregates', 'eraser']) {
      expect(await readItem(lastRunKey(consumer))).toMatchObject({ at: last });
    }
    await beat();
  });

  test('counts the age of a job that never ran from the first heartbeat of the table', async () => {
    await batchDelete([lastRunKey('daily-job'), lastRunKey('heartbeat')]);
    await beat();
    await beat(27 * 3600);
    wait(27 * 3600);
    expect(await refusal()).toMatch(
      /^The daily job has not run for 97\d{3} seconds, since the first start$/,
    );
    restore();
    await beat();
  });

  test('counts a consumer that never passed a heartbeat from the first one', async () => {
    await batchDelete([lastRunKey('eraser')]);
    const long = new Date(realNow() - 7200_000).toISOString();
    await setAttributes(lastRunKey('heartbeat'), { since: long });
    await readStream();
    expect(await refusal()).toMatch(/^eraser is 72\d\d seconds behind the stream/);
    await beat();
    expect(await invoke(handler)).toHaveStatus(200);
  });

  test('answers within three seconds while the database does not', async () => {
    const logged = silence('error');
    jest.spyOn(table, 'send').mockImplementation(() => new Promise(() => {}));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const refused = refusal();
    await jest.advanceTimersByTimeAsync(2_900);
    expect(await refused).toBe('The database cannot be read');
    jest.useRealTimers();
    expect(logged).toHaveBeenCalledTimes(1);
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
    await beat(25 * 3600);
    wait(25 * 3600);
    expect(await invoke(handler)).toHaveStatus(200);
    await beat(27 * 3600);
    wait(27 * 3600);
    expect(await refusal()).toMatch(/^The daily job last ran \d+ seconds ago$/);
    restore();
    await beat();
  });

  test('returns 503 while an import is unfinished, and does not blame the consumers', async () => {
    const finish = await beginBulk();
    const sentence = 'An import is not finished. Lists and counts are incomplete until it is';
    expect(await refusal()).toBe(sentence);
    // The stream is off during an import, so the consumers are late while the service writes.
    stopClock(realNow() + 4000_000);
    await sendHeartbeat();
    wait(4000);
    expect(await refusal()).toBe(sentence);
    restore();
    await finish();
    await beat();
    expect(await invoke(handler)).toHaveStatus(200);
  });

  test('returns 503 for any database failure, and logs the cause', async () => {
    const logged = silence('error');
    const failure = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    jest.spyOn(table, 'send').mockImplementation(() => Promise.reject(failure));
    expect(await refusal()).toBe('The database cannot be read');
    expect(logged).toHaveBeenCalledTimes(1);
  });

  describe('with reviews', () => {
    beforeAll(async () => {
      await (await makeUser()).publishes();
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
      await author.publishes();
      wait(135);
      await author.publishes();
      expect(await refusal()).toMatch(/^The stream is 13\d seconds behind$/);
    });

    test('names the remedy when the stream has passed a review without counting it', async () => {
      await (await makeUser()).publishes();
      // The records are lost.
      await readStream();
      await beat(130);
      wait(135);
      expect(await refusal()).toMatch(
        /^Lists lack a review of 13\d seconds ago that the stream has passed\. Type: npm run admin -- aggregates rebuild$/,
      );
      jest.restoreAllMocks();
      await rebuildTotals();
      wait(135);
      expect(await invoke(handler)).toHaveStatus(200);
    });

    test('compares the newest review with the clock', async () => {
      const review_id = await (await makeUser()).publishes();
      await applyStream();
      const dated = async (seconds: number) => {
        const date = `${new Date(realNow() + seconds * 1000).toISOString()}#${review_id}`;
        await setAttributes(reviewKey(review_id), { date });
      };
      await dated(280);
      expect(await invoke(handler)).toHaveStatus(200);
      const day = 86_400;
      await dated(40 * day + 5);
      expect(await refusal()).toMatch(
        new RegExp(
          `^Review ${review_id} is dated 345600\\d seconds ahead of the clock\\. Set the clock\\. If the clock is right, type: npm run admin -- review hide ${review_id}$`,
        ),
      );
      await dated(-10);
      expect(await invoke(handler)).toHaveStatus(200);
    });

    test('counts the age of an imported review from its import, not from its date', async () => {
      await beat(134);
      wait(135);
      const review_id = await (await makeUser()).publishes();
      const date = `${new Date(Date.now() - 128_000).toISOString()}#${review_id}`;
      await setAttributes(reviewKey(review_id), { date });
      expect(await refusal()).toMatch(/ a review of 12\d seconds ago /);
      await setAttributes(reviewKey(review_id), { version: Date.now() });
      expect(await invoke(handler)).toHaveStatus(200);
    });
  });

  test('says that the disk is full as soon as a write has found it so, until one succeeds', async () => {
    silence('error');
    await beat();
    const author = await makeUser();
    const full = Object.assign(new Error('The disk is full'), { name: 'InternalServerError' });
    const spy = beforeSend(({ input }) => {
      if (input.TransactItems) throw full;
    });
    const { status, headers, body } = await author.triesToPublish(reviewBody());
    spy.mockRestore();
    expect([status, headers['retry-after']]).toEqual([503, '60']);
    expect(body).toMatchObject({
      error: 'service_unavailable',
      description:
        'The disk of this service is full, so nothing can be saved until its operator makes room',
    });
    expect(await refusal()).toBe('The disk is full, and nothing can be saved. Make room');
    await beat();
    expect(await invoke(handler)).toHaveStatus(200);
  });
});
