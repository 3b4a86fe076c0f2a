import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../../helpers/chromium.ts';
import { newFolder } from '../../helpers/folder.ts';
import { serve } from '../../helpers/listen.ts';
import { root } from '../../helpers/service.ts';
import { startTestStack } from '../../helpers/stack.ts';

// The page of the guide on a static host of another origin, with the packed package.

const browser = await launchBrowser();
const { authUrl } = await startTestStack();
const base = `${authUrl}/1`;
const { makeUser } = await import('../../helpers/world.ts');
const { makeClient } = await import('../../helpers/oauth-client.ts');

const folder = newFolder();
const tarball = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
  cwd: join(root, 'infra/client'),
});
execFileSync('tar', ['xzf', `${tarball}`.trim(), 'package/dist'], { cwd: folder });

const types: Record<string, string> = { '.js': 'text/javascript', '.html': 'text/html' };
let page = '';
const site = await serve(
  createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://a');
    const file = join(folder, pathname.replace('/client/', '/package/dist/'));
    response.setHeader('Content-Type', types[extname(file)] ?? 'text/html');
    if (pathname === '/') response.end(page);
    else if (existsSync(file)) response.end(readFileSync(file));
    // A browser asks for an icon.
    else response.writeHead(404).end();
  }),
);
const redirect_uri = `${site}/`;
const { client_id } = await makeClient(await makeUser(), redirect_uri, 'Stars', 'public');

const guide = readFileSync(join(root, 'infra/guides/oauth.md'), 'utf8');
page = (/```html\n(.*?)```/s.exec(guide)?.[1] ?? '')
  .replaceAll('{{base_url}}', base)
  .replaceAll('0123…', client_id);

let context: BrowserContext;
/** Forms that tabs have sent to the OAuth endpoints, by `grant_type`, or `revoke`. */
let sent: string[];
beforeEach(async () => {
  context = await browser.newContext();
  sent = [];
  context.on('request', (request) => {
    if (!/\/oauth\/(token|revoke)$/.test(request.url())) return;
    const form = new URLSearchParams(request.postData() ?? '');
    sent.push(form.get('grant_type') ?? 'revoke');
  });
});
afterEach(() => context.close());

/** Opens the page in another tab. */
async function open(address = redirect_uri): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(address);
  return tab;
}

const statusOf = (tab: Page) => tab.getByRole('status');

/** Waits until the page says a sentence. */
async function hears(tab: Page, text: string | RegExp): Promise<void> {
  await statusOf(tab).filter({ hasText: text }).waitFor();
}

/** Goes to the consent page as a new person. */
async function askAs(tab: Page, name: string): Promise<void> {
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByLabel(/name/i).first().fill(name);
  await tab.getByRole('button', { name: 'Sign in' }).click();
  const choice = tab.getByRole('button', { name: 'Save and continue' });
  const allow = tab.getByRole('button', { name: 'Allow', exact: true });
  await choice.or(allow).waitFor();
  if (await choice.isVisible()) await choice.click();
  await allow.waitFor();
  // The button takes no click before the pointer is over the page.
  await tab.mouse.move(300, 300);
}

async function signIn(tab: Page, name: string): Promise<void> {
  await askAs(tab, name);
  await tab.getByRole('button', { name: 'Allow', exact: true }).click();
  await hears(tab, `Hello ${name}`);
}

async function publish(tab: Page): Promise<void> {
  await tab.getByLabel('Id in MusicBrainz').fill(randomUUID());
  await tab.getByLabel('Stars').fill('5');
  await tab.getByRole('button', { name: 'Publish' }).click();
}

const stored = (tab: Page) => tab.evaluate(() => Object.values(localStorage).join());

/** Makes the access token one that has expired. */
const expire = (tab: Page) =>
  tab.evaluate(() => {
    for (const [key, value] of Object.entries(localStorage)) {
      localStorage.setItem(key, value.replace('rva_', 'rva_expired'));
    }
  });

const tokensIn = async (tab: Page) =>
  JSON.parse(await stored(tab)) as { access_token: string; refresh_token: string };

const isAccepted = async (token: string) => {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${base}/user/me`, { headers })).ok;
};

test('the page of the guide has 40 lines', () => {
  expect(page.trim().split('\n').length).toBeLessThanOrEqual(41);
});

test('signs a person in, publishes, refreshes, and signs out', async () => {
  const tab = await open();
  await signIn(tab, 'Ann');
  // The code is not left in the address, and the verifier in no storage.
  expect(tab.url()).toBe(redirect_uri);
  expect(await tab.evaluate(() => sessionStorage.length)).toBe(0);
  await publish(tab);
  await hears(tab, 'Published');
  const before = await tokensIn(tab);
  await expire(tab);
  await statusOf(tab).evaluate((status) => {
    status.textContent = '';
  });
  await publish(tab);
  await hears(tab, 'Published');
  const after = await tokensIn(tab);
  expect(after.refresh_token).not.toBe(before.refresh_token);
  expect(sent).toEqual(['authorization_code', 'refresh_token']);

  // Another day: the person is still signed in.
  await tab.reload();
  await hears(tab, 'Hello Ann');
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await hears(tab, 'Goodbye');
  expect(await stored(tab)).toBe('');
  expect(await isAccepted(after.access_token)).toBe(false);
  await tab.reload();
  await tab.getByRole('button', { name: 'Sign in' }).waitFor();
});

test('refreshes once for all tabs, also for one that was asleep', async () => {
  const tab = await open();
  await signIn(tab, 'Ben');
  const tabs = [tab, await open(), await open(), await open()];
  for (const each of tabs) await hears(each, 'Hello Ben');
  await expire(tab);
  await Promise.all(tabs.map(publish));
  for (const each of tabs) await hears(each, 'Published');
  expect(sent).toEqual(['authorization_code', 'refresh_token']);
});

test('signs out in all tabs', async () => {
  const tab = await open();
  await signIn(tab, 'Cleo');
  const other = await open();
  await hears(other, 'Hello Cleo');
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await hears(tab, 'Goodbye');
  await publish(other);
  // The request goes out without a token.
  await hears(other, 'This request needs');
  await other.getByRole('button', { name: 'Sign in' }).waitFor();
});

test('does not act for another person who has signed in in another tab', async () => {
  const tab = await open();
  await signIn(tab, 'Dan');
  const former = await open();
  await hears(former, 'Hello Dan');
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await hears(tab, 'Goodbye');
  await context.clearCookies();
  await signIn(tab, 'Eve');
  await publish(former);
  await hears(former, 'This request needs');
});

test('says that the person has refused', async () => {
  const tab = await open();
  await askAs(tab, 'Finn');
  await tab.getByRole('button', { name: 'Do not allow' }).click();
  await hears(tab, 'access_denied');
  expect(tab.url()).toBe(redirect_uri);
  expect(sent).toEqual([]);
});

test('says that the access was revoked, and forgets it', async () => {
  const tab = await open();
  await signIn(tab, 'Gwen');
  const { refresh_token } = await tokensIn(tab);
  const form = new URLSearchParams({ token: refresh_token, client_id });
  await fetch(`${base}/oauth/revoke`, { method: 'POST', body: form });
  await publish(tab);
  await hears(tab, 'access has been revoked');
  await tab.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await stored(tab)).toBe('');
});

describe('an answer that somebody else has made', () => {
  /** The state of a sign-in that has begun in this tab. */
  async function begun(tab: Page): Promise<string> {
    await tab.getByRole('button', { name: 'Sign in' }).click();
    // People sign in beside the pages of the service.
    await tab.waitForURL(new URL('/**', authUrl).href);
    await tab.goto(redirect_uri);
    const keys = await tab.evaluate(() => Object.keys(sessionStorage));
    return keys[0]?.split(' ').at(-1) ?? '';
  }

  test.each([
    ['with a state that is not of this tab', 'x', authUrl, ''],
    ['without a state', '', authUrl, ''],
  ])('%s is not redeemed', async (_, state, iss, said) => {
    const tab = await open();
    await begun(tab);
    await tab.goto(`${redirect_uri}?${new URLSearchParams({ code: 'rvc_evil', state, iss })}`);
    await tab.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await statusOf(tab).textContent()).toBe(said);
    expect(sent).toEqual([]);
  });

  test('from another service is not redeemed (RFC 9207)', async () => {
    const tab = await open();
    const state = await begun(tab);
    const iss = 'https://evil.example/ws';
    await tab.goto(`${redirect_uri}?${new URLSearchParams({ code: 'rvc_a', state, iss })}`);
    await hears(tab, 'Another service has answered the sign-in');
    expect(sent).toEqual([]);
  });

  test('with a made-up code signs nobody in', async () => {
    const tab = await open();
    const state = await begun(tab);
    const answer = new URLSearchParams({ code: 'rvc_a', state, iss: authUrl });
    await tab.goto(`${redirect_uri}?${answer}`);
    await hears(tab, 'code is not valid');
    // The verifier is of no use a second time.
    await tab.goto(`${redirect_uri}?${answer}`);
    await tab.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(sent).toEqual(['authorization_code']);
    expect(await stored(tab)).toBe('');
  });
});
