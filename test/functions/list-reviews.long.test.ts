import { randomUUID } from 'node:crypto';
import { listed } from '../../bin/bench/oracle.ts';
import { handler } from '../../functions/api/list-reviews.ts';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import type { WholeReview } from '../../shared/core/review/review.ts';
import { insertReview } from '../../shared/core/review/review-repository.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { choices } from '../helpers/choices.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers, type Person, reviewBy, text, visitor } from '../helpers/world.ts';

type Query = Record<string, string>;

async function list(query: Query = {}) {
  const { status, body } = await invoke(handler, { query });
  expect({ query, status, error: body.description }).toEqual({ query, status: 200 });
  return body;
}

const idsIn = ({ reviews }: { reviews: { id: string }[] }) => reviews.map(({ id }) => id);

/** Computes a page, the count and the average by reading all reviews. */
function oracle(reviews: readonly WholeReview[], query: Query) {
  const { entity_id, limit = '50', offset = '0' } = query;
  const all = listed(reviews, query);
  return {
    count: all.length,
    ids: all.slice(+offset, +offset + +limit).map(({ id }) => id),
    ...(entity_id && { average_rating: average(reviews, entity_id) }),
  };
}

function average(reviews: readonly WholeReview[], entity_id: string) {
  const ratings = reviews.flatMap((review) =>
    review.entity_id === entity_id && review.rating !== null ? [review.rating] : [],
  );
  const sum = ratings.reduce((total, rating) => total + rating, 0);
  // In tenths, so that binary fractions lose no half.
  const rating = ratings.length === 0 ? null : Math.round((10 * sum) / ratings.length) / 10;
  return { rating, count: ratings.length };
}

describe('GET /review', () => {
  const { random, pick } = choices(1);
  const types: EntityType[] = ['release_group', 'artist', 'event', 'bk_author', 'bk_series'];
  const entities: string[] = Array.from({ length: 12 }, randomUUID);
  const reviews: WholeReview[] = [];
  let users: Person[];

  beforeAll(async () => {
    expect(await list()).toEqual({ count: 0, limit: 50, offset: 0, reviews: [] });
    users = await makeUsers(20);
    const start = Date.UTC(2024, 0, 1);
    const times = Array.from({ length: 60 }, () => start + Math.floor(random() * 1e10));
    const pairs = users.flatMap(({ id }) => entities.map((entity_id) => ({ id, entity_id })));
    for (let i = 0; i < 150; i++) {
      const at = Math.floor(pairs.length * random() ** 2);
      const [{ id, entity_id } = { id: '', entity_id: '' }] = pairs.splice(at, 1);
      const kind = pick(['text', 'rating', 'both']);
      const time = new Date(pick(times)).toISOString();
      const popularity = Math.floor(random() * 7) - 3;
      const review = {
        ...reviewBy(id, {
          entity_id,
          // Now and then a user calls an entity something else.
          entity_type: random() < 0.9 ? types[entities.indexOf(entity_id) % 5] : pick(types),
          text: kind === 'rating' ? null : text,
          rating: kind === 'text' ? null : 1 + Math.floor(random() * 5),
          language: pick(['en', 'en', 'de', 'fr']),
        }),
        created: time,
        last_updated: time,
        published_on: time,
        popularity,
        votes_positive: Math.max(popularity, 0) + 1,
        votes_negative: Math.max(-popularity, 0) + 1,
      };
      reviews.push(review);
    }
    for (let i = 0; i < 150; i += 10) {
      await Promise.all(reviews.slice(i, i + 10).map((review) => insertReview(review)));
    }
    await applyStream();
  });

  test('returns the newest 50 without parameters, as GET /review/{review_id} does', async () => {
    const answer = await list();
    expect(answer).toMatchObject({ count: 150, limit: 50, offset: 0 });
    expect(Object.keys(answer)).toEqual(['count', 'limit', 'offset', 'reviews', 'next']);
    expect(idsIn(answer)).toEqual(oracle(reviews, {}).ids);
    const { body } = await visitor.reads(answer.reviews[7].id);
    expect(answer.reviews[7]).toEqual(body.review);
  });

  test('filters, sorts and pages like a list of everything', async () => {
    const someEntities = [entities[0], entities[5]];
    const someUsers = [users[0]?.id, users[3]?.id];
    const queries: Query[] = [];
    for (const entity_type of ['', 'musicdb', 'bookdb', 'artist', 'bk_series', 'label']) {
      for (const language of ['', 'en', 'de', 'zu']) {
        for (const review_type of ['', 'review', 'rating']) {
          for (const entity_id of ['', pick(someEntities)]) {
            for (const user_id of ['', pick(someUsers)]) {
              const few = entity_id || user_id;
              const rating = few ? pick(['', '1', '5', '4,5', '2,3', '1,2,3,4,5', '3,3']) : '';
              const filter = { entity_type, language, review_type, entity_id, user_id, rating };
              queries.push({
                ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')),
                sort: pick(['popularity', 'published_on']),
                sort_order: pick(['asc', 'desc']),
                limit: pick(['0', '1', '7', '50', '50']),
                offset: few
                  ? pick(['0', '0', '1', '3'])
                  : pick(['0', '1', '20', '49', '100', '149', '150']),
              });
            }
          }
        }
      }
    }
    for (const query of queries) {
      const { average_rating, ...answer } = await list(query);
      const { limit, offset } = query;
      expect({
        query,
        limit: `${answer.limit}`,
        offset: `${answer.offset}`,
        count: answer.count,
        ids: idsIn(answer),
        ...(average_rating && { average_rating }),
      }).toEqual({ query, limit, offset, ...oracle(reviews, query) });
    }
  });

  test.each(['popularity', 'published_on'])(
    'walks through all by %s, in both directions',
    async (sort) => {
      const filters: Query[] = [
        {},
        { review_type: 'review' },
        { entity_type: 'musicdb' },
        { language: 'en', review_type: 'rating' },
      ];
      for (const filter of filters) {
        for (const sort_order of ['asc', 'desc']) {
          const query: Query = { ...filter, sort, sort_order };
          const walked: string[] = [];
          for (let offset = 0; offset < 160; offset += 40) {
            walked.push(...idsIn(await list({ ...query, limit: '40', offset: `${offset}` })));
          }
          const { ids } = oracle(reviews, { ...query, limit: '200' });
          expect({ query, walked }).toEqual({ query, walked: ids });
        }
      }
    },
  );

  test('says what a filter by stars requires, and binds a cursor to it', async () => {
    const { body } = await invoke(handler, { query: { rating: '4' } });
    expect(body.description).toBe('rating must be sent together with entity_id or user_id');
    const user_id =
      users.find(({ id }) => oracle(reviews, { user_id: id, rating: '4,5' }).count > 2)?.id ?? '';
    const query: Query = { user_id, rating: '5,4,4', limit: '1' };
    const { body: first, headers } = await invoke(handler, { query });
    expect(headers.link).toContain('rating=4%2C5');
    expect(first.next).toEqual(expect.any(String));
    const rest = await list({ ...query, rating: '4,5', limit: '50', cursor: first.next });
    const { ids } = oracle(reviews, { user_id, rating: '4,5' });
    expect([...idsIn(first), ...idsIn(rest)]).toEqual(ids);
    const other = { ...query, rating: '4', cursor: first.next };
    expect(await invoke(handler, { query: other })).toHaveStatus(400);
  });

  test('omits hidden and draft reviews, and returns them once restored', async () => {
    const [author, other] = await makeUsers(2);
    const entity_id = randomUUID();
    const of = (language: string) => ({ entity_id, entity_type: 'work', language, rating: 2 });
    const hidden = await author.publishes(of('vi'));
    const draft = await other.publishes({ ...of('vi'), rating: 5, is_draft: true });
    const views: Query[] = [
      { entity_id },
      { user_id: author.id },
      { entity_id, user_id: author.id },
      { language: 'vi' },
      { entity_type: 'work' },
      { entity_type: 'work', language: 'vi', review_type: 'review', sort: 'popularity' },
    ];
    const see = async () => {
      await applyStream();
      return Promise.all(
        views.map(async (query) => {
          const { count, average_rating, ...answer } = await list(query);
          expect(count).toBe(answer.reviews.length);
          return [idsIn(answer), average_rating?.rating];
        }),
      );
    };
    const before = await see();
    expect(before[0]).toEqual([[hidden], 2]);
    expect(before.map(([ids]) => ids)).toEqual(views.map(() => [hidden]));
    expect((await list()).count).toBe(151);

    await setHidden(hidden, true);
    expect((await see()).map(([ids]) => ids)).toEqual(views.map(() => []));
    expect((await see())[0]).toEqual([[], null]);
    expect((await list()).count).toBe(150);
    expect(await list({ user_id: other.id })).toMatchObject({ count: 0, reviews: [] });

    await setHidden(hidden, false);
    expect(await see()).toEqual(before);

    await other.edits(draft, { is_draft: false });
    expect((await see())[0]).toEqual([[draft, hidden], 3.5]);
    expect(await list({ user_id: other.id })).toMatchObject({ count: 1, reviews: [{ id: draft }] });
  });

  test('includes the first review of a new type and language at once', async () => {
    const author = await makeUser();
    const id = await author.publishes({ entity_type: 'label', language: 'el', is_draft: true });
    const views: Query[] = [
      { language: 'el' },
      { entity_type: 'label' },
      { entity_type: 'musicdb', language: 'el' },
      { language: 'el', review_type: 'rating' },
      { entity_type: 'label', language: 'el' },
      { language: 'el', sort: 'popularity' },
    ];
    const see = async () => (await Promise.all(views.map((query) => list(query)))).map(idsIn);
    expect(await see()).toEqual(views.map(() => []));
    await author.edits(id, { is_draft: false });
    expect(await see()).toEqual(views.map(() => [id]));
    await setHidden(id, true);
    await applyStream();
    expect(await see()).toEqual(views.map(() => []));
    await setHidden(id, false);
    expect(await see()).toEqual(views.map(() => [id]));
    await rebuildTotals();
    const published = await author.publishes({ entity_type: 'place', language: 'el' });
    expect(idsIn(await list({ language: 'el' }))).toEqual([published, id]);
  });

  test('pages through 45 reviews of one entity, 7 at a time', async () => {
    const entity_id = randomUUID();
    const authors = await makeUsers(45);
    const made: WholeReview[] = [];
    for (const [i, { id }] of authors.entries()) {
      const review = reviewBy(id, { entity_id, entity_type: 'place', rating: 1 + (i % 5) });
      const published_on = new Date(Date.UTC(2025, 0, 1 + Math.floor(i / 3))).toISOString();
      made.push({ ...review, published_on, popularity: (i * i) % 4 });
    }
    for (const review of made) await insertReview(review);
    for (const sort of ['popularity', 'published_on']) {
      for (const sort_order of ['asc', 'desc']) {
        const walked: string[] = [];
        for (let offset = 0; offset <= 45; offset += 7) {
          const query = { entity_id, sort, sort_order, limit: '7', offset: `${offset}` };
          const answer = await list(query);
          expect(answer).toMatchObject({ count: 45, average_rating: { rating: 3, count: 45 } });
          walked.push(...idsIn(answer));
        }
        expect(walked).toEqual(oracle(made, { entity_id, sort, sort_order, limit: '50' }).ids);
      }
    }
  });

  test('rounds an average to one decimal, halves up', async () => {
    const entity_id = randomUUID();
    const authors = await makeUsers(20);
    // 19 × 2 + 3 = 41, and 41 ÷ 20 = 2.05, which is not a binary fraction.
    for (const [i, author] of authors.entries()) {
      await author.publishes({ entity_id, rating: i === 0 ? 3 : 2 });
    }
    expect((await list({ entity_id })).average_rating).toEqual({ rating: 2.1, count: 20 });
  });
});

describe('include_metadata=true', () => {
  test('adds known metadata of the type that each review gives, and null for the rest', async () => {
    const [user, other] = await makeUsers(2);
    const group = randomUUID();
    const book = randomUUID();
    const label = randomUUID();
    const both = randomUUID();
    await nameEntities({ [group]: 'Blue', [both]: 'Both' });
    await nameEntities({ [book]: { defaultAlias: { name: 'Waves' } } }, 'bk_literary_work');
    const rows: [id: string, EntityType, page: string | null][] = [
      [group, 'release_group', 'https://music.example/release-group'],
      [book, 'bk_literary_work', 'https://books.example/work'],
      [label, 'label', null],
      [both, 'release_group', 'https://music.example/release-group'],
    ];
    for (const [entity_id, entity_type] of rows) await user.publishes({ entity_id, entity_type });
    await other.publishes({ entity_id: both, entity_type: 'artist' });
    const query = { user_id: user.id, include_metadata: 'true' };
    const { count, reviews } = await list(query);
    expect(count).toBe(4);
    const found = reviews.map((each: WholeReview & { metadata: unknown }) => [
      each.entity_id,
      each.metadata,
    ]);
    const names = new Map<string, string>([
      [group, 'Blue'],
      [book, 'Waves'],
      [both, 'Both'],
    ]);
    expect(new Map(found)).toEqual(
      new Map(
        rows.map(([id, type, page]) => [
          id,
          page && { id, type, name: names.get(id), url: `${page}/${id}`, about: null, image: null },
        ]),
      ),
    );
    const ofBoth = (await list({ entity_id: both, include_metadata: 'true' })).reviews;
    const types = ofBoth.map((each: { metadata: { type: string } | null }) => each.metadata?.type);
    expect(types.toSorted()).toEqual(['release_group', undefined]);
    const without = await list({ user_id: user.id, include_metadata: 'false' });
    expect(without.reviews[0]).not.toHaveProperty('metadata');
  });
});
