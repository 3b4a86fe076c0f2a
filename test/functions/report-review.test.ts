import '../helpers/engine.ts';
import { measure } from '../../bin/bench/measure.ts';
import { handler as expire } from '../../functions/background/expire-vote-counters.ts';
import { collect } from '../../shared/base/table/query.ts';
import { caseKey, dailyVotesKey, reportKey } from '../../shared/core/keys.ts';
import { listReports } from '../../shared/core/report/report-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { silence } from '../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { makeUser, makeUsers } from '../helpers/world.ts';

const author = await makeUser();
const reader = await makeUser();

describe('POST /review/{review_id}/report', () => {
  test('files a report, once', async () => {
    const id = await author.publishes();
    const body = { message: 'Request processed successfully' };
    const answer = await reader.reports(id, { reason: 'An advertisement' });
    expect(answer).toMatchObject({ status: 200, body });
    const stored = await readItem(reportKey(id, reader.id));
    expect(stored).toMatchObject({ review_id: id, user_id: reader.id, reason: 'An advertisement' });

    expect(await reader.reports(id, { reason: 'Another reason' })).toHaveStatus(200);
    expect(await readItem(reportKey(id, reader.id))).toEqual(stored);
    const other = await makeUser();
    await other.reports(id, {});
    const reports = (await collect(listReports())).filter(({ review_id }) => review_id === id);
    expect(reports.map(({ user_id, reason }) => [user_id, reason])).toEqual([
      [reader.id, 'An advertisement'],
      [other.id, 'Spam'],
    ]);
  });

  test('costs the same however many have reported', async () => {
    const id = await author.publishes();
    for (const { caller } of await makeUsers(3)) {
      const request = { method: 'POST', caller, path: { review_id: id }, body: {} };
      // One unit more is written than by a user who voted or reported earlier that day.
      const cost = { read: 6, write: 16, roundTrips: 4 };
      expect(await measure('report-review', request)).toMatchObject({ status: 200, ...cost });
    }
  });

  test.each([
    ['Noob', 0, 10],
    ['Apprentice', 50, 50],
    ['Sorcerer', 1000, 200],
    ['brigaded account', -24, 10],
  ])('a %s with karma %d can report %d reviews a day', async (_, karma, limit) => {
    const user = await makeUser({ karma });
    const counter = dailyVotesKey(user.id, new Date().toISOString().slice(0, 10));
    await setAttributes(counter, { reports: limit - 1 });
    expect(await user.reports(await author.publishes(), {})).toHaveStatus(200);
    const last = await author.publishes();
    const { status, body, headers } = await user.reports(last, {});
    const description = `With your karma you may report ${limit} reviews a day (UTC)`;
    expect(status).toBe(403);
    expect(body).toEqual({ error: 'limit_exceeded', description });
    expect(headers['ratelimit-policy']).toBe(`"reports";q=${limit};w=86400`);
    expect(headers.ratelimit).toMatch(/^"reports";r=0;t=\d+$/);
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect(await readItem(reportKey(last, user.id))).toBeUndefined();
    expect(await readItem(caseKey(last))).toBeUndefined();
  });

  test('returns what is left of the daily limit, which votes do not change', async () => {
    stopClock(Date.parse('2026-11-20T22:59:58.400Z'));
    const user = await makeUser();
    const ids = await Promise.all((await makeUsers(11)).map((each) => each.publishes()));
    const told = async (id = '') => {
      const { status, headers } = await user.reports(id, {});
      const { 'ratelimit-policy': policy, ratelimit, 'retry-after': wait } = headers;
      expect(policy).toBe('"reports";q=10;w=86400');
      return [status, ratelimit, wait];
    };
    await user.votes(`${ids[0]}`);
    for (const [i, id] of ids.slice(0, 10).entries()) {
      expect(await told(id)).toEqual([200, `"reports";r=${9 - i};t=3602`, undefined]);
      // Repeating the report costs none.
      expect(await told(id)).toEqual([200, `"reports";r=${9 - i};t=3602`, undefined]);
    }
    expect(await told(ids[10])).toEqual([403, '"reports";r=0;t=3602', '3602']);
    expect(await told(ids[0])).toEqual([200, '"reports";r=0;t=3602', undefined]);
    await user.votes(`${ids[1]}`);
    const counter = await readItem(dailyVotesKey(user.id, '2026-11-20'));
    expect(counter).toMatchObject({ count: 2, cast: 2, reports: 10 });
    stopClock(Date.parse('2026-11-21T00:00:00.000Z'));
    expect(await told(ids[10])).toEqual([200, '"reports";r=9;t=86400', undefined]);
    // A month later both counters have expired.
    stopClock(Date.parse('2027-01-01T00:00:00.000Z'));
    silence('info');
    await expire();
    jest.useRealTimers();
    const items = await scanTable();
    expect(items.filter(({ pk, sk }) => pk.includes(user.id) && /^VOTES/.test(sk))).toEqual([]);
  });

  test('never files more than the limit in parallel', async () => {
    const user = await makeUser();
    const ids = await Promise.all((await makeUsers(25)).map((each) => each.publishes()));
    const answers = await Promise.all(ids.map((id) => user.reports(id, {})));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 403)).toHaveLength(15);
    const filed = await Promise.all(ids.map((id) => readItem(reportKey(id, user.id))));
    expect(filed.filter(Boolean)).toHaveLength(10);
  });
});
