import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/pages/find-entity.ts';
import { handler as showEntity } from '../../functions/pages/show-entity.ts';
import { searchPaceKey } from '../../shared/features/databases/kinds.ts';
import { stopClock } from '../helpers/clock.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { filledForm, newEntity, publishForm } from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, signInAs } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

const at = 'https://api.example/ws';

const id = '9162580e-5df4-32de-80cc-f45a8d8a9b1d';
const start = Date.now();
let tests = 0;

/** Lets both databases find these entities, whatever the name. */
function answer(...found: object[]): void {
  const url = `data:application/json,${encodeURIComponent(JSON.stringify({ found }))}#{type}{name}`;
  Object.assign(process.env, { MUSICDB_SEARCH: url, BOOKDB_SEARCH: url });
}

beforeEach(() => {
  // A minute later, so that no test waits for the turn of another.
  tests += 1;
  stopClock(start + tests * 60_000);
});

const find = (query: Record<string, string | string[]> = {}) => invoke(handler, { query });

async function show(query: Record<string, string> = {}): Promise<string> {
  const { status, body } = await find(query);
  expect(status).toBe(200);
  return body;
}

/** The page for somebody who is signed in, for whom databases are asked. */
async function search(query: Record<string, string>): Promise<string> {
  const { status, html } = await ask('find-entity', await makeUser(), { query });
  expect(status).toBe(200);
  return html;
}

/** The type whose chip is marked. */
const chosenIn = (page: string) => /aria-current="page">([^<]*)<\/a>/.exec(page)?.[1];

const faultOn = (page: string) => /<p class="fault" id="q-fault">([^<]*)</.exec(page)?.[1];

describe('GET /find with an address or an id', () => {
  test.each([
    [id, ''],
    [` ${id.toUpperCase()}\n`, ''],
    [id.replaceAll('-', ''), ''],
    [`urn:uuid:${id}`, ''],
    [`https://musicbrainz.org/release-group/${id}`, 'release_group'],
    [`http://musicbrainz.org/release-group/${id}/`, 'release_group'],
    [`musicbrainz.org/artist/${id}/relationships?page=2`, 'artist'],
    [`https://beta.musicbrainz.org/work/${id}#x`, 'work'],
    [`HTTPS://MusicBrainz.org/event/${id.toUpperCase()}`, 'event'],
    [`https://musicbrainz.org/place/${id}`, 'place'],
    [`https://musicbrainz.org/label/${id}`, 'label'],
    [`https://musicbrainz.org/recording/${id}`, 'recording'],
    [`https://bookbrainz.org/work/${id}`, 'bk_literary_work'],
    [`https://bookbrainz.org/author/${id}`, 'bk_author'],
    [`https://www.bookbrainz.org/edition-group/${id}/edits`, 'bk_edition_group'],
    [`https://bookbrainz.org/series/${id}`, 'bk_series'],
    [`${at}/entity/${id}`, ''],
  ])('%j leads to the page of the entity', async (q, type) => {
    const { status, headers, body } = await find({ q });
    expect([status, body]).toEqual([303, '']);
    expect(headers.location).toBe(`${at}/entity/${id}${type && `?entity_type=${type}`}`);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('understands the pages of the configured database', async () => {
    process.env.MUSICDB_PAGE = 'http://music.example:8080/x/{type}?id={id}';
    const { headers } = await find({ q: `http://music.example:8080/x/artist?id=${id}&tab=1` });
    expect(headers.location).toBe(`${at}/entity/${id}?entity_type=artist`);
    expect(await show()).toContain('<a href="http://music.example:8080/">music.example:8080</a>');
  });

  test.each([
    `https://musicbrainz.org/release/${id}`,
    `https://musicbrainz.org/release-group/${id}0`,
    'https://musicbrainz.org/release-group/',
    `https://evil.example/release-group/${id}`,
    `https://musicbrainz.org.evil.example/artist/${id}`,
    `https://evil.example/?https://musicbrainz.org/artist/${id}`,
    `https://musicbrainz.org@evil.example/artist/${id}`,
    'http://169.254.169.254/latest/meta-data/',
    `${at}/review/${id}`,
    'www.example.org/',
  ])('%s is of nothing to review, and nobody is asked', async (q) => {
    answer({ id, name: 'Blue' });
    const page = await show({ q });
    expect(faultOn(page)).toMatch(/^Nothing that this address names can be reviewed\./);
    expect(page).toContain('aria-invalid="true"');
    expect(page).not.toContain(`/entity/${id}`);
  });
});

test('an address of another site is refused wherever it names a page of a database', async () => {
  const page = `musicbrainz.org/artist/${id}`;
  const addresses = Array.from(
    { length: page.length + 1 },
    (_, length) => `https://evil.example/${'x'.repeat(length)}${page}`,
  );
  for (const q of addresses) {
    expect([q, (await find({ q })).status]).toEqual([q, 200]);
  }
});

describe('GET /find with a name', () => {
  test('shows matches, each with the ways to its page and to a review', async () => {
    answer({
      id,
      title: 'Abbey <Road>',
      'artist-credit': [{ name: 'The "Beatles"' }],
      'first-release-date': '1969',
    });
    const page = await search({ q: ' Abbey   Road', type: 'release_group' });
    expect(page).toContain('<h2>1 result for “<bdi>Abbey Road</bdi>”</h2>');
    const query = `entity_type=release_group`;
    expect(page).toContain(
      `<a href="${at}/entity/${id}?${query}"><bdi>Abbey &lt;Road&gt;</bdi></a>`,
    );
    expect(page).toContain('<bdi>The &quot;Beatles&quot; · 1969</bdi>');
    const review = `${at}/review/new?entity_id=${id}&amp;${query}`;
    expect(page).toContain(
      `href="${review}" rel="nofollow" aria-label="Write a review of Abbey &lt;Road&gt;">`,
    );
    expect(chosenIn(page)).toBe('Album or single');
    // The header stays, and its field is the only one.
    expect(page.match(/name="q" value="[^"]*"/g)).toEqual(['name="q" value="Abbey Road"']);
    expect(page).toContain(`href="${at}/find">Write a review</a>`);
    expect(page).toContain('<meta name="robots" content="noindex">');
  });

  test('says what to do without matches, when it is busy, and when nothing answers', async () => {
    answer();
    expect(await search({ q: 'nothing' })).toContain('Check the spelling, or choose another type.');
    await setAttributes(searchPaceKey('musicdb'), { due_at: Date.now() + 60_000 });
    const busy = await search({ q: 'nothing else' });
    expect(busy).toContain('role="alert">The database is busy with other searches.');
    expect(busy).toContain('value="nothing else"');
    process.env.BOOKDB_SEARCH = 'data:text/plain,x#{type}{name}';
    silence('warn');
    const away = await search({ q: 'kafka', type: 'bk_author' });
    expect(away).toContain('role="alert">The database does not answer.');
    expect(away).toContain('paste the address of its page');
  });

  test('asks no database for strangers, and offers them to sign in', async () => {
    process.env.MUSICDB_SEARCH = 'http://127.0.0.1:9/{type}{name}';
    const page = await show({ q: 'Abbey Road', type: 'artist' });
    expect(page).not.toContain('role="alert"');
    const back = encodeURIComponent(`${at}/find?q=Abbey+Road&type=artist`).replaceAll('%20', '+');
    expect(page).toContain(`/account/sign-in?return_to=${back}`);
  });

  test('finds names that are known here without a database, and pasting works', async () => {
    const query = newEntity();
    await publishForm(await makeUser(), query, filledForm({ name: 'Zazou Avenue', about: '1991' }));
    await applyStream();
    const page = await show({ q: 'avenue zaz' });
    expect(page).toContain('<h2>1 result for “<bdi>avenue zaz</bdi>”</h2>');
    expect(page).toMatch(
      new RegExp(`/entity/${query.entity_id}\\?entity_type=release_group"><bdi>Zazou Avenue</bdi>`),
    );
    expect(page).toContain('Album or single · <bdi>1991</bdi>');
    expect(await show({ q: 'avenue', type: 'work' })).toContain('<h2>0 results');
    expect(page).toContain('<a href="https://musicbrainz.org/">musicbrainz.org</a>');
  });

  test('shows first what is known here, and nothing twice', async () => {
    const query = newEntity();
    await publishForm(await makeUser(), query, filledForm({ name: 'Yonder Both' }));
    await applyStream();
    answer({ id: query.entity_id, name: 'Yonder of the database' }, { id, name: 'Yonder' });
    const page = await search({ q: 'yonder', type: 'release_group' });
    const names = [...page.matchAll(/<h3><a [^>]*><bdi>([^<]*)</g)].map(([, name]) => name);
    expect(names).toEqual(['Yonder Both', 'Yonder']);
  });

  test('offers all types', async () => {
    const page = await show();
    expect(page.match(/find\?type=\w+"/g)).toHaveLength(11);
    expect(chosenIn(page)).toBe('All types');
    const found = await show({ q: 'x y', type: 'work' });
    expect(found).toContain(`<a href="${at}/find?q=x+y" class="chip">All types</a>`);
    expect(found).toContain('<input type="hidden" name="type" value="work">');
  });

  test.each([
    ['\u200b\u202e', 'Type a name, or paste an address or an id.'],
    ['x'.repeat(201), 'A name must have at most 200 characters.'],
    ['\u{1f3b7}'.repeat(5_000), 'A name must have at most 200 characters.'],
  ])('refuses a name that is none', async (q, fault) => {
    answer();
    expect(faultOn(await show({ q }))).toBe(fault);
  });

  test.each<Record<string, string | string[]>>([
    { q: '\ud800"><script>alert(1)</script>' },
    { q: '\0' },
    { q: 'a\r\nSet-Cookie: x=y' },
    { q: 'https://' },
    { q: 'http://[' },
    { q: '%00%ff' },
    { q: '{id}{type}{name}$&' },
    { q: ['a', 'b'] },
    { q: 'x', type: 'bk_' },
    { q: 'x', type: '' },
    { type: ['work', 'work'] },
    { constructor: 'x', __proto__x: 'y' },
  ])('is no error of ours: %j', async (query) => {
    answer();
    const { status, body } = await find(query);
    expect([200, 400]).toContain(status);
    expect(body).not.toContain('<script');
  });

  test('costs a stranger nothing but reads, and a member one search of the database', async () => {
    answer(...Array.from({ length: 10 }, () => ({ id: randomUUID(), name: '\u00e9'.repeat(300) })));
    const blank = await measure('find-entity', {});
    expect(blank).toMatchObject({ status: 200, read: 0, write: 0, roundTrips: 0 });
    const query = { q: 'a common name' };
    const stranger = await measure('find-entity', { query });
    expect(stranger).toMatchObject({ status: 200, write: 0 });
    expect(stranger.read).toBeLessThanOrEqual(12);
    const { cookie } = await signInAs((await makeUser()).id);
    const first = await measure('find-entity', { query, headers: { cookie } });
    expect(first.write).toBeLessThanOrEqual(30);
    const again = await measure('find-entity', { query, headers: { cookie } });
    expect(again).toMatchObject({ status: 200, write: 0 });
    expect(again.read).toBeLessThanOrEqual(14);
    expect(gzipSync(`${again.body}`).length).toBeLessThan(30_000);
  });
});

describe('the page of an entity without reviews', () => {
  const visit = async (entity_id: string, query: Record<string, string>) => {
    const { status, body } = await invoke(showEntity, { path: { entity_id }, query });
    expect(status).toBe(200);
    return `${body}`;
  };

  test('says what was found, and leads to the first review', async () => {
    const entity_id = randomUUID();
    process.env.MUSICDB_PAGE = 'https://music.example/{type}/{id}';
    answer({ id: entity_id, title: 'Blue & Green' });
    await search({ q: 'blue', type: 'work' });
    const page = await visit(entity_id, { entity_type: 'work' });
    expect(page).toContain('<h1><bdi>Blue &amp; Green</bdi></h1>');
    expect(page).toContain('Nobody has reviewed this yet.');
    const query = `entity_id=${entity_id}&amp;entity_type=work`;
    const form = `${at}/review/new?${query}`;
    expect(page).toContain(`<a class="button" rel="nofollow" href="${form}">Write a review</a>`);
    expect(page).toContain('<meta name="robots" content="noindex">');
  });

  test('asks for the type if it knows nothing', async () => {
    const page = await visit(randomUUID(), {});
    expect(page).toContain('Nobody has reviewed this yet.');
    expect(page).toContain('<label for="entity_type">What is it?</label>');
    expect(page).not.toContain('/review/new');
  });

  test('asks no database for what a stranger presumes', async () => {
    Object.assign(process.env, {
      MUSICDB_API: 'data:application/json,{"name":"Asked"}#{type}{id}',
      MUSICDB_PAGE: 'https://music.example/{type}/{id}',
    });
    const entity_id = randomUUID();
    const request = { path: { entity_id }, query: { entity_type: 'work' } };
    const { write, body } = await measure('show-entity', request);
    expect([write, `${body}`.includes('Asked')]).toEqual([0, false]);
    expect(await visit(entity_id, { entity_type: 'x' })).not.toContain('/review/new');
  });

  test('follows its reviews, not the type in the address, once it has some', async () => {
    const entity_id = randomUUID();
    await (await makeUser()).publishes({ entity_id, entity_type: 'label' });
    const page = await visit(entity_id, { entity_type: 'work' });
    expect(page).toContain('<h1><bdi>Label without a name</bdi></h1>');
    expect(page).not.toContain('entity_type=work');
  });
});
