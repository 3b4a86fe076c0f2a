import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { entityTypes } from '../../shared/core/entity/entity-type.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { setAttributes } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { dataIn, faultsIn } from '../helpers/structured-data.ts';
import { pageOf, reviewsIn } from '../helpers/visit.ts';
import { beginErasure, makeUser, makeUsers, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const author = await makeUser({ display_name: 'Zoë <i>' });

const show = (review_id: string) => pageOf('show-review', { path: { review_id } });

/** A review of an entity that the databases know by this name. */
async function makeNamed(name: string, content: Record<string, unknown> = {}, by = author) {
  const entity_id = randomUUID();
  const of = { entity_id, entity_type: 'release_group' as const, ...content };
  await nameEntities({ [entity_id]: name }, of.entity_type);
  return { entity_id, id: await by.publishes(of) };
}

describe('GET /review/{review_id} for people', () => {
  test('shows all of a review in words, with links', async () => {
    const text = 'One paragraph of this review.\n\nAnd another one.';
    const content = { text, language: 'de', license_choice: 'CC BY 4.0' };
    const { entity_id, id } = await makeNamed('Blue & Green', content);
    await (await makeUser()).votes(id);
    await (await makeUser()).votes(id, 'down');
    await setAttributes(reviewKey(id), { published_on: '2024-03-01T00:00:00.000Z' });
    const page = await show(id);
    expect(page).toContain('<title>Blue &amp; Green, reviewed by Zoë &lt;i&gt; · Reviews</title>');
    const name = '<bdi>Blue &amp; Green</bdi>';
    expect(page).toContain(`<h1><a href="${at}/entity/${entity_id}">${name}</a></h1>`);
    expect(page).toContain(`href="${at}/user/${author.id}"><bdi>Zoë &lt;i&gt;</bdi></a>`);
    expect(page).toContain('<time datetime="2024-03-01">1 March 2024</time>');
    expect(page).toContain('aria-label="4 of 5 stars"');
    expect(page).toContain(`<div class="review verbatim" lang="de" dir="auto">${text}</div>`);
    const described = `<a href="https://music.example/release-group/${entity_id}">music.example</a>`;
    expect(page).toContain(`Album or single, described at ${described}`);
    expect(page).toContain('Language: German<');
    expect(page).toMatch(/>Was this helpful\?<[\s\S]*>Yes 1<\/a>\s*<a[^>]*>No 1<\/a>/);
    // The stars and the text come before the author, votes and small print.
    const order = ['aria-label="4 of 5 stars"', text, 'rel="author"', 'Was this', 'rel="license"'];
    expect(order.map((part) => page.indexOf(part))).toEqual(
      order.map((part) => page.indexOf(part)).toSorted((a, b) => a - b),
    );
    expect(page).toContain(`<a href="${at}/help#karma">karma</a> 0`);
    const licence = 'Creative Commons Attribution 4.0 International';
    const deed = 'https://creativecommons.org/licenses/by/4.0/';
    expect(page).toContain(`<a rel="license" href="${deed}">${licence}</a>`);
    const cited = `“${name}”, a review by <bdi>Zoë &lt;i&gt;</bdi>, ${at}/review/${id}`;
    expect(page).toContain(`${cited}, ${licence}, ${deed}</p>`);
    expect(page).toContain(`href="${at}/review/${id}/report"`);
    expect(page).not.toContain('revisions');
    expect(page).not.toMatch(/>\s*(de|release_group)\s*</);
  });

  test('shows how often and when it was changed', async () => {
    const id = await author.publishes();
    await author.edits(id, { rating: 1 });
    await setAttributes(reviewKey(id), { last_updated: '2025-12-31T00:00:00.000Z' });
    const page = await show(id);
    expect(page).toMatch(/ · 2 revisions, the latest on <time[^>]*>31 December 2025</);
    expect(page).toContain(`href="${at}/review/${id}/revisions">see all revisions</a>`);
  });

  test('names itself, and offers readers no JSON', async () => {
    const { id } = await makeNamed('Blue', { text: null });
    const page = await show(id.toUpperCase());
    expect(page).toContain(`<link rel="canonical" href="${at}/review/${id}">`);
    expect(page).not.toContain('type="application/json"');
    expect(page).toContain('<meta property="og:title" content="Blue, reviewed by Zoë &lt;i&gt;">');
    expect(page).toContain('<meta property="og:description" content="4 of 5 stars.">');
    expect(page).toContain(`<meta property="og:url" content="${at}/review/${id}">`);
    expect(page).not.toContain('noindex');
    const { headers } = await visitor.reads(id);
    expect(headers.link).toBe(`</ws/review/${id}>; rel="alternate"; type="text/html"`);
  });
});

describe('the end of the page', () => {
  test('has two more reviews of the thing and one more by the author, all public', async () => {
    const { entity_id, id } = await makeNamed('Blue');
    const others = await makeUsers(4);
    const [hidden = '', liked, plain, best] = await Promise.all(
      others.map((each) => each.publishes({ entity_id })),
    );
    const [voter, second] = await makeUsers(2);
    for (const review of [hidden, `${best}`, `${liked}`]) await voter?.votes(review);
    for (const review of [hidden, `${best}`]) await second?.votes(review);
    await setHidden(hidden, true);
    const former = await makeNamed('Former', { text: null });
    stopClock(Date.now() + 1_000);
    const newest = await makeNamed('Newest <b>');
    await author.publishesHidden();
    await author.publishes({ is_draft: true });
    const page = await show(id);
    const [, ofThing, ofAuthor] = page.split('<section class="more">');
    expect(ofThing).toContain('<h2>More about <bdi>Blue</bdi></h2>');
    expect(reviewsIn(ofThing)).toEqual([best, liked]);
    expect(ofAuthor).toContain('<h2>More by <bdi>Zoë &lt;i&gt;</bdi></h2>');
    expect(ofAuthor).toContain('<bdi>Newest &lt;b&gt;</bdi>');
    expect(reviewsIn(ofAuthor)).toEqual([newest.id]);
    // Neither part shows the review itself.
    const parts = (await show(newest.id)).split('<section class="more">');
    expect(reviewsIn(parts[1])).toEqual([]);
    expect(reviewsIn(parts[2])).not.toContain(newest.id);
    expect(page).not.toContain(plain);
    expect(page).not.toContain(former.id);
  });

  test('has no review that is hidden or deleted, or by an author who has left', async () => {
    const { entity_id, id } = await makeNamed('Blue');
    const [leaver, other, third] = await makeUsers(3);
    const left = await leaver?.publishes({ entity_id });
    const hidden = await other?.publishes({ entity_id });
    const deleted = await third?.publishes({ entity_id });
    expect(reviewsIn(await show(id))).toHaveLength(3);
    if (leaver) await beginErasure(leaver);
    // Its entries in the indexes stay, as if these were behind.
    await setAttributes(reviewKey(`${hidden}`), { is_hidden: true });
    await third?.deletes(`${deleted}`);
    const page = await show(id);
    for (const gone of [left, hidden, deleted]) expect(page).not.toContain(`${gone}`);
  });

  test('costs six read units and four round trips with its end', async () => {
    const { entity_id, id } = await makeNamed('Blue');
    for (const each of await makeUsers(9)) await each.publishes({ entity_id });
    for (let i = 0; i < 9; i++) await makeNamed('Other');
    const path = { review_id: id };
    const { read, roundTrips, commands } = await measure('show-review', { path });
    expect(commands).toBe(5);
    // The review, strongly consistent. Then two indexes, three others, authors, and two names.
    const units = 1 + 2 * 0.5 + 3 * 0.5 + 3 * 0.5 + 2 * 0.5;
    expect({ read, roundTrips }).toEqual({ read: units, roundTrips: 4 });
  });

  test.each([
    ['no other review', 0, 1 + 2 * 0.5 + 2 * 0.5],
    ['others of its thing alone', 2, 1 + 2 * 0.5 + 2 * 0.5 + 2 * (0.5 + 0.5)],
  ])('costs three round trips with %s', async (_, others, units) => {
    const alone = await makeUser();
    const { entity_id, id } = await makeNamed('Blue', {}, alone);
    for (const each of await makeUsers(others)) await each.publishes({ entity_id });
    const path = { review_id: id };
    const { read, roundTrips, commands } = await measure('show-review', { path });
    expect({ read, roundTrips, commands }).toEqual({ read: units, roundTrips: 3, commands: 4 });
    const page = await show(id);
    expect(page).toContain('<bdi>Blue</bdi>');
    expect(page).not.toContain('<ul class="plain"></ul>');
  });
});

describe('the text of a review', () => {
  const hostile = '</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> & "q" \'q\'';

  test.each([
    ['markup', hostile],
    ['controls of direction', 'abc \u202e\u2066 def \u202c and enough to be long'],
    ['separators of lines', 'one\u2028two\u2029three and enough to be long'],
    ['emoji', '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 and enough to be a text'],
    ['Arabic', 'أعود إليه كل شتاء ولا أجد فيه إلا ما هو جديد'],
    ['5,000 characters', `a${'𝄞'.repeat(4999)}`],
  ])('stands on the page and in its data as it was written: %s', async (_, text) => {
    const { id } = await makeNamed('Blue', { text });
    const page = await show(id);
    const entities: Record<string, string> = {
      '<': '&lt;',
      '>': '&gt;',
      '"': '&quot;',
      "'": '&#39;',
      '&': '&amp;',
    };
    const escaped = text.replaceAll(/[<>"'&]/g, (character) => `${entities[character]}`);
    expect(page).toContain(`lang="en" dir="auto">${escaped}</div>`);
    expect(dataIn(page)).toMatchObject({ reviewBody: text });
    expect(page).not.toMatch(/<img|onerror=alert\(2\)>/);
    expect(page.split('<script').length).toBe(2);
    expect(page).not.toMatch(/ld\+json">[^<]*[\u2028\u2029]/);
    const [, description = ''] = /<meta name="description" content="([^"]*)"/.exec(page) ?? [];
    expect(description.length).toBeLessThan(500);
    expect(description.isWellFormed()).toBe(true);
  });
});

describe('the structured data of a review', () => {
  test.each(entityTypes)('is valid for every type: %s', async (entity_type) => {
    const { id, entity_id } = await makeNamed('Blue', { entity_type });
    const data = dataIn(await show(id));
    expect(data).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Review',
      url: `${at}/review/${id}`,
      itemReviewed: { name: 'Blue', url: `${at}/entity/${entity_id}` },
      reviewRating: { ratingValue: 4, bestRating: 5, worstRating: 1 },
      author: { '@type': 'Person', name: 'Zoë <i>', url: `${at}/user/${author.id}` },
      inLanguage: 'en',
      datePublished: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      license: 'https://creativecommons.org/licenses/by-sa/3.0/',
    });
    expect(await faultsIn(data ?? {})).toEqual([]);
  });

  test('is left out without a rating or a name, which it needs', async () => {
    const { id } = await makeNamed('Blue', { rating: null });
    expect(dataIn(await show(id))).toBeUndefined();
    const unnamed = await author.publishes();
    const page = await show(unnamed);
    expect(page).toContain('<bdi>Album or single without a name</bdi>');
    expect(dataIn(page)).toBeUndefined();
  });

  test.each(['reviewRating', 'author', 'itemReviewed'])(
    'is found to be wrong without %s',
    async (name) => {
      const { id } = await makeNamed('Blue');
      const { [name]: _, ...rest } = dataIn(await show(id)) ?? {};
      expect(await faultsIn(rest)).toContain(`Required attribute "${name}" is missing`);
      const unsupported = '"stars" for type "Review" is not supported';
      expect((await faultsIn({ ...rest, stars: 4 })).join()).toContain(unsupported);
    },
  );
});
