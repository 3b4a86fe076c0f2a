import { openBrowser, type Shown } from '../helpers/browser.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';

const { issuer, authUrl, join } = await startStackWithProvider();

const { reviewItem } = await import('../../shared/core/review/review-writes.ts');
const { batchWrite } = await import('../../shared/base/table/batch.ts');
const { claimKey } = await import('../../shared/core/keys.ts');
const { reviewBy } = await import('../helpers/world.ts');

/** Writes `count` reviews with texts of that many bytes each. Returns their ids. */
async function write(userId: string, count: number, bytes: number) {
  const reviews = Array.from({ length: count }, () =>
    reviewBy(userId, { text: '🎷'.repeat(bytes / 4), rating: null }),
  );
  await batchWrite(
    reviews.flatMap((review) => [
      { put: reviewItem(review) },
      { put: { ...claimKey(userId, review.entity_id), review_id: review.id } },
    ]),
  );
  return reviews.map(({ id }) => id);
}

function moreOn({ html }: Shown) {
  const [, more] = /<a href="([^"]+)">Show more parts/.exec(html) ?? [];
  return more?.replaceAll('&amp;', '&');
}

function fileIn({ status, headers, html }: Shown) {
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('cache-control')).toBe('no-store');
  const disposition = headers.get('content-disposition') ?? '';
  const [, name] = /^attachment; filename="([\w.-]+)"$/.exec(disposition) ?? [];
  const data = JSON.parse(html) as { profile?: { id: string }; reviews: { id: string }[] };
  return { name, data };
}

describe('GET /account/data', () => {
  test('is one file for nearly everybody, linked from the account page', async () => {
    const { browser, id, account } = await join('ann@example.com');
    const ids = await write(id, 3, 100);
    expect(account.html).toContain(`<a class="button quiet" href="${authUrl}/account/data">`);
    const { name, data } = fileIn(await browser.visit('account/data'));
    expect(name).toBe('my-data.json');
    expect(data.profile?.id).toBe(id);
    expect(data.reviews.map((review) => review.id).toSorted()).toEqual(ids.toSorted());
    expect(data).not.toHaveProperty('next');
  });

  test('is split into several files if one cannot hold everything', async () => {
    const { browser, id } = await join('ben@example.com');
    const ids = await write(id, 700, 20_000);
    let page = await browser.visit('account/data');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const linksOn = ({ html }: Shown) => html.matchAll(/<li><a href="([^"]+)">(Part \d+)<\/a>/g);
    const links = [...linksOn(page)];
    // If reading takes seconds, the list continues behind a link.
    for (let more = moreOn(page); more; more = moreOn(page)) {
      page = await browser.visit(more);
      links.push(...linksOn(page));
    }
    expect(links.map(([, , title]) => title)).toEqual(['Part 1', 'Part 2', 'Part 3']);
    const found = [];
    for (const [i, [, address = '']] of links.entries()) {
      const { name, data } = fileIn(await browser.visit(address.replaceAll('&amp;', '&')));
      expect(name).toBe(`my-data-${i + 1}.json`);
      expect(data.profile?.id).toEqual(i === 0 ? id : undefined);
      found.push(...data.reviews.map((review) => review.id));
    }
    expect(found.toSorted()).toEqual(ids.toSorted());
  });

  test('requires a sign-in, and returns no part of another user’s data', async () => {
    const nobody = openBrowser(authUrl, issuer);
    const shown = await nobody.visit('account/data');
    expect(shown).toHaveStatus(200);
    expect(shown.html).toEqual(expect.stringContaining('Sign in'));
    const ann = await join('ann@example.com');
    const ben = await join('ben@example.com');
    const page = await ben.browser.visit('account/data');
    const [, address = ''] = /<a href="([^"]+cursor[^"]+)">Part 2/.exec(page.html) ?? [];
    expect(address).not.toBe('');
    expect(await ann.browser.visit(address.replaceAll('&amp;', '&'))).toHaveStatus(400);
  });
});
