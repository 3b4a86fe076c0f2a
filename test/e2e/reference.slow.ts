/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { routes } from '../../shared/base/routes.ts';
import { unescapeHtml } from '../helpers/browser.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { isJson } from '../helpers/contract.ts';
import { complaintsOn, everything, violationsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { authUrl } = await startTestStack();
const { makeGrant, makeUser } = await import('../helpers/world.ts');

const run = promisify(execFile);

/** Opens a page of the reference, as axe needs it: axe is a script, and the page allows none. */
async function open(path: string, width: number, colorScheme: 'light' | 'dark') {
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true });
  const page = await context.newPage();
  const complaints = complaintsOn(page);
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${authUrl}/docs/api${path}`);
  return { page, complaints, requested };
}

const looks = [
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const;
const looked = ['', '/own-account', '/webhooks', '/headers', '/errors', '/schemas'].flatMap(
  (path) => looks.map((look) => [path, ...look] as const),
);

test.each(looked)(
  '/docs/api%s, %d px wide, %s: accessible, with all examples open',
  async (path, width, scheme) => {
    const { page, complaints, requested } = await open(path, width, scheme);
    expect(await violationsOn(page, everything)).toEqual([]);
    await page.evaluate(
      `document.querySelectorAll('details').forEach((each) => { each.open = true; })`,
    );
    expect(await violationsOn(page, everything)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    // Code is read beside text of 16 pixels.
    const sizes = `[...document.querySelectorAll('code')].map((each) => parseFloat(getComputedStyle(each).fontSize))`;
    expect(await page.evaluate(`Math.min(...${sizes})`)).toBeGreaterThanOrEqual(14);
    expect(requested).toEqual([`${authUrl}/docs/api${path}`]);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

test('an address of the former single page leads to the operation, by its line in the index', async () => {
  const { page } = await open('#putVote', 1280, 'light');
  const line = page.getByRole('listitem').filter({ hasText: 'PUT /review/{review_id}/vote' });
  await line.getByRole('link', { name: 'Vote on a review' }).click();
  await page.getByRole('heading', { name: 'Votes and reports', level: 1 }).waitFor();
  expect(page.url()).toBe(`${authUrl}/docs/api/votes-and-reports#putVote`);
  const heading = page.getByRole('heading', { name: 'Vote on a review' });
  expect((await heading.boundingBox())?.y).toBeLessThan(100);
  await page.context().close();
});

test('on a phone the contents open above the article, and lead to an operation', async () => {
  const { page } = await open('/votes-and-reports', 390, 'light');
  const contents = page.getByRole('navigation', { name: 'Contents' });
  const link = contents.getByRole('link', { name: 'Vote on a review' });
  expect(await link.isVisible()).toBe(false);
  await contents.getByText('Contents').click();
  await link.click();
  const heading = page.getByRole('heading', { name: 'Vote on a review' });
  const { y = -1 } = (await heading.boundingBox()) ?? {};
  expect(y).toBeGreaterThanOrEqual(0);
  expect(y).toBeLessThan(100);
  await page.context().close();
});

test('on a wide screen the contents are always open, beside the article', async () => {
  const { page } = await open('', 1280, 'light');
  const contents = page.getByRole('navigation', { name: 'Contents' });
  await contents.getByRole('link', { name: 'Users', exact: true }).click();
  await contents.getByRole('link', { name: 'List users' }).click();
  expect(await contents.getByRole('link', { name: 'Schemas' }).isVisible()).toBe(true);
  expect(await contents.getByText('Contents').isVisible()).toBe(false);
  await page.context().close();
});

/** Answers of commands that need a code or a client that nobody has. */
const refused: Record<string, string> = {
  'create-token': 'invalid_client',
  'revoke-token': 'invalid_client',
};

/** Returns the identifier of an operation in the document: `getReview` for `get-review`. */
const idOf = (operation: string) =>
  operation.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

test.each(routes.filter(isJson))(
  '$operation: its command, pasted into a shell, is answered and ends the line',
  async ({ operation }) => {
    const index = await (await fetch(`${authUrl}/docs/api`)).text();
    const [address = ''] =
      new RegExp(`${authUrl}/docs/api/[^"]*#${idOf(operation)}`).exec(index) ?? [];
    const response = await fetch(address);
    const [, part = ''] = (await response.text()).split(`<h2 id="${idOf(operation)}">`);
    const [, escaped = ''] = /<code class="language-sh">(.*?)<\/code>/s.exec(part) ?? [];
    const ann = await makeUser();
    const ben = await makeUser();
    const isOwn = ['update-review', 'delete-review'].includes(operation);
    const entity_id = crypto.randomUUID();
    const review = await (isOwn ? ann : ben).publishes({ entity_id });
    const { access_token } = await makeGrant(ann, ['review', 'vote', 'user']);
    // The reader's own ids, in place of those of the examples.
    const command = unescapeHtml(escaped)
      .replaceAll('2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11', review)
      .replaceAll('9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2', ben.id)
      .replaceAll('8e8a594f-2175-38c7-a871-abb68ec363e7', entity_id);
    const env = { PATH: process.env.PATH, TOKEN: access_token };
    if (['get-vote', 'delete-vote'].includes(operation)) {
      const url = `${authUrl}/1/review/${review}/vote`;
      const headers = {
        Authorization: `Bearer ${access_token}`,
        'Content-Type': 'application/json',
      };
      await fetch(url, { method: 'PUT', headers, body: '{"vote":true}' });
    }
    const { stdout: output } = await run('bash', ['-c', command], { env });
    expect(output).toMatch(/\n$/);
    const [, error] = /^\{"error":"(\w+)"/.exec(output) ?? [];
    expect([output, error]).toEqual([output, refused[operation]]);
  },
);
