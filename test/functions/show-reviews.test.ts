import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/pages/show-reviews.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { applyStream } from '../helpers/stream.ts';
import { nextOn, pageOf, reviewsIn } from '../helpers/visit.ts';
import {
  idsOf,
  makeUser,
  makeUsers,
  reviewBy,
  storeReviews,
  text,
  visitor,
} from '../helpers/world.ts';

const at = 'https://api.example/ws';

type Query = Record<string, string>;

const show = (query: Record<string, string> = {}) => pageOf('show-reviews', { query });

const optionsIn = (page: string) =>
  [...page.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value);

const headingOf = (page: string) => /<h2>([^<]*)</.exec(page)?.[1];

const isForSearch = (page: string) => !page.includes('<meta name="robots" content="noindex">');

/** Titles of reviews by name, published a second apart, with the names of their facets. */
const contents = {
  de: { entity_type: 'work', language: 'de', rating: null },
  plain: { entity_type: 'artist', language: 'en', rating: 5 },
  stars: { entity_type: 'work', language: 'en', text: null, rating: 2 },
  book: { entity_type: 'bk_literary_work', language: 'en', rating: 4 },
};
type Name = keyof typeof contents;

describe('GET /reviews for people', () => {
  test('of an empty service leads to the first review', async () => {
    const page = await show();
    expect(page).toContain('Nobody has written a review yet.');
    expect(page).toContain(`href="${at}/find"`);
    expect(page).not.toContain('class="filters"');
    expect(isForSearch(page)).toBe(false);
  });

  test('lists what the API lists, by every filter and order', async () => {
    const [ann, ben] = await makeUsers(2);
    const ids = {} as Record<Name, string>;
    for (const [name, content] of Object.entries(contents)) {
      stopClock(Date.now() + 1_000);
      ids[name as Name] = await ann.publishes(content);
    }
    await ann.publishes({ is_draft: true });
    await setHidden(await ben.publishes({ language: 'fr' }), true);
    await ben.votes(ids.plain);
    await applyStream();
    const order = (...names: Name[]) => names.map((name) => ids[name]);
    const cases: [Query, string[], string][] = [
      [{}, order('book', 'stars', 'plain', 'de'), '4 reviews'],
      [{ sort: 'popularity' }, order('plain', 'book', 'stars', 'de'), '4 reviews'],
      [{ entity_type: 'work' }, order('stars', 'de'), '2 reviews of compositions'],
      [{ entity_type: 'bookdb' }, order('book'), '1 review of books'],
      [
        { entity_type: 'musicdb', language: 'en' },
        order('stars', 'plain'),
        '2 reviews of music in English',
      ],
      [{ review_type: 'review' }, order('book', 'plain', 'de'), '3 reviews with a text'],
      [
        { review_type: 'rating', entity_type: 'work' },
        order('stars'),
        '1 review of compositions with stars',
      ],
      [{ language: 'fr' }, [], 'No reviews in French'],
      [
        { entity_type: '', language: '', review_type: '' },
        order('book', 'stars', 'plain', 'de'),
        '4 reviews',
      ],
    ];
    for (const [query, expected, heading] of cases) {
      const page = await show(query);
      expect([query, reviewsIn(page)]).toEqual([query, expected]);
      expect(headingOf(page)).toBe(heading);
      const set = Object.entries(query).filter(([, value]) => value !== '');
      const { body } = await visitor.lists(Object.fromEntries(set));
      expect(idsOf(body.reviews)).toEqual(expected);
      expect(isForSearch(page)).toBe(set.length === 0);
    }
  });

  test('offers what has reviews, and keeps what is chosen', async () => {
    const page = await show({ language: 'sw', sort: 'popularity' });
    const types = ['', 'musicdb', 'work', 'artist', 'bookdb', 'bk_literary_work'];
    const languages = ['', 'en', 'de', 'sw'];
    expect(optionsIn(page)).toEqual([types, languages, ['', 'review', 'rating']].flat());
    expect(page).toContain('<option value="sw" selected>Swahili</option>');
    expect(page).toContain('<input type="hidden" name="sort" value="popularity">');
    expect(page).toContain(`<form class="filters" action="${at}/reviews">`);
    expect(page).toContain(`<a href="${at}/reviews?sort=popularity">Show all reviews</a>`);
    expect(page).toContain(`<link rel="canonical" href="${at}/reviews">`);
    const sorted = await show({ language: 'en' });
    expect(sorted).toContain(
      `href="${at}/reviews?language=en&amp;sort=popularity">Most popular</a>`,
    );
  });

  test('is walked by cursor, each review once', async () => {
    const content = { entity_type: 'event', language: 'nl', text: `${'wörd '.repeat(900)}end` };
    const people = await makeUsers(25);
    const reviews = people.map(({ id }, i) => {
      const published_on = new Date(Date.now() + i).toISOString();
      return { ...reviewBy(id, content as never), published_on };
    });
    await storeReviews(reviews);
    await applyStream();
    const filters: [Query, number][] = [
      [{}, 29],
      [{ language: 'nl' }, 25],
      [{ entity_type: 'musicdb', sort: 'popularity' }, 28],
    ];
    for (const [filter, expected] of filters) {
      const seen: string[] = [];
      let query: Query | undefined = filter;
      while (query) {
        const page: string = await show(query);
        seen.push(...reviewsIn(page));
        const cursor = nextOn(page);
        expect(page.includes('rel="next"')).toBe(cursor !== undefined);
        query = cursor ? { ...filter, cursor } : undefined;
        if (query) expect(isForSearch(await show(query))).toBe(false);
      }
      expect([filter, seen.length, new Set(seen).size]).toEqual([filter, expected, expected]);
    }
    const foreign = nextOn(await show({ language: 'nl' })) ?? '';
    const { status } = await invoke(handler, { query: { cursor: foreign } });
    expect(status).toBe(400);
  });

  test('has reviews of one thing together, by the first of them, and pages of the list', async () => {
    const things = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].map((part) =>
      randomUUID().replace(/^.{8}/, part),
    );
    const people = await makeUsers(22);
    // The oldest is of c, then a and b alternate, and the newest is of b.
    const reviews = people.map(({ id }, i) => {
      const entity_id = `${things[i === 0 ? 2 : i % 2]}`;
      const published_on = new Date(Date.now() + i).toISOString();
      return { ...reviewBy(id, { entity_id, language: 'fy', rating: null }), published_on };
    });
    await storeReviews(reviews);
    await applyStream();
    const numbered = (...numbers: number[]) => numbers.map((i) => reviews[i]?.id);
    const even = [20, 18, 16, 14, 12, 10, 8, 6, 4, 2];
    const first = await show({ language: 'fy' });
    const odd = [21, 19, 17, 15, 13, 11, 9, 7, 5, 3];
    expect(reviewsIn(first)).toEqual(numbered(...odd, ...even));
    const headings = (page: string) =>
      [...page.matchAll(/<h3><a href="[^"]*\/entity\/(\w{8})/g)].map(([, part]) => part);
    expect(headings(first)).toEqual(['bbbbbbbb', 'aaaaaaaa']);
    const second = await show({ language: 'fy', cursor: `${nextOn(first)}` });
    expect(reviewsIn(second)).toEqual(numbered(1, 0));
    expect(headings(second)).toEqual(['bbbbbbbb', 'cccccccc']);
  });

  test('costs what a list costs, and few bytes', async () => {
    const queries: Query[] = [
      {},
      { entity_type: 'event', language: 'nl' },
      { entity_type: 'musicdb' },
    ];
    for (const query of queries) {
      const { read, write, roundTrips, body } = await measure('show-reviews', { query });
      expect(reviewsIn(`${body}`)).toHaveLength(20);
      // Reviews of 5,000 bytes, their authors, names and totals, twice with a filter.
      expect(read).toBeLessThanOrEqual(20 * (1 + 0.5 + 0.5) + 6);
      expect([write, roundTrips <= 4]).toEqual([0, true]);
      expect(gzipSync(`${body}`).length).toBeLessThan(30_000);
    }
  });

  test('escapes names, and shows them from a database', async () => {
    const ann = await makeUser({ display_name: '<b>"ليلى"' });
    stopClock(Date.now() + 1_000);
    const id = '8e8a594f-2175-48c7-a871-abb68ec363e7';
    await ann.publishes({ entity_id: id, text: `<script>alert(1)</script>${text}` });
    await nameEntities({ [id]: '<i>Blue</i>' });
    const page = await show();
    expect(page).toContain('<bdi>&lt;i&gt;Blue&lt;/i&gt;</bdi>');
    expect(page).toContain('<bdi>&lt;b&gt;&quot;ليلى&quot;</bdi>');
    expect(page).not.toMatch(/<script|<i>|<b>/);
  });

  test.each<[Record<string, string | string[]>]>([
    [{ entity_type: 'album' }],
    [{ entity_type: '<script>' }],
    [{ language: 'EN' }],
    [{ language: '\ud800' }],
    [{ review_type: 'both' }],
    [{ sort: '' }],
    [{ sort: 'rating' }],
    [{ cursor: '' }],
    [{ cursor: '\0' }],
    [{ cursor: 'x'.repeat(5_000) }],
    [{ language: ['en', 'de'] }],
    [{ entity_type: ['', ''] }],
  ])('refuses %j in words', async (query) => {
    const { status, body } = await invoke(handler, { query });
    expect(status).toBe(400);
    expect(body).toContain('<h1>That did not work</h1>');
    expect(body).not.toContain('<script');
  });

  test.each<[Query]>([[{ rating: '5' }], [{ offset: '-1' }], [{ constructor: 'x' }], [{ '': '' }]])(
    'ignores %j',
    async (query) => {
      expect(reviewsIn(await show(query))).toHaveLength(20);
    },
  );
});
