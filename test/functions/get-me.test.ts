import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/get-me.ts';
import { userKey } from '../../shared/table/keys.ts';
import { deleteAccount } from '../../shared/user/delete-account.ts';
import { findOrCreateUser } from '../../shared/user/identity-repository.ts';
import {
  makeReview,
  makeUser,
  makeUsers,
  setAttributes,
  type TestUser,
  vote,
} from '../fixtures.ts';
import { invoke } from '../invoke.ts';
import { stopClock } from '../oauth/clock.ts';

afterEach(() => {
  jest.useRealTimers();
});

async function get({ caller }: Pick<TestUser, 'caller'>, inc?: string | string[]) {
  return invoke(handler, { caller, query: inc === undefined ? undefined : { inc } });
}

describe('GET /user/me', () => {
  test('gives the own profile of the spec', async () => {
    const identity = { issuer: 'https://id.example', subject: randomUUID() };
    const profile = { display_name: 'Ann ✓', email: 'a@example.com', musicdb_username: 'ann' };
    const user = await findOrCreateUser({ ...identity, ...profile });
    const caller = { user_id: user.id, client_id: 'x', scope: '' };
    expect((await get({ caller })).body).toEqual({
      user: {
        id: user.id,
        ...profile,
        created: new Date(user.created).toUTCString(),
        karma: 0,
        user_type: 'Noob',
      },
    });
  });

  test('gives null for what is not known', async () => {
    const { body } = await get(await makeUser());
    expect(body.user).toMatchObject({ email: null, musicdb_username: null });
  });

  test.each([
    [-21, 'Blocked', 0],
    [-20, 'Spammer', 0],
    [-11, 'Spammer', 0],
    [-10, 'Noob', 10],
    [49, 'Noob', 10],
    [50, 'Apprentice', 50],
    [999, 'Apprentice', 50],
    [1000, 'Sorcerer', 200],
  ])('says what a karma of %i makes', async (karma, label, votes_per_day) => {
    const user = await makeUser({ karma });
    expect((await get(user)).body.user).toMatchObject({ karma, user_type: label });
    const { body } = await get(user, 'user_type');
    expect(body.user).toMatchObject({ karma, user_type: { label, votes_per_day } });
    expect(body.user).not.toHaveProperty('stats');
  });

  test.each(['stats,user_type', 'user_type stats', 'stats, user_type,', 'stats user_type stats'])(
    'takes inc=%s',
    async (inc) => {
      const { status, body } = await get(await makeUser(), inc);
      expect(status).toBe(200);
      expect(body.user).toMatchObject({ user_type: { label: 'Noob' }, stats: expect.anything() });
    },
  );

  test.each([['reviews'], ['Stats'], ['stats;user_type'], ['constructor']])(
    'refuses inc=%s',
    async (inc) => {
      const { status, body } = await get(await makeUser(), inc);
      expect({ status, ...body }).toMatchObject({ status: 400, error: 'invalid_request' });
      expect(body.description).toContain('inc');
    },
  );

  test('takes an empty inc, but not two', async () => {
    expect((await get(await makeUser(), '')).status).toBe(200);
    expect((await get(await makeUser(), ['stats', 'stats'])).status).toBe(400);
  });

  test('counts what was published and voted, by day, week and month', async () => {
    const [user, author] = (await makeUsers(2)) as [TestUser, TestUser];
    // A month, a day and a week ago, to the millisecond, and after each.
    const times = [
      '2026-10-31T23:59:59.999Z',
      '2026-11-01T00:00:00.000Z',
      '2026-11-13T11:59:59.999Z',
      '2026-11-13T12:00:00.000Z',
      '2026-11-19T23:59:59.999Z',
      '2026-11-20T00:00:00.000Z',
      '2026-11-20T12:00:00.000Z',
    ];
    for (const time of times) {
      stopClock(Date.parse(time));
      const [own, others] = [await makeReview(user), await makeReview(author)];
      await vote(user, others);
      await vote(author, own);
      await makeReview(user, { is_draft: true });
    }
    expect((await get(user, 'stats')).body.user.stats).toEqual({
      reviews_today: 2,
      reviews_last_7_days: 4,
      reviews_this_month: 6,
      votes_today: 2,
      votes_last_7_days: 4,
      votes_this_month: 6,
    });
  });

  test('refuses who is gone', async () => {
    const user = await makeUser();
    await deleteAccount(user.id);
    expect(await get(user, 'stats')).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
      headers: { 'www-authenticate': expect.stringContaining('error="invalid_token"') },
    });
  });

  test('does not tell others the email address', async () => {
    const { handler: getUser } = await import('../../functions/get-user.ts');
    const user = await makeUser();
    await setAttributes(userKey(user.id), { email: 'secret@example.com' });
    const { body } = await invoke(getUser, { path: { user_id: user.id } });
    expect(JSON.stringify(body)).not.toContain('secret@example.com');
  });
});
