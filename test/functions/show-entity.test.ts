import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/pages/show-entity.ts';
import { entityTypes } from '../../shared/core/entity/entity-type.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { dataIn, faultsIn } from '../helpers/structured-data.ts';
import { pageOf, reviewsIn } from '../helpers/visit.ts';
import { makeUser, makeUsers, type Person, text, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';

const show = (entity_id: string, query?: Record<string, string>) =>
  pageOf('show-entity', { path: { entity_id }, query });

/** Reviews of a new entity, one second after the other. */
async function makeEntity(contents: readonly Record<string, unknown>[]) {
  const entity_id = randomUUID();
  const ids: string[] = [];
  const authors = await makeUsers(contents.length);
  for (const [i, content] of contents.entries()) {
    stopClock(Date.now() + 1_000);
    ids.push(await (authors[i] as Person).publishes({ entity_id, ...content }));
  }
  return { entity_id, ids };
}

/** The address that a link of this text leads to. */
function linkOn(page: string, text: string): string | undefined {
  const [, href] = new RegExp(`href="([^"]*)"[^>]*>${text}</a>`).exec(page) ?? [];
  return href?.replaceAll('&amp;', '&');
}

/** The query of a link, as the page gets it. */
const queryOf = (href = ''): Record<string, string> =>
  Object.fromEntries(new URL(href).searchParams);

describe('GET /entity/{entity_id} for people', () => {
  test('shows the name, the average, the stars and the languages in words', async () => {
    const { entity_id } = await makeEntity([
      { rating: 5 },
      { rating: 5, language: 'de' },
      { rating: 2, language: 'de' },
      { rating: null, language: 'ja' },
    ]);
    await nameEntities({ [entity_id]: 'Blue & Green' });
    const page = await show(entity_id);
    expect(page).toContain('<h1><bdi>Blue &amp; Green</bdi></h1>');
    expect(page).toMatch(/Album or single, described at <a href="[^"]*">music\.example<\/a>/);
    expect(linkOn(page, 'music.example')).toBe(`https://music.example/release-group/${entity_id}`);
    expect(page).toMatch(
      /class="number" aria-hidden="true">4<[\s\S]*"4 of 5 stars"[\s\S]*>3 ratings</,
    );
    expect(page).toContain('<h2>4 reviews</h2>');
    const bars = [...page.matchAll(/<tr>[\s\S]*?<\/tr>/g)].map(([row]) =>
      row
        .replaceAll(/<[^>]*>|\s+/g, ' ')
        .trim()
        .replaceAll(/ +/g, ' '),
    );
    expect(bars).toEqual(['5 stars 2', '4 stars 0', '3 stars 0', '2 stars 1', '1 star 0']);
    expect(page).toMatch(/<rect width="100" [\s\S]*<rect width="0" [\s\S]*<rect width="50" /);
    expect(queryOf(linkOn(page, '5 stars'))).toEqual({ rating: '5' });
    expect(linkOn(page, '4 stars')).toBeUndefined();
    expect(queryOf(linkOn(page, 'German'))).toEqual({ language: 'de' });
    expect(page).toMatch(/>German<\/a> <span class="soft">2</);
    expect(page).not.toMatch(/>\s*(de|ja|release_group)\s*</);
    // What it is and how to write come first, then the reviews, then ways to others of them.
    const order = [
      '<h1>',
      'Correct or report<',
      'class="number"',
      'Write a review<',
      '4 reviews<',
      'German<',
    ];
    const places = [...order, 'Atom feed of', '/embed'].map((part) => page.lastIndexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(page.split('Write a review<')).toHaveLength(2);
  });

  test('lists reviews by date or popularity, page by page', async () => {
    const contents = Array.from({ length: 23 }, (_, i) => ({ text: `${i} ${text}` }));
    const { entity_id, ids } = await makeEntity(contents);
    const [first = ''] = ids;
    await (await makeUser()).votes(first);
    const newest = await show(entity_id);
    expect(reviewsIn(newest)).toEqual(ids.toReversed().slice(0, 20));
    const rest = await show(entity_id, queryOf(linkOn(newest, 'Next page')));
    expect(reviewsIn(rest)).toEqual(ids.toReversed().slice(20));
    expect(linkOn(rest, 'Next page')).toBeUndefined();
    // Another list begins with its own first page.
    for (const name of ['4 stars', 'English', 'Most popular']) {
      expect(queryOf(linkOn(rest, name))).not.toHaveProperty('cursor');
    }
    expect(rest).toContain(`<link rel="canonical" href="${at}/entity/${entity_id}">`);

    const popular = await show(entity_id, queryOf(linkOn(newest, 'Most popular')));
    expect(reviewsIn(popular)[0]).toBe(first);
    const more = queryOf(linkOn(popular, 'Next page'));
    expect(more).toMatchObject({ sort: 'popularity', cursor: expect.any(String) });
    expect(reviewsIn(await show(entity_id, more))).toHaveLength(3);
    const query = { cursor: `${more.cursor}` };
    expect(await invoke(handler, { path: { entity_id }, query })).toHaveStatus(400);
  });

  test('filters by stars and language, and shows how to get all again', async () => {
    const { entity_id, ids } = await makeEntity([
      { rating: 5, language: 'de' },
      { rating: 4 },
      { rating: 5 },
      { rating: null },
    ]);
    const german = await show(entity_id, { language: 'de' });
    expect(reviewsIn(german)).toEqual([ids[0]]);
    expect(german).toContain('<h2>1 review in German</h2>');
    expect(queryOf(linkOn(german, '5 stars'))).toEqual({ language: 'de', rating: '5' });
    const high = await show(entity_id, { rating: '5,4', sort: 'popularity' });
    expect(reviewsIn(high)).toEqual([ids[2], ids[1], ids[0]]);
    expect(high).toContain('<h2>3 reviews with 4 or 5 stars</h2>');
    expect(queryOf(linkOn(high, 'Show all reviews'))).toEqual({ sort: 'popularity' });
    const none = await show(entity_id, { rating: '1', language: 'de' });
    expect(none).toContain('<h2>No reviews with 1 star in German</h2>');
    expect(none).toContain('4 reviews.');
  });

  test.each([
    ['rating', '6'],
    ['rating', ''],
    ['language', 'xx'],
    ['sort', 'name'],
    ['cursor', 'x'],
  ])('with a wrong %s (%j) is an error page that names it', async (name, value) => {
    const path = { entity_id: randomUUID() };
    const { status, headers, body } = await invoke(handler, { path, query: { [name]: value } });
    expect(status).toBe(400);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain(`<p>${name} must be `);
  });

  test('explains that nobody has reviewed an entity, and keeps that page out of search engines', async () => {
    const { entity_id, ids } = await makeEntity([{}]);
    await setHidden(`${ids[0]}`, true);
    for (const id of [entity_id, randomUUID()]) {
      expect(await visitor.readsEntity(id)).toHaveStatus(200);
      const page = await show(id);
      expect(page.match(/<h1>.*<\/h1>/)?.[0]).toBe('<h1><bdi>No reviews yet</bdi></h1>');
      expect(page).toContain(`<form action="${at}/entity/${id}">`);
      expect(page).toContain('<label for="entity_type">What is it?</label>');
      expect(page.match(/<option value="/g)).toHaveLength(11);
      expect(page).not.toContain('no public reviews');
      expect(page).toContain('<meta name="robots" content="noindex">');
      expect(dataIn(page)).toBeUndefined();
    }
    expect(await invoke(handler, { path: { entity_id: 'x' } })).toHaveStatus(404);
  });

  test('leads machines to its feed and frame', async () => {
    const { entity_id } = await makeEntity([{ rating: 4 }]);
    await nameEntities({ [entity_id]: '"Blue"' });
    const page = await show(entity_id);
    const links = page.matchAll(/<link rel="alternate" type="([^"]*)" href="([^"]*)"/g);
    const api = `${at}/1/entity/${entity_id}`;
    const asked = encodeURIComponent(`${at}/entity/${entity_id}`);
    expect([...links].map(([, type, href]) => [type, href?.replaceAll('&amp;', '&')])).toEqual([
      ['application/atom+xml', `${api}/reviews.atom`],
      ['application/json+oembed', `${at}/oembed?url=${asked}&format=json`],
    ]);
    expect(linkOn(page, 'Atom feed of the reviews')).toBe(`${api}/reviews.atom`);
    const summary = '4 of 5 stars from 1 rating. 1 review.';
    expect(page).toContain(`<meta property="og:description" content="${summary}">`);
    expect(page).toContain('<meta property="og:site_name" content="Reviews">');
    expect(page).toContain('<meta name="twitter:card" content="summary">');
    // The code is for reading: escaped once for this page, and the name once more for the other.
    expect(page).toContain(
      `&lt;iframe src=&quot;${at}/entity/${entity_id}/embed&quot; title=&quot;Reviews: &amp;quot;Blue&amp;quot;&quot; width=&quot;320&quot; height=&quot;120&quot;`,
    );
    const { headers } = await visitor.readsEntity(entity_id);
    expect(headers.link).toContain(`</ws/entity/${entity_id}>; rel="alternate"; type="text/html"`);
  });

  test('isolates names, and shows long texts in part', async () => {
    const arabic = 'أعود إليه كل شتاء ولا أجد فيه إلا ما هو جديد';
    const long = 'A sentence of a long review. '.repeat(100);
    const { entity_id } = await makeEntity([{ text: arabic, language: 'ar' }, { text: long }]);
    await nameEntities({ [entity_id]: 'أنت عمري' });
    const page = await show(entity_id);
    expect(page).toContain('<h1><bdi>أنت عمري</bdi></h1>');
    expect(page).toContain(`<p class="review" lang="ar" dir="auto">${arabic}</p>`);
    expect(page).toContain('<bdi>Ann</bdi>');
    const [, excerpt = ''] = /lang="en" dir="auto">([^<]*)</.exec(page) ?? [];
    expect(excerpt).toMatch(/^A sentence of .* (A|sentence|of|a|long|review\.)…$/);
    expect(excerpt.length).toBeLessThan(300);
    // A control of direction in the text must not reach the link.
    expect(page).toMatch(/…<\/p>\s*<p><a href="[^"]*">Read more</);
    expect(linkOn(page, 'Read more')).toMatch(/\/review\/[\da-f-]{36}$/);
  });

  test('is read in the units of its lists, and weighs at most 30 KB', async () => {
    // Words that do not compress well.
    const dense = () => Array.from({ length: 138 }, randomUUID).join(' ').slice(0, 5000);
    const contents = Array.from({ length: 21 }, () => ({ text: dense(), rating: 3 }));
    const { entity_id } = await makeEntity(contents);
    await nameEntities({ [entity_id]: 'Blue' });
    await show(entity_id);
    const { read, roundTrips, body } = await measure('show-entity', { path: { entity_id } });
    expect(reviewsIn(body)).toHaveLength(20);
    // A review of 5,000 characters takes two halves of a unit; the name is read beside the list.
    expect(read).toBeLessThanOrEqual(2 * 0.5 * 20 + 0.5 * 20 + 3);
    expect(roundTrips).toBeLessThanOrEqual(2);
    expect(gzipSync(body).length).toBeLessThan(30_000);
  });
});

describe('the structured data of an entity', () => {
  test.each(entityTypes)('is valid for every type: %s', async (entity_type) => {
    const { entity_id } = await makeEntity([5, 4, null].map((rating) => ({ entity_type, rating })));
    const name = '</script><script>alert(1)</script>';
    await nameEntities({ [entity_id]: name }, entity_type);
    const data = dataIn(await show(entity_id));
    expect(data).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'AggregateRating',
      itemReviewed: { name, url: `${at}/entity/${entity_id}` },
      ratingValue: 4.5,
      ratingCount: 2,
      reviewCount: 3,
      bestRating: 5,
      worstRating: 1,
    });
    expect(await faultsIn(data ?? {})).toEqual([]);
  });

  test('is left out without a rating or a name, which it needs', async () => {
    const { entity_id } = await makeEntity([{ rating: null }]);
    await nameEntities({ [entity_id]: 'Blue' });
    expect(dataIn(await show(entity_id))).toBeUndefined();
    const unnamed = await makeEntity([{ rating: 5, entity_type: 'bk_literary_work' }]);
    const page = await show(unnamed.entity_id);
    expect(page).toContain('<h1><bdi>Book without a name</bdi></h1>');
    expect(dataIn(page)).toBeUndefined();
    const data = { '@type': 'AggregateRating', ratingValue: 5, itemReviewed: { name: 'Blue' } };
    expect((await faultsIn(data)).join()).toContain('ratingCount');
  });
});
