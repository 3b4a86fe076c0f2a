import { gzipSync } from 'node:zlib';
import { handler as docs } from '../../functions/pages/show-docs.ts';
import { handler as guide } from '../../functions/pages/show-guide.ts';
import { matchRoute } from '../../shared/core/http/match-route.ts';
import { invoke } from '../helpers/invoke.ts';

const at = 'https://reviews.example/of/us/ws';
process.env.AUTH_URL = at;

const slugs = [
  'quickstart',
  'oauth',
  'clients',
  'lists',
  'publishing',
  'limits',
  'errors',
  'entities',
  'embed',
  'moderation',
  'mirror',
  'webhooks',
  'critiquebrainz',
  'versions',
];
const show = (slug: string) => invoke(guide, { path: { guide: slug } });

/** The addresses that a page links to, in their order. */
const linksOf = (html: string) => [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);

describe('GET /docs', () => {
  test('lists the guides in their order, and leads to the reference', async () => {
    const { status, body } = await invoke(docs);
    expect(status).toBe(200);
    const [, content = ''] = /<main id="main">(.*)<\/main>/s.exec(body) ?? [];
    expect(linksOf(content)).toEqual([
      ...slugs.map((slug) => `${at}/docs/${slug}`),
      `${at}/docs/api`,
      `${at}/1/openapi.json`,
    ]);
  });
});

describe('GET /docs/{guide}', () => {
  test.each(slugs)('%s: carries the addresses of this service, and no script', async (slug) => {
    expect(matchRoute('GET', `/docs/${slug}`)?.route.operation).toBe('show-guide');
    const { status, headers, body } = await show(slug);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).not.toMatch(/<script|\{\{|api\.example|>undefined|NaN/);
    expect(body).toContain(slug === 'embed' ? `${at}/entity/` : `${at}/1`);
    expect(body).toMatch(/<meta name="description" content="[^"]{40,}">/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(gzipSync(body).length).toBeLessThan(30_000);
  });

  test.each(slugs)('%s: every heading is a link to itself', async (slug) => {
    const { body } = await show(slug);
    const [article = ''] = /<article>.*<\/article>/s.exec(body) ?? [];
    const headings = [...article.matchAll(/<h[23] id="([^"]+)"><a href="#([^"]+)">/g)];
    expect(headings).toHaveLength((article.match(/<h\d/g) ?? []).length);
    expect(headings.every(([, id, target]) => id === target)).toBe(true);
    expect(new Set(headings.map(([, id]) => id)).size).toBe(headings.length);
  });

  test('its menu marks the current guide, and leads to the next and the previous one', async () => {
    for (const [i, slug] of slugs.entries()) {
      const { body } = await show(slug);
      const [, menu = ''] = /<nav class="menu"(.*?)<\/nav>/s.exec(body) ?? [];
      expect(linksOf(menu)).toEqual([...slugs, 'api'].map((each) => `${at}/docs/${each}`));
      const current = `href="${at}/docs/${slug}" aria-current="page"`;
      expect(menu.match(/href="[^"]*" aria-current="page"/g)).toEqual([current]);
      const of = (rel: string) =>
        new RegExp(`href="${at}/docs/(\\w+)" rel="${rel}"`).exec(body)?.[1];
      expect(of('prev')).toEqual(slugs[i - 1]);
      expect(of('next')).toEqual(slugs[i + 1]);
    }
  });

  test('links between guides lead to pages and headings that are there', async () => {
    const pages = await Promise.all(slugs.map(async (slug) => (await show(slug)).body as string));
    const targets = pages.flatMap(linksOf).filter((href) => href?.startsWith(`${at}/docs/`));
    const dead = targets.filter((href = '') => {
      const [slug = '', anchor] = href.replace(`${at}/docs/`, '').split('#');
      if (slug === 'api') return false;
      return anchor && !pages[slugs.indexOf(slug)]?.includes(`id="${anchor}"`);
    });
    expect(dead).toEqual([]);
    expect(targets.length).toBeGreaterThan(100);
  });

  test.each(['typo', 'index.html', 'constructor', '..%2Fapi'])('is 404: %s', async (slug) => {
    const { status, body } = await show(slug);
    expect(status).toBe(404);
    expect(/<h1>([^<]*)/.exec(body)?.[1]).toBe('Page not found');
  });
});
