import { readFromCursor, sealCursor } from '../../../../shared/base/list/cursor.ts';

describe('a cursor', () => {
  const byTime = '2026-01-01T00:00:00.000Z#6f1d2c3b-4a59-4e68-8f70-9a8b7c6d5e4f';
  const byRank = { rank: '17' };

  // Anyone can forge such a cursor, because the checksum is not secret. A Query with its key would
  // fail.
  test.each([
    ['popularity', byTime],
    ['published_on', byRank],
  ])('without a sort key of the order by %s is refused: 400', async (sort, place) => {
    const query = { sort };
    const cursor = sealCursor(JSON.stringify(query), [50, place]);
    await expect(
      readFromCursor(query, { cursor, offset: 0, limit: 50 }, () => {
        throw new Error('It was read from');
      }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/^cursor /) });
  });
  test.each([
    ['popularity', byRank, 17n],
    ['published_on', byTime, byTime],
  ])('with a sort key of the order by %s is read from there', async (sort, place, after) => {
    const query = { sort };
    const cursor = sealCursor(JSON.stringify(query), [50, place]);
    const read = async (position: unknown) => ({ position, next: undefined });
    const { page } = await readFromCursor(query, { cursor, offset: 0, limit: 50 }, read);
    expect(page).toMatchObject({ position: { offset: 50, after } });
  });
});
