import { randomUUID } from 'node:crypto';
import { handler as listReviews } from '../../functions/api/list-reviews.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask } from '../helpers/visit.ts';
import { idsOf, makeUsers, reviewBody, visitor } from '../helpers/world.ts';

// Names that clients of CritiqueBrainz send.

const [ann, ben] = await makeUsers(2);
const entity_id = randomUUID();
const mine = await ann.publishes({ entity_id });
const bookEntity = randomUUID();
const book = await ann.publishes({ entity_type: 'bk_author', entity_id: bookEntity });
const liked = book;
await ben.votes(liked);
await ben.publishes();
await applyStream();

async function list(query: Record<string, string | string[]>) {
  const { status, body } = await invoke(listReviews, { query });
  expect({ status, error: body.description }).toEqual({ status: 200 });
  return body;
}

describe('GET /review', () => {
  test('takes release_group=… as the entity, of that type', async () => {
    const body = await list({ release_group: entity_id.toUpperCase() });
    expect(idsOf(body.reviews)).toEqual([mine]);
    // As for entity_id, the answer has the average.
    expect(body.average_rating).toEqual({ rating: 4, count: 1 });
    expect((await list({ release_group: randomUUID() })).count).toBe(0);
    const { reviews } = await list({ bb_author: bookEntity });
    expect(idsOf(reviews)).toEqual([book]);
  });

  test.each(['artist', 'event', 'bk_author', 'bb_edition_group'])(
    'finds no reviews of another type by %s=…',
    async (name) => {
      expect((await list({ [name]: entity_id })).count).toBe(0);
      expect((await list({ [name]: entity_id, entity_type: 'release_group' })).count).toBe(1);
    },
  );

  test('takes entity_id if both are there', async () => {
    const both = { release_group: randomUUID(), entity_id };
    expect(idsOf((await list(both)).reviews)).toEqual([mine]);
  });

  test.each([
    ['rating', 'popularity'],
    ['created', 'published_on'],
  ])('sorts by %s as by %s', async (older, name) => {
    for (const sort_order of ['asc', 'desc']) {
      const idsBy = async (sort: string) => idsOf((await list({ sort, sort_order })).reviews);
      expect(await idsBy(older)).toEqual(await idsBy(name));
    }
    expect((await list({ sort: 'rating' })).reviews[0].id).toBe(liked);
    expect((await list({ sort: 'created' })).reviews[0].id).not.toBe(liked);
    const answer = await invoke(listReviews, { query: { sort: 'votes' } });
    expect(answer).toMatchObject(invalid('sort must be one of popularity, published_on'));
  });

  test('refuses two entities, and one that is no UUID', async () => {
    const queries: Record<string, string | string[]>[] = [
      { release_group: entity_id, artist: randomUUID() },
      { release_group: [entity_id, entity_id] },
    ];
    for (const query of queries) {
      const answer = await invoke(listReviews, { query });
      expect(answer).toMatchObject(invalid('entity_id must be sent only once'));
    }
    const answer = await invoke(listReviews, { query: { release_group: 'x' } });
    expect(answer).toMatchObject(invalid('entity_id must be a UUID'));
  });

  test('takes the names of types and databases', async () => {
    const { reviews } = await list({ entity_type: 'bb_author' });
    expect(idsOf(reviews)).toEqual([book]);
    expect(reviews[0].entity_type).toBe('bk_author');
    expect((await list({ entity_type: 'bookbrainz' })).count).toBe(1);
    expect((await list({ entity_type: 'musicbrainz' })).count).toBe(2);
    const answer = await invoke(listReviews, { query: { entity_type: 'bb_album' } });
    expect(answer.body.description).toMatch(/^entity_type must be one of .*bk_author/);
    expect(answer.body.description).not.toMatch(/bb_|brainz/);
  });
});

describe('POST /review', () => {
  test.each([
    ['bb_edition_group', 'bk_edition_group'],
    ['bb_literary_work', 'bk_literary_work'],
    ['bb_author', 'bk_author'],
    ['bb_series', 'bk_series'],
  ])('stores %s as %s', async (entity_type, stored) => {
    const { status, body } = await ann.triesToPublish(reviewBody({ entity_type }));
    expect(status).toBe(200);
    expect((await visitor.reads(body.id)).body.review.entity_type).toBe(stored);
  });

  test.each(['bb_artist', 'bb_', 'BB_author'])('refuses %s', async (entity_type) => {
    const answer = await ann.triesToPublish(reviewBody({ entity_type }));
    expect(answer).toMatchObject({ status: 400 });
  });
});

test('the form of a review takes bb_ in its link', async () => {
  const query = { entity_id: randomUUID(), entity_type: 'bb_author' };
  const { status, html } = await ask('show-review-form', ben, { query });
  expect(status).toBe(200);
  expect(html).toContain('bk_author');
  expect(html).not.toContain('bb_author');
});
