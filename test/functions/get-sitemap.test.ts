import { handler } from '../../functions/api/get-sitemap.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, reviewBy, storeReviews } from '../helpers/world.ts';

const at = 'https://api.example/ws';

async function read(page?: number) {
  const query: Record<string, string> = page === undefined ? {} : { page: `${page}` };
  const { status, body, headers } = await invoke(handler, { query });
  expect([status, headers['content-type']]).toEqual([200, 'application/xml; charset=utf-8']);
  return `${body}`;
}

const locationsIn = (xml: string) =>
  [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => url);
const fixed = [`${at}/`, `${at}/reviews`, `${at}/docs`];

describe('GET /sitemap.xml', () => {
  test('of an empty service is an index of one page, which is not empty', async () => {
    expect(await read()).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>${at}/sitemap.xml?page=1</loc></sitemap>
</sitemapindex>
`);
    expect(await read(1)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>${at}/</loc></url>
<url><loc>${at}/reviews</loc></url>
<url><loc>${at}/docs</loc></url>
</urlset>
`);
  });

  test('has public reviews, oldest first, and no others', async () => {
    const ann = await makeUser();
    const first = await ann.publishes();
    await ann.publishes({ is_draft: true });
    await setHidden(await ann.publishes(), true);
    await applyStream();
    expect(locationsIn(await read(1))).toEqual([...fixed, `${at}/review/${first}`]);
  });

  test('goes on with the thousandth and first review on the second page', async () => {
    const { id } = await makeUser();
    const start = Date.parse('2025-01-01T00:00:00.000Z');
    const reviews = Array.from({ length: 1_001 }, (_, i) => {
      return { ...reviewBy(id), published_on: new Date(start + i * 60_000).toISOString() };
    });
    await storeReviews(reviews);
    await rebuildTotals();
    const [last] = reviews.slice(-1);
    expect(locationsIn(await read(1))).not.toContain(`${at}/review/${last?.id}`);
    expect(locationsIn(await read(2))[0]).toBe(`${at}/review/${last?.id}`);
  });

  test('may be cached, and saves what did not change', async () => {
    const { headers } = await invoke(handler);
    expect(headers['cache-control']).toBe('public, max-age=0, s-maxage=10, stale-if-error=0');
    const again = await invoke(handler, { headers: { 'If-None-Match': `${headers.etag}` } });
    expect(again).toHaveStatus(304);
  });

  test.each(['0', '-1', '4001', '1.5', '1e3', '', 'x', '\ud800', '9'.repeat(400)])(
    'refuses page %j',
    async (page) => {
      const { status, body } = await invoke(handler, { query: { page } });
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    },
  );

  test.each(['3', '4000'])('has no page %s beyond the last', async (page) => {
    const { status, body } = await invoke(handler, { query: { page } });
    expect([status, body.error]).toEqual([404, 'not_found']);
  });
});
