import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/pages/show-revisions.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { pageOf } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const author = await makeUser({ display_name: 'Zoë <i>' });

const show = (review_id: string, query = {}) =>
  pageOf('show-revisions', { path: { review_id }, query });

const headings = (page: string) => [...page.matchAll(/<h2>(.*)<\/h2>/g)].map(([, text]) => text);

describe('GET /review/{review_id}/revisions for people', () => {
  test('shows each state of the review, the newest first', async () => {
    const entity_id = randomUUID();
    await nameEntities({ [entity_id]: 'Blue & Green' });
    const first = 'The first words of this review.';
    const id = await author.publishes({ entity_id, text: first, rating: 2, language: 'de' });
    await author.edits(id, { text: 'Better words <b>than the first</b>.', rating: 5 });
    const page = await show(id);
    expect(page).toContain('<title>Revisions of Blue &amp; Green, reviewed by Zoë &lt;i&gt; ·');
    expect(page).toContain(`<h1>Revisions of <a href="${at}/review/${id}"><bdi>Blue &amp; Green`);
    expect(headings(page)).toEqual(['Revision 2', 'Revision 1']);
    const [newest = '', oldest = ''] = page.split('<h2>Revision 1</h2>');
    expect(newest).toContain('Better words &lt;b&gt;than the first&lt;/b&gt;.');
    expect(newest).toContain('aria-label="5 of 5 stars"');
    expect(oldest).toContain(`<div class="review verbatim" lang="de" dir="auto">${first}</div>`);
    expect(oldest).toContain('aria-label="2 of 5 stars"');
    expect(page).toContain('<meta name="robots" content="noindex">');
    expect(page).not.toContain('Earlier revisions');
    const review = await pageOf('show-review', { path: { review_id: id } });
    expect(review).toContain(`href="${at}/review/${id}/revisions">see all revisions</a>`);
  });

  test('continues on another page after 64 KB, without gap or repetition', async () => {
    const longest = (n: number) => `${n} ${'日'.repeat(4990)}`;
    const id = await author.publishes({ text: longest(1) });
    for (let n = 2; n <= 7; n++) await author.edits(id, { text: longest(n) });
    const found: unknown[] = [];
    let query: Record<string, string> | undefined = {};
    for (let pages = 0; query && pages < 7; pages++) {
      const page = await show(id, query);
      expect(Buffer.byteLength(page)).toBeLessThan(96 * 1024);
      found.push(...headings(page));
      const [, href] = /rel="next" href="([^"]*)"/.exec(page) ?? [];
      query = href ? Object.fromEntries(new URL(href).searchParams) : undefined;
    }
    expect(found).toEqual([7, 6, 5, 4, 3, 2, 1].map((n) => `Revision ${n}`));
  });

  test('is 400 for a wrong number', async () => {
    const path = { review_id: await author.publishes() };
    expect(await invoke(handler, { path, query: { before: '0' } })).toHaveStatus(400);
  });
});
