import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/api/get-entity.ts';
import { databaseTypes } from '../../shared/core/entity/databases.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { invoke } from '../helpers/invoke.ts';
import {
  beginErasure,
  makeLongLists,
  makeUser,
  makeUsers,
  type Person,
  visitor,
} from '../helpers/world.ts';

async function get(entity_id: string, query: Record<string, string> = {}) {
  const { status, body } = await invoke(handler, { path: { entity_id }, query });
  expect({ status, error: body.description }).toEqual({ status: 200 });
  return body;
}

describe('GET /entity/{entity_id}', () => {
  const entity_id = randomUUID();
  let authors: Person[];
  const ids: string[] = [];

  beforeAll(async () => {
    authors = await makeUsers(9);
    const contents = [
      { rating: 5 },
      { rating: 5, text: null, language: 'de' },
      { rating: null, language: 'de' },
      { rating: 1, language: 'ja' },
      // One user calls the entity something else.
      { rating: 4, entity_type: 'artist', language: 'de' },
      { rating: 2, text: null },
      { rating: 4, language: 'de' },
    ];
    for (const [i, content] of contents.entries()) {
      const review = { entity_id, entity_type: 'work', ...content };
      ids.push(await (authors[i] as Person).publishes(review));
    }
    await (authors[7] as Person).publishes({ entity_id, rating: 3, is_draft: true });
    await (authors[8] as Person).publishesHidden({ entity_id, rating: 3 });
    const [a, , c, d] = ids as [string, string, string, string];
    for (const voter of authors.slice(4, 7)) await voter.votes(d);
    for (const voter of authors.slice(4, 6)) await voter.votes(a);
    await (authors[4] as Person).votes(c);
  });

  test('summarizes public reviews', async () => {
    const { entity } = await get(entity_id);
    expect(entity).toEqual({
      id: entity_id,
      entity_type: 'work',
      review_count: 7,
      // (5 + 5 + 1 + 4 + 2 + 4) ÷ 6
      average_rating: { rating: 3.5, count: 6 },
      ratings: { '1': 1, '2': 1, '3': 0, '4': 2, '5': 2 },
      languages: { de: 4, en: 2, ja: 1 },
      state: null,
      leads_to: null,
      led_from: [],
    });
    expect(Object.keys(entity.languages)).toEqual(['de', 'en', 'ja']);
  });

  test('shows the three latest and the three most popular, as GET /review/{review_id} does', async () => {
    const { latest, popular } = await get(entity_id.toUpperCase());
    const show = async (review_id = '') => await visitor.sees(review_id);
    expect(latest).toEqual([await show(ids[6]), await show(ids[5]), await show(ids[4])]);
    expect(popular).toEqual([await show(ids[3]), await show(ids[0]), await show(ids[2])]);
  });

  test('follows a change at once', async () => {
    const author = await makeUser();
    const one = randomUUID();
    const id = await author.publishes({ entity_id: one, entity_type: 'event', rating: 2 });
    await author.edits(id, { rating: 4 });
    expect((await get(one)).entity.ratings).toMatchObject({ '2': 0, '4': 1 });
    await setHidden(id, true);
    const none = { entity: { entity_type: null, review_count: 0 }, latest: [], popular: [] };
    expect(await get(one)).toMatchObject(none);
  });

  test('omits the reviews of an account that is being deleted', async () => {
    const going = await makeUser();
    const one = randomUUID();
    await going.publishes({ entity_id: one });
    await beginErasure(going);
    expect(await get(one)).toMatchObject({ latest: [], popular: [] });
  });

  test('costs little, and the same with 401 reviews as with seven', async () => {
    const few = await measure('get-entity', { path: { entity_id } });
    const path = { entity_id: await makeLongLists(authors[0] as Person) };
    const many = await measure('get-entity', { path });
    expect(many.body.entity.review_count).toBe(401);
    for (const { read, roundTrips } of [few, many]) {
      expect(roundTrips).toBe(2);
      expect(read).toBeLessThanOrEqual(10);
    }
    expect(many.read).toBeLessThanOrEqual(few.read);
    const none = await measure('get-entity', { path: { entity_id: randomUUID() } });
    // Half a unit for each type: only the record of a thing without reviews tells its type.
    expect(none).toMatchObject({ read: 1.5 + databaseTypes.length / 2, roundTrips: 2 });
  });
});
