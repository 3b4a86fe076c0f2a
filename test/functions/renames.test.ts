import '../helpers/engine.ts';
import { transact } from '../../shared/base/table/transact.ts';
import { dailyVotesKey, userKey } from '../../shared/core/keys.ts';
import { setModerator } from '../../shared/core/user/name-repository.ts';
import { readItem } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { makeUser, makeUsers, type Person } from '../helpers/world.ts';

let ann: Person;
beforeEach(async () => {
  ann = await makeUser({ display_name: 'Ann' });
});

const nameOf = async ({ id }: Person) => (await readItem(userKey(id)))?.display_name;

/** Changes the name before each transaction of `act`. */
async function withChangingName<T>(act: () => Promise<T>): Promise<T> {
  let count = 0;
  let isChanging = false;
  const sends = beforeSend(async ({ input }) => {
    if (!input.TransactItems || isChanging) return;
    isChanging = true;
    const display_name = `Bea ${++count}`;
    await transact([{ Update: { Key: userKey(ann.id), set: { display_name } } }]);
    isChanging = false;
  });
  try {
    return await act();
  } finally {
    sends.mockRestore();
  }
}

describe('POST /user/me with a new name', () => {
  test('succeeds 15 times at once, beside 15 votes on a review of the person', async () => {
    const id = await ann.publishes();
    const voters = await makeUsers(15);
    const answers = await Promise.all([
      ...voters.map((_, i) => ann.updatesProfile({ display_name: `Ann ${i}` })),
      ...voters.map((voter) => voter.triesToVote(id, { vote: true })),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await nameOf(ann)).toMatch(/^Ann \d+$/);
    const day = new Date().toISOString().slice(0, 10);
    expect(await readItem(dailyVotesKey(ann.id, day))).toMatchObject({ renames: 15 });
  });

  test.each([
    ['another name', { display_name: 'Cleo' }, 'Cleo'],
    ['an address alone', { email: 'ann@example.org' }, 'Bea 1'],
  ])('succeeds with %s while the name changes before each write', async (_, body, expected) => {
    expect(await withChangingName(() => ann.updatesProfile(body))).toHaveStatus(200);
    expect(await nameOf(ann)).toBe(expected);
  });

  test('asks a moderator, whose names are reserved, to try again while the name changes', async () => {
    await setModerator(ann.id, true);
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 500));
    const answer = await withChangingName(() => ann.updatesProfile({ display_name: 'Cleo' }));
    expect(answer).toMatchObject({
      status: 429,
      body: { error: 'too_many_requests', description: expect.stringContaining('try again') },
      headers: { 'retry-after': '1' },
    });
  });
});
