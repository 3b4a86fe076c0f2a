import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/get-me.ts';
import { deleteAccount } from '../../shared/features/account/delete-account.ts';
import { findOrCreateUser } from '../../shared/features/account/identity-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { makeUser, makeUsers, type Person } from '../helpers/world.ts';

const get = async ({ caller }: Pick<Person, 'caller'>, inc?: string | string[]) =>
  invoke(handler, { caller, query: inc === undefined ? undefined : { inc } });

describe('GET /user/me', () => {
  test('returns the private profile that the spec describes', async () => {
    const identity = { issuer: 'https://id.example', subject: randomUUID() };
    const profile = { display_name: 'Ann ✓', email: 'a@example.com', musicdb_username: 'ann' };
    const user = await findOrCreateUser({ ...identity, ...profile });
    expect((await get({ caller: { user_id: user.id, client_id: 'x', scope: '' } })).body).toEqual({
      user: {
        id: user.id,
        ...profile,
        created: new Date(user.created).toUTCString(),
        karma: 0,
        user_type: 'Noob',
      },
    });
  });

  test.each([
    [49, 'Noob', 10],
    [50, 'Apprentice', 50],
  ])('derives the user type from a karma of %i', async (karma, label, votes_per_day) => {
    const user = await makeUser({ karma });
    expect((await get(user)).body.user).toMatchObject({ karma, user_type: label });
    const { body } = await get(user, 'user_type');
    expect(body.user).toMatchObject({ karma, user_type: { label, votes_per_day } });
    expect(body.user).not.toHaveProperty('stats');
  });

  test('counts reviews and votes by day, week and month', async () => {
    const [user, author] = await makeUsers(2);
    // The last moments before the month, the seven days and the day, and the first moments of each.
    const times = [
      '2026-10-31T23:59:59.999Z',
      '2026-11-01T00:00:00.000Z',
      '2026-11-13T23:59:59.999Z',
      '2026-11-14T00:00:00.000Z',
      '2026-11-19T23:59:59.999Z',
      '2026-11-20T00:00:00.000Z',
      '2026-11-20T12:00:00.000Z',
    ];
    for (const time of times) {
      stopClock(Date.parse(time));
      const own = await user.publishes();
      const others = await author.publishes();
      await user.votes(others);
      await author.votes(own);
      await user.publishes({ is_draft: true });
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

  test('counts votes by the day last cast, without withdrawn votes', async () => {
    const [voter, author] = await makeUsers(2);
    stopClock(Date.parse('2026-11-18T12:00:00.000Z'));
    const ids = [await author.publishes(), await author.publishes(), await author.publishes()];
    for (const id of ids) await voter.votes(id);
    stopClock(Date.parse('2026-11-20T12:00:00.000Z'));
    const [changed = '', withdrawn = ''] = ids;
    await voter.votes(changed, 'down');
    await voter.votes(changed, 'up');
    expect(await voter.withdrawsVote(withdrawn)).toHaveStatus(200);
    const { stats } = (await get(voter, 'stats')).body.user;
    expect(stats).toMatchObject({ votes_today: 1, votes_last_7_days: 2, votes_this_month: 2 });
  });

  test('refuses a deleted account', async () => {
    const user = await makeUser();
    await deleteAccount(user.id);
    expect(await get(user, 'stats')).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
      headers: { 'www-authenticate': expect.stringContaining('error="invalid_token"') },
    });
  });
});
