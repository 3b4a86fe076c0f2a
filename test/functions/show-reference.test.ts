import { gzipSync } from 'node:zlib';
import { handler as reference } from '../../functions/pages/show-reference.ts';
import { routes } from '../../shared/base/routes.ts';
import { unescapeHtml } from '../helpers/browser.ts';
import { isJson } from '../helpers/contract.ts';
import { invoke } from '../helpers/invoke.ts';

const at = 'https://reviews.example/of/us/ws';
process.env.AUTH_URL = at;

const { status, headers, body } = await invoke(reference);
const page = `${body}`;
const [article = ''] = /<article>.*<\/article>/s.exec(page) ?? [];
const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

/** Returns an identifier as the OpenAPI document has it: `getReview` for `get-review`. */
const idOf = (operation: string) =>
  operation.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the part of the article on an operation or a schema. */
function partOn(id: string): string {
  const [, part = ''] = article.split(`<h3 id="${idOf(id)}">`);
  return part.split(/<h[23] id=/)[0] ?? '';
}

const textOf = (html: string) =>
  unescapeHtml(html.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ');

describe('GET /docs/api', () => {
  test('is a page without scripts, in the dress of the service', () => {
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(headers['content-security-policy']).not.toMatch(/sandbox|script-src|connect-src/);
    expect(page).toContain('<title>API reference · Reviews</title>');
    expect(page).not.toMatch(/<script|\{\{|api\.example|undefined|NaN|\[object/);
  });

  test('is small, and saved with its ETag', async () => {
    expect(gzipSync(page).length).toBeLessThan(30_000);
    const again = await invoke(reference, { headers: { 'If-None-Match': `${headers.etag}` } });
    expect(again).toHaveStatus(304);
    expect(again.body).toBe('');
  });

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

  test('every link within the page leads to one place, and every heading is a link to itself', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
    expect(targets.length).toBeGreaterThan(200);
    const headings = [...article.matchAll(/<h[23] id="([^"]+)"><a href="#([^"]+)">/g)];
    expect(headings).toHaveLength((article.match(/<h[23]/g) ?? []).length);
    expect(headings.filter(([, id, target]) => id !== target)).toEqual([]);
  });

  test('its contents list every operation by tag, in the order of the page', () => {
    const [, menu = ''] = /<nav class="menu" aria-label="Contents">(.*?)<\/nav>/s.exec(page) ?? [];
    const listed = [...menu.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    const operations = routes.filter(isJson).map(({ operation }) => idOf(operation));
    expect(listed.filter((id = '') => operations.includes(id)).sort()).toEqual(operations.sort());
    expect(listed).toEqual(ids.filter((id) => listed.includes(id)));
    expect(textOf(menu)).toContain('Votes and reports Report a review Get your vote');
  });

  test('leads to the guides, and from an error to its remedy', () => {
    expect(page).toContain(`<a href="${at}/docs">Guides</a>`);
    expect(article).toContain(`<a href="${at}/docs/errors#not_found">`);
  });

  test('says no sentence of its text twice', () => {
    const blocks = [...article.matchAll(/<p\b[^>]*>(.*?)<\/p>/gs)];
    const sentences = blocks
      .flatMap(([, text = '']) => textOf(text).split(/(?<=\.) (?=[A-Z])/))
      .map((sentence) => sentence.trim())
      .filter((sentence) => /^\S+( \S+){4,}\.$/.test(sentence));
    const repeated = sentences.filter((sentence, i) => sentences.indexOf(sentence) !== i);
    expect(repeated).toEqual([]);
    expect(sentences.length).toBeGreaterThan(30);
  });

  test('names the licence of the software as that only', () => {
    const licences = textOf(article.split('<h2 id="licences">')[1] ?? '');
    expect(licences).toContain('Each review has a licence of its own');
    expect(licences).toContain('The software of this service is under MIT.');
    expect(textOf(article).match(/\bMIT\b/g)).toHaveLength(1);
  });
});
