import { randomUUID } from 'node:crypto';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { handler as getEntity } from '../../functions/api/get-entity.ts';
import { handler as entityFeed } from '../../functions/api/get-entity-feed.ts';
import { handler as siteFeed } from '../../functions/api/get-site-feed.ts';
import { handler as getUser } from '../../functions/api/get-user.ts';
import { handler as userFeed } from '../../functions/api/get-user-feed.ts';
import { handler as listReviews } from '../../functions/api/list-reviews.ts';
import { handler as showHome } from '../../functions/pages/show-home.ts';
import { handler as showReviews } from '../../functions/pages/show-reviews.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { beginErasure, makeUser, makeUsers, type Person, text, visitor } from '../helpers/world.ts';

/** An element of a document, without the text around its child elements. */
interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

/** Parses a document as strictly as XML 1.0 and its namespaces require. */
function parse(xml: string) {
  const parser = new SaxesParser({ xmlns: true });
  const root: Element = { name: '', attributes: {}, text: '', children: [] };
  const open = [root];
  const take = (text: string) => {
    for (const element of open.slice(-1)) element.text += text;
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ local, uri, attributes }: SaxesTagNS) => {
    expect(uri).toBe('http://www.w3.org/2005/Atom');
    const values = Object.values(attributes).map(({ name, value }) => [name, value]);
    const element = { name: local, attributes: Object.fromEntries(values), text: '', children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  parser.on('text', take);
  parser.on('cdata', take);
  parser.write(xml).close();
  return root.children[0] as Element;
}

const all = ({ children }: Element, name: string) =>
  children.filter((child) => child.name === name);

function only(element: Element, name: string) {
  const [found, ...more] = all(element, name);
  if (!found || more.length > 0) throw new Error(`${more.length + 1} × ${name}`);
  return found;
}

/**
 * Renders HTML that has only tags of lines and paragraphs, as a feed reader does. Any other tag
 * would come from the author of a review.
 */
function shown(html: string) {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  const bare = html.replaceAll(/<(p( lang="en" dir="auto")?|\/p|br)>/g, (tag) =>
    tag === '<br>' ? '\n' : '',
  );
  expect(bare).not.toMatch(/[<>]/);
  return bare.replaceAll(/&(#?\w+);/g, (_, name) => entities[name] ?? `?${name}`);
}

const feedOf = async (handler: unknown, path: Record<string, string>) => {
  const answer = await invoke(handler, { path });
  expect(answer).toHaveStatus(200);
  return { ...answer, feed: parse(answer.body) };
};

let author: Person;
let users: Person[];
const entity_id = randomUUID();
const ids: string[] = [];

beforeAll(async () => {
  users = await makeUsers(3);
  author = users[0] as Person;
  for (const user of users) {
    // Entries of the same millisecond have no order.
    stopClock(Date.now() + 5);
    ids.unshift(await user.publishes({ entity_id, rating: 3 }));
  }
});

describe.each([
  ['GET /entity/{entity_id}/reviews.atom', entityFeed, () => ({ entity_id })],
  ['GET /user/{user_id}/reviews.atom', userFeed, () => ({ user_id: author.id })],
  ['GET /reviews.atom', siteFeed, () => ({})],
])('%s', (_, handler, path) => {
  test('is a valid feed by RFC 4287, with an ETag', async () => {
    const { headers, body, feed } = await feedOf(handler, path() as Record<string, string>);
    expect(headers).toMatchObject({
      'content-type': 'application/atom+xml',
      'cache-control': 'public, max-age=0, s-maxage=10, stale-if-error=0',
      'x-content-type-options': 'nosniff',
    });
    expect(feed.name).toBe('feed');
    const { text: id } = only(feed, 'id');
    expect(id).toMatch(/^https:\/\/api\.example\/ws\/1(\/\w+\/[\w-]+)?\/reviews.atom$/);
    const links = all(feed, 'link').map(({ attributes }) => [attributes.rel, attributes.href]);
    expect(links).toEqual([
      [
        'alternate',
        id === `${process.env.AUTH_URL}/1/reviews.atom`
          ? `${process.env.AUTH_URL}/reviews`
          : id.replace('/ws/1/', '/ws/').replace('/reviews.atom', ''),
      ],
      ['self', id],
    ]);
    for (const entry of all(feed, 'entry')) {
      for (const name of ['id', 'title', 'updated', 'published', 'author', 'content']) {
        expect(only(entry, name)).toBeDefined();
      }
      expect(only(only(entry, 'author'), 'name').text).toBe('Ann');
    }
    const { etag = '' } = headers;
    const request = { path: path() as never };
    const again = await invoke(handler, { ...request, headers: { 'If-None-Match': etag } });
    expect(again).toMatchObject({ status: 304, body: '' });
    const head = await invoke(handler, { ...request, method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '', headers: { etag } });
    expect(body).toMatch(/^<\?xml version="1.0" encoding="utf-8"\?>/);
  });
});

describe('the feed of the site', () => {
  test('has the newest reviews of everybody and everything, without drafts and hidden ones', async () => {
    const [ann, ben] = users;
    stopClock(Date.now() + 50);
    const draft = await ben?.publishes({ is_draft: true });
    stopClock(Date.now() + 50);
    const last = await ann?.publishes({ entity_type: 'bk_author' });
    const { feed } = await feedOf(siteFeed, {});
    const listed = all(feed, 'entry').map((entry) => only(entry, 'id').text);
    expect(listed.slice(0, 4)).toEqual([last, ...ids].map((id) => `urn:uuid:${id}`));
    expect(listed).not.toContain(`urn:uuid:${draft}`);
    expect(only(feed, 'title').text).toBe('Reviews');
  });

  test.each([
    ['the start page', showHome],
    ['the page of all reviews', showReviews],
  ])('is named by %s', async (_, handler) => {
    const { body } = await invoke(handler, {});
    expect(body).toContain(
      `<link rel="alternate" type="application/atom+xml" href="${process.env.AUTH_URL}/1/reviews.atom" title="All reviews">`,
    );
  });
});

describe('a feed', () => {
  test('lists the newest first, with the times of publication and last change', async () => {
    const { feed } = await feedOf(entityFeed, { entity_id });
    const entries = all(feed, 'entry');
    const urns = ids.map((id) => `urn:uuid:${id}`);
    expect(entries.map((entry) => only(entry, 'id').text)).toEqual(urns);
    const at = 'https://api.example/ws';
    const newest = entries[0] as Element;
    expect(all(newest, 'link').map(({ attributes }) => attributes)).toEqual([
      { rel: 'alternate', type: 'text/html', href: `${at}/review/${ids[0]}` },
    ]);
    expect(only(only(newest, 'author'), 'uri').text).toBe(`${at}/user/${users[2]?.id}`);
    const before = only(feed, 'updated').text;
    stopClock(Date.now() + 60_000);
    await author.edits(ids[2] ?? '', { rating: 1 });
    const { feed: after } = await feedOf(entityFeed, { entity_id });
    const edited = all(after, 'entry')[2] as Element;
    expect(only(edited, 'title').text).toBe('★☆☆☆☆ Album or single without a name');
    expect(only(edited, 'updated').text).toBe(only(after, 'updated').text);
    expect(only(edited, 'published').text < only(edited, 'updated').text).toBe(true);
    expect(before < only(after, 'updated').text).toBe(true);
  });

  test('contains no draft, no hidden review, and at most 50 entries', async () => {
    const writer = await makeUser();
    await writer.publishes({ is_draft: true });
    await writer.publishesHidden();
    const path = { user_id: writer.id };
    const { feed } = await feedOf(userFeed, path);
    expect(all(feed, 'entry')).toEqual([]);
    expect(only(feed, 'updated').text).toBe('1970-01-01T00:00:00.000Z');
    for (let i = 0; i < 51; i++) await writer.publishes();
    expect(all((await feedOf(userFeed, path)).feed, 'entry')).toHaveLength(50);
  });

  // XML 1.0 section 2.2.
  const forbidden = '\u0001\u0008\u000b\u001f\ufffe\uffff';
  test.each([
    ['markup', `<script>alert(1)</script> <img src=x onerror="x()"> ${text}`],
    ['the end of CDATA', `]]> <![CDATA[ ]]]]>> --> ${text}`],
    ['entities', `&lt;b&gt; &amp; &amp;amp; &#0; &unknown; 'q' "q" & ${text}`],
    ['characters that XML forbids', `${forbidden} ${text}`, ` ${text}`],
    ['several lines', `one\ntwo\n\nfour ${text}`],
  ])('shows a hostile text as written: %s', async (_, hostile, expected = hostile) => {
    const writer = await makeUser();
    await writer.publishes({ text: hostile, rating: null });
    const { feed } = await feedOf(userFeed, { user_id: writer.id });
    const content = only(only(feed, 'entry'), 'content');
    expect(content.attributes.type).toBe('html');
    expect(shown(content.text)).toBe(expected);
  });

  test('shows only stars without a text, and only the text without stars', async () => {
    const writer = await makeUser();
    await writer.publishes({ text: null, rating: 3 });
    stopClock(Date.now() + 5);
    await writer.publishes({ text: 'Without any stars, but long enough.', rating: null });
    const { feed } = await feedOf(userFeed, { user_id: writer.id });
    expect(all(feed, 'entry').map((entry) => only(entry, 'content').text)).toEqual([
      '<p lang="en" dir="auto">Without any stars, but long enough.</p>',
      '<p>★★★☆☆</p>',
    ]);
  });

  test('names entities as their databases do, and tells the language of a text', async () => {
    const writer = await makeUser();
    const named = randomUUID();
    const unnamed = randomUUID();
    await nameEntities({ [named]: 'Blue & Green' });
    await writer.publishes({ entity_id: named, language: 'ar', rating: 5 });
    stopClock(Date.now() + 5);
    await writer.publishes({ entity_id: unnamed, entity_type: 'bk_literary_work', rating: 1 });
    const { feed } = await feedOf(userFeed, { user_id: writer.id });
    const entries = all(feed, 'entry');
    expect(entries.map((entry) => only(entry, 'title').text)).toEqual([
      '★☆☆☆☆ Book without a name',
      '★★★★★ Blue & Green',
    ]);
    expect(only(entries[1] as Element, 'content').text).toContain('<p lang="ar" dir="auto">');
    const { feed: ofEntity } = await feedOf(entityFeed, { entity_id: named });
    expect(only(ofEntity, 'title').text).toBe('Reviews of Blue & Green');
  });

  test.each(['A & B', '&amp;', '&lt;i&gt;', '<i>]]></i>', '"\'', '\u{10fffd}'])(
    'shows a hostile name unchanged: %j',
    async (display_name) => {
      const writer = await makeUser({ display_name });
      await writer.publishes();
      const { feed } = await feedOf(userFeed, { user_id: writer.id });
      expect(only(feed, 'title').text).toBe(`Reviews by ${display_name}`);
      expect(only(only(only(feed, 'entry'), 'author'), 'name').text).toBe(display_name);
    },
  );

  test('returns 404 in JSON for a deleted account', async () => {
    const gone = await makeUser();
    await beginErasure(gone);
    for (const user_id of [gone.id, randomUUID()]) {
      expect(await invoke(userFeed, { path: { user_id } })).toMatchObject({
        status: 404,
        headers: { 'content-type': 'application/json' },
        body: { error: 'not_found' },
      });
    }
  });

  test('is linked from the JSON of its entity, its user and their reviews', async () => {
    const linkTo = (path: string) =>
      `</ws/1/${path}/reviews.atom>; rel="alternate"; type="application/atom+xml"`;
    const withPage = (path: string) =>
      `${linkTo(path)}, </ws/${path}>; rel="alternate"; type="text/html"`;
    const ofEntity = linkTo(`entity/${entity_id}`);
    const ofUser = linkTo(`user/${author.id}`);
    const linkOf = async (handler: unknown, request: object) =>
      (await invoke(handler, request)).headers.link;
    expect(await linkOf(getEntity, { path: { entity_id } })).toBe(withPage(`entity/${entity_id}`));
    const path = { user_id: author.id };
    expect(await linkOf(getUser, { path })).toBe(withPage(`user/${author.id}`));
    expect(await linkOf(listReviews, { query: path })).toBe(ofUser);
    const query = { entity_id, limit: '2' };
    expect(await linkOf(listReviews, { query })).toMatch(
      new RegExp(`^${ofEntity.replaceAll(/[/.+]/g, '\\$&')}, <\\?entity_id=.*>; rel="next"$`),
    );
    const { headers } = await visitor.readsUser(author.id);
    const again = await visitor.readsUser(author.id, { 'If-None-Match': `${headers.etag}` });
    expect(again).toHaveStatus(304);
    expect(again.headers.link).toBe(withPage(`user/${author.id}`));
    expect(await linkOf(listReviews, { query: { entity_id, user_id: author.id } })).toBeUndefined();
  });
});
