import '../helpers/engine.ts';
import { type Cost, measure, measureRun } from '../../bin/bench/measure.ts';
import { findPublicReviews } from '../../shared/core/review/read-reviews.ts';
import { imports, textOf } from '../helpers/transfer.ts';
import { makeUser, makeUsers } from '../helpers/world.ts';

describe('GET /reviews of the longest texts', () => {
  const lookUp = (ids: readonly string[]) =>
    measure('batch-get-reviews', { query: { review_ids: ids.join() } });

  function expectRefused({ status, body, read }: Cost) {
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_request' });
    expect(body.description).toMatch(/^review_ids must hold fewer ids/);
    expect(read).toBeLessThanOrEqual(200);
  }

  test.each([
    ['of four bytes a character', '🎷'.repeat(5_000)],
    ['of six bytes a character in JSON', `x${'\u0001'.repeat(4_999)}`],
    ['with quotes', '"'.repeat(4_999).concat('x')],
  ])('answers 25 of the longest reviews that people write, %s', async (_, text) => {
    const people = await makeUsers(25);
    const ids = [];
    for (const person of people) ids.push(await person.publishes({ text, rating: null }));
    const { status, body, read, roundTrips } = await lookUp(ids);
    expect(status).toBe(200);
    expect(Object.keys(body.reviews).toSorted()).toEqual(ids.toSorted());
    expect(body.reviews[`${ids[7]}`].text).toBe(text);
    expect(read).toBeLessThanOrEqual(200);
    expect(roundTrips).toBe(2);
  });

  test('says that 25 imported ones are too many, and answers each alone and some together', async () => {
    const text = textOf(300_000);
    const ids = await imports(await makeUsers(25), text);
    expectRefused(await lookUp(ids));
    const one = await lookUp(ids.slice(0, 1));
    expect(one).toMatchObject({ status: 200, roundTrips: 3 });
    expect(Object.values<{ text: string }>(one.body.reviews)[0]?.text).toBe(text);
    const two = await lookUp(ids.slice(0, 2));
    expect([two.status, Object.keys(two.body.reviews).length]).toEqual([200, 2]);
  });

  test('answers the longest one that an import keeps', async () => {
    const text = '\u0001'.repeat(64_980);
    const [id = ''] = await imports([await makeUser()], text);
    const { status, body } = await lookUp([id]);
    expect([status, body.reviews[id].text]).toEqual([200, text]);
  });

  test('counts the bytes of the answer, which may be six times those of the texts', async () => {
    // 64 KB each: 17 units, and 390 KB of JSON.
    expectRefused(await lookUp(await imports(await makeUsers(3), '\u0001'.repeat(64_900))));
  });

  test('reads texts of others beside it: people who vote on them pay for no text', async () => {
    const ids = await imports(await makeUsers(25), textOf(300_000));
    const { result, read } = await measureRun(() => findPublicReviews(ids));
    expect(result).toHaveLength(25);
    expect(read).toBeLessThanOrEqual(25 * 3);
  });
});
