import { gzipSync } from 'node:zlib';
import { handler as endpoints } from '../../functions/pages/show-endpoints.ts';
import { handler as reference } from '../../functions/pages/show-reference.ts';
import { routes } from '../../shared/base/routes.ts';
import { matchRoute } from '../../shared/core/http/match-route.ts';
import { unescapeHtml } from '../helpers/browser.ts';
import { isJson } from '../helpers/contract.ts';
import { invoke } from '../helpers/invoke.ts';

const at = 'https://reviews.example/of/us/ws';
process.env.AUTH_URL = at;

const groups = [
  'reviews',
  'entities',
  'votes-and-reports',
  'users',
  'own-account',
  'oauth-2-0',
  'service',
  'webhooks',
  'headers',
  'errors',
  'schemas',
];

const show = (group: string) => invoke(endpoints, { path: { group } });

const index = await invoke(reference);
const bodies = [index, ...(await Promise.all(groups.map((group) => show(group))))].map(
  ({ body }) => `${body}`,
);
const pages = new Map(['', ...groups].map((slug, i) => [slug, bodies[i] ?? '']));
const articles = bodies.map((body) => /<article>.*<\/article>/s.exec(body)?.[0] ?? '');
const whole = articles.join('\n');
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
const menuOf = (html: string) =>
  /<nav class="menu" aria-label="Contents">(.*?)<\/nav>/s.exec(html)?.[1] ?? '';

/** Returns an identifier as the OpenAPI document has it: `getReview` for `get-review`. */
const idOf = (operation: string) =>
  operation.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the part of the reference on an operation or a schema. */
function partOn(id: string): string {
  const [, part = ''] = whole.split(`<h2 id="${idOf(id)}">`);
  return part.split(/<h2 id=|<\/article>/)[0] ?? '';
}

const textOf = (html: string) =>
  unescapeHtml(html.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ');

describe.each(['', ...groups])('GET /docs/api/%s', (group) => {
  const page = pages.get(group) ?? '';
  test('is a page without scripts, in the dress of the service', async () => {
    const path = group ? `/docs/api/${group}` : '/docs/api';
    const operation = group ? 'show-endpoints' : 'show-reference';
    expect(matchRoute('GET', path)?.route.operation).toBe(operation);
    const { status, headers } = await (group ? show(group) : invoke(reference));
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(headers['content-security-policy']).not.toMatch(/sandbox|script-src|connect-src/);
    expect(page).toMatch(/<title>(\w[\w ,.]* · )?API reference · Reviews<\/title>/);
    expect(page).toMatch(/<meta name="description" content="[^"]{20,}">/);
    expect(page).not.toMatch(/<script|\{\{|api\.example|undefined|NaN|\[object/);
  });

  test('is small', () => {
    expect(gzipSync(page).length).toBeLessThan(30_000);
  });

  test('its menu lists the groups, and marks the own one with what it describes', () => {
    const menu = menuOf(page);
    const links = [...menu.matchAll(/href="([^"#]*)"( aria-current="page")?/g)];
    const beforeOthers = links.slice(0, groups.length);
    expect(beforeOthers.map(([, href]) => href)).toEqual(
      groups.map((each) => `${at}/docs/api/${each}`),
    );
    const current = links.filter(([, , isCurrent]) => isCurrent).map(([, href]) => href);
    expect(current).toEqual(group ? [`${at}/docs/api/${group}`] : []);
    const listed = [...menu.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
    expect(listed.length > 0).toBe(group !== '');
    expect(listed).toEqual(idsOf(page).filter((id) => listed.includes(id)));
    expect(page).toContain(`<a href="${at}/docs">Guides</a>`);
  });

  test('every link to a part leads to one place, and every heading is a link', () => {
    expect(new Set(idsOf(page)).size).toBe(idsOf(page).length);
    const targets = [...page.matchAll(/href="(?:[^"#]*\/docs\/api\/?([^"#/]*))?#([^"]+)"/g)];
    const dead = targets.filter(([, slug = group, id = '']) => {
      return !idsOf(pages.get(slug) ?? '').includes(id);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
    const [article = ''] = /<article>.*<\/article>/s.exec(page) ?? [];
    const headings = [...article.matchAll(/<h2 id="([^"]+)"><a href="([^"]+)">/g)];
    expect(headings).toHaveLength((article.match(/<h2/g) ?? []).length);
    const elsewhere = headings.filter(([, id, href]) => href !== `#${id}`);
    expect(elsewhere.map(([, id]) => id)).toEqual(group ? [] : groups);
  });
});

test.each(['typo', 'constructor', 'index.html'])('is 404: /docs/api/%s', async (group) => {
  const { status, body } = await show(group);
  expect(status).toBe(404);
  expect(body).toContain('<h1>Page not found</h1>');
});

describe('the index', () => {
  const [list = ''] = articles;

  test('has each operation in a line, with a link to its group', () => {
    for (const { operation, method, path } of routes.filter(isJson)) {
      const id = idOf(operation);
      const [, line = ''] = new RegExp(`<li id="${id}">(.*?)</li>`).exec(list) ?? [];
      const [, slug = ''] = /href="[^"]*\/docs\/api\/([^"#]+)#/.exec(line) ?? [];
      expect(line).toContain(`<code>${method} ${path}</code>`);
      expect(line).toContain(`<a href="${at}/docs/api/${slug}#${id}">`);
      expect(pages.get(slug)).toContain(`<h2 id="${id}">`);
    }
  });

  test.each([
    ['ListedReview', 'schemas'],
    ['ReviewPage', 'reviews'],
    ['ETag', 'headers'],
    ['If-None-Match', 'headers'],
    ['invalid_token', 'errors'],
    ['OAuthError', 'errors'],
    ['review.published', 'webhooks'],
    ['webhook-headers', 'webhooks'],
    ['webhook-answers', 'webhooks'],
  ])('leads a link of the former single page on: #%s to %s', (id, slug) => {
    expect(list).toContain(`<li id="${id}"><a href="${at}/docs/api/${slug}#${id}">`);
  });

  test.each([...groups, 'access', 'licences'])('has the section #%s', (id) => {
    expect(list).toContain(`<h2 id="${id}">`);
  });
});

describe('the pages', () => {
  test.each(routes.filter(isJson))(
    'shows $method $path: who may call it, and a command',
    (route) => {
      const { operation, method, path, access, base = '/1' } = route;
      const part = partOn(operation);
      expect(part).toContain(`<code>${method} ${path}</code> · `);
      const isForm = path.startsWith('/oauth/');
      const who = { public: isForm ? 'client id and secret' : 'public', token: 'any token' };
      const words = access in who ? who[access as 'token'] : `token with the scope ${access}`;
      expect(textOf(part)).toContain(`· ${words}`);
      const [, command = ''] = /<code class="language-sh">(.*?)<\/code>/s.exec(part) ?? [];
      const prefix = `${at}${base}${path.replace(/\{.*/, '')}`;
      expect(unescapeHtml(command)).toContain(` '${prefix}`);
      expect(command.includes('$TOKEN')).toBe(access !== 'public');
      expect(command).not.toMatch(/[{}]\w|_id}/);
    },
  );

  test('has a command with the example of the body', () => {
    expect(
      unescapeHtml(partOn('put-vote')),
    ).toContain(`curl -s -w '\\n' -X PUT '${at}/1/review/2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11/vote' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{
    "vote": true
  }'
`);
  });

  test('explains parameters, bodies, answers and errors in tables', () => {
    const list = textOf(partOn('list-reviews'));
    expect(list).toContain('limit integer The most items on a page. 0 to 50. Default: 50 .');
    expect(list).toContain('language Language Only reviews in this language.');
    expect(list).toContain('200, ReviewPage');
    expect(list).toContain('Request headers: If-None-Match');
    expect(list).toContain('Headers: ETag , Link');
    const create = textOf(partOn('create-review'));
    expect(create).toContain('entity_id uuid, required The reviewed entity.');
    expect(create).toContain('rating integer or null 1 to 5.');
    expect(create.match(/1 to 5/g)).toHaveLength(1);
    expect(create).toContain(
      '400 invalid_request : A field is not valid, or the user has a review',
    );
    expect(create).toContain(
      'Also 401 not_authorized , 401 invalid_token , 403 insufficient_scope',
    );
    const review = textOf(partOn('ListedReview'));
    expect(review).toContain('votes.positive integer, required');
    expect(textOf(partOn('Language'))).toMatch(/\bzu\b/);
  });

  test('lead from an error to its remedy', () => {
    expect(whole).toContain(`<a href="${at}/docs/errors#not_found">`);
  });

  test('says no sentence of its text twice', () => {
    // The index repeats the description of each group.
    const blocks = [
      ...articles
        .slice(1)
        .join('')
        .matchAll(/<p\b[^>]*>(.*?)<\/p>/gs),
    ];
    const sentences = blocks
      .flatMap(([, text = '']) => textOf(text).split(/(?<=\.) (?=[A-Z])/))
      .map((sentence) => sentence.trim())
      .filter((sentence) => /^\S+( \S+){4,}\.$/.test(sentence));
    const repeated = sentences.filter((sentence, i) => sentences.indexOf(sentence) !== i);
    expect(repeated).toEqual([]);
    expect(sentences.length).toBeGreaterThan(30);
  });

  test('names the licence of the software as that only', () => {
    const licences = textOf(whole.split('<h2 id="licences">')[1] ?? '');
    expect(licences).toContain('Each review has a licence of its own');
    expect(licences).toContain('The software of this service is under MIT.');
    expect(textOf(whole).match(/\bMIT\b/g)).toHaveLength(1);
  });
});
