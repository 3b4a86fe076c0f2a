import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/report-review.ts';
import { setHidden } from '../../shared/moderation/decision-repository.ts';
import { listReports } from '../../shared/moderation/report-repository.ts';
import { reportKey, userKey } from '../../shared/table/keys.ts';
import { collect } from '../../shared/table/query.ts';
import {
  makeReview,
  makeUser,
  makeUsers,
  readItem,
  setAttributes,
  type TestUser,
} from '../fixtures.ts';
import { invoke } from '../invoke.ts';

const author = await makeUser();
const reader = await makeUser();

function report(review_id: string, body?: unknown, { caller }: TestUser = reader) {
  return invoke(handler, { method: 'POST', caller, path: { review_id }, body });
}

describe('POST /review/{review_id}/report', () => {
  test('files a report, once', async () => {
    const id = await makeReview(author);
    const { status, body } = await report(id, { reason: 'An advertisement' });
    expect(status).toBe(200);
    expect(body).toEqual({ message: 'Request processed successfully' });
    const stored = await readItem(reportKey(id, reader.id));
    expect(stored).toMatchObject({ review_id: id, user_id: reader.id, reason: 'An advertisement' });

    expect((await report(id, { reason: 'Another reason' })).status).toBe(200);
    expect(await readItem(reportKey(id, reader.id))).toEqual(stored);
    const other = await makeUser();
    await report(id, {}, other);
    const reports = (await collect(listReports())).filter(({ review_id }) => review_id === id);
    expect(reports.map(({ user_id, reason }) => [user_id, reason])).toEqual([
      [reader.id, 'An advertisement'],
      [other.id, 'Spam'],
    ]);
  });

  test('costs the same however many have reported', async () => {
    const id = await makeReview(author);
    for (const { caller } of await makeUsers(3)) {
      const request = { method: 'POST', caller, path: { review_id: id }, body: {} };
      const { status, read, write, roundTrips } = await measure('report-review', request);
      expect({ status, read, write, roundTrips }).toEqual({
        status: 200,
        read: 4,
        write: 11,
        roundTrips: 4,
      });
    }
  });

  test.each([
    ['no body', undefined, 'Spam'],
    ['null', 'null', 'Spam'],
    ['an empty object', {}, 'Spam'],
    ['null for a reason', { reason: null }, 'Spam'],
    ['500 characters', { reason: '🎵'.repeat(500) }, '🎵'.repeat(500)],
  ])('takes %s', async (_, body, reason) => {
    const id = await makeReview(author);
    expect((await report(id, body)).status).toBe(200);
    expect(await readItem(reportKey(id, reader.id))).toMatchObject({ reason });
  });

  test.each([
    ['reason', { reason: 'x'.repeat(501) }],
    ['reason', { reason: 5 }],
    ['reason', { reason: ['Spam'] }],
    ['reason', { reason: '\ud800' }],
    ['The body', []],
    ['The body', '"Spam"'],
    ['The body', '{'],
    ['The body', '{"__proto__":{}}'],
  ])('refuses a bad %s: 400', async (name, body) => {
    const id = await makeReview(author);
    const answer = await report(id, body);
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    expect(answer.body.description).toMatch(new RegExp(`^${name} must `));
    expect(await readItem(reportKey(id, reader.id))).toBeUndefined();
  });

  test('refuses an own review: 400', async () => {
    expect((await report(await makeReview(author), {}, author)).status).toBe(400);
  });

  test('refuses a body of another type: 415', async () => {
    const answer = await invoke(handler, {
      caller: reader.caller,
      path: { review_id: await makeReview(author) },
      body: 'reason=Spam',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.status).toBe(415);
  });

  test('knows no hidden, draft or other review: 404', async () => {
    const hidden = await makeReview(author);
    await setHidden(hidden, true);
    const draft = await makeReview(author, { is_draft: true });
    for (const id of [hidden, draft, randomUUID(), 'x']) {
      expect((await report(id)).status).toBe(404);
      expect((await report(id, {}, author)).status).toBe(404);
    }
  });

  test('refuses without a caller, and one whose account is going: 401', async () => {
    const id = await makeReview(author);
    expect((await invoke(handler, { path: { review_id: id } })).status).toBe(401);
    const going = await makeUser();
    await setAttributes(userKey(going.id), { deleted_at: new Date().toISOString() });
    expect((await report(id, {}, going)).status).toBe(401);
  });
});
