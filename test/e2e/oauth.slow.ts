import { createServer } from 'node:http';
import type { BrowserContext, Page } from 'playwright-core';
import { callerOf } from '../helpers/api.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { serve } from '../helpers/listen.ts';
import { complaintsOn, handsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { url, authUrl: issuer } = await startTestStack();

/** The application. It only answers when the browser returns to it. */
const application = createServer((_, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><html lang="en"><title>Application</title><h1>Welcome back</h1>');
});
const website = await serve(application);
const redirect_uri = `${website}/callback`;

let context: BrowserContext;
let page: Page;
let complaints: string[];

async function open(options: Parameters<typeof browser.newContext>[0]): Promise<void> {
  context = await browser.newContext(options);
  page = await context.newPage();
  complaints = complaintsOn(page, website);
  page.on('requestfailed', (request) => {
    // The browser aborts requests itself when it leaves for another page.
    const why = request.failure()?.errorText;
    if (why !== 'net::ERR_ABORTED') complaints.push(`${why}: ${request.url()}`);
  });
}

afterEach(async () => {
  await context.close();
  expect(complaints).toEqual([]);
});

const { click, follow, fill, arrive, hear, signIn, signOut, choose } = handsOn(() => page);
/** Returns the description of a term in a description list. */
const described = async (term: string) =>
  (await page.locator(`dt:text-is("${term}") + dd`).textContent()) ?? '';
/** Unfolds the secret and returns it. */
const secret = async () => {
  const code = page.locator('details code');
  expect(await code.isVisible()).toBe(false);
  await page.getByText('Show secret').click();
  await code.waitFor();
  return (await code.textContent()) ?? '';
};

async function register(name: string, desc = 'Shows your reviews') {
  await fill('Name', name);
  await fill('What it does', desc);
  await fill('Website', website);
  await fill('Redirect URI', redirect_uri);
  await click('Register application');
  await hear('The application is registered');
  expect(await page.title()).toBe(`${name} · Reviews`);
  return {
    client_id: (await page.locator('code').first().textContent()) ?? '',
    client_secret: await secret(),
  };
}

function authorize(client_id: string, scope: string, state: string) {
  const query = { response_type: 'code', client_id, redirect_uri, scope, state };
  return page.goto(`${issuer}/oauth/authorize?${new URLSearchParams(query)}`);
}

/** Returns a response of the token endpoint, with its status. */
async function askForToken(
  { client_id, client_secret }: Awaited<ReturnType<typeof register>>,
  form: Record<string, string>,
): Promise<{ status: number; access_token?: string; refresh_token?: string; error?: string }> {
  const body = new URLSearchParams({ client_id, client_secret, redirect_uri, ...form });
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  return { ...((await response.json()) as object), status: response.status };
}

/** Returns the status and the display name from GET /user/me. */
async function readMe(access_token = ''): Promise<[number, string | undefined]> {
  const { status, body } = await callerOf(url, access_token)('GET', '/user/me');
  return [status, body.user?.display_name];
}

const phone = { width: 360, height: 640 };

describe.each([
  ['with JavaScript', { javaScriptEnabled: true }],
  ['without JavaScript, on a phone', { javaScriptEnabled: false, viewport: phone }],
])('%s', (situation, options) => {
  const name = `Ann, ${situation}`;

  beforeEach(() => open(options));

  /** Expects the page not to be wider than the window. */
  async function expectItFits(): Promise<void> {
    const width = page.viewportSize()?.width ?? 0;
    for (const element of await page.locator('body *:visible').all()) {
      const box = await element.boundingBox();
      if (box) expect(box.x + box.width).toBeLessThanOrEqual(width + 1);
    }
  }

  test('a person registers an application, connects it and revokes its access', async () => {
    await page.goto(`${issuer}/account/applications`);
    await signIn(name);
    await arrive('Your applications');
    await expectItFits();
    const registered = await register('Shelf <b>');
    await expectItFits();

    await authorize(registered.client_id, 'review,vote', 'x y+z');
    await arrive('Let Shelf <b> use your account?');
    expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
      'Know who you are. Your profile and email address, your reviews and drafts, and the applications that you have registered or connected.',
      'Write in your name. Publish reviews, and change and delete your reviews.',
      'Vote in your name. Vote on reviews, and report them to moderators.',
    ]);
    expect(await described('Made by')).toBe(name);
    expect(await page.getByRole('navigation').count()).toBe(0);
    await expectItFits();
    await click('Allow');
    await arrive('Welcome back');
    const back = new URL(page.url());
    expect(back.origin + back.pathname).toBe(redirect_uri);
    expect(back.searchParams.get('state')).toBe('x y+z');
    expect(back.searchParams.get('iss')).toBe(issuer);

    const code = back.searchParams.get('code') ?? '';
    const tokens = await askForToken(registered, { grant_type: 'authorization_code', code });
    expect(tokens).toHaveStatus(200);
    expect(await readMe(tokens.access_token)).toEqual([200, name]);

    await page.goto(`${issuer}/account`);
    await arrive(name);
    await expectItFits();
    await choose('Connections');
    await arrive('Connected applications');
    const connected = page.getByRole('listitem').first();
    expect(await connected.getByRole('heading').textContent()).toBe('Shelf <b>');
    const today = new Date().toISOString().slice(0, 10);
    expect(await connected.locator('time').first().getAttribute('datetime')).toBe(today);
    expect(await connected.getByText('Vote on reviews').isVisible()).toBe(false);
    await connected.getByText('What it may do').click();
    await connected.getByText('Vote on reviews').waitFor();
    expect(await connected.textContent()).not.toContain('Change your profile');
    await expectItFits();
    await click('Revoke access of Shelf <b>');
    await hear('The application no longer has access to your account.');
    await page.getByText('No application is connected.').waitFor();
    expect(await readMe(tokens.access_token)).toEqual([401, undefined]);
    const form = { grant_type: 'refresh_token', refresh_token: `${tokens.refresh_token}` };
    const refused = await askForToken(registered, form);
    expect(refused).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('a person refuses access', async () => {
    await page.goto(`${issuer}/account/applications`);
    await signIn(name);
    const { client_id } = await register('Unwanted');
    await signOut();
    await arrive('You are signed out');
    await authorize(client_id, 'user', 's');
    await signIn(name);
    await arrive('Let Unwanted use your account?');
    await click('Do not allow');
    await arrive('Welcome back');
    const answer = ['error', 'access_denied', 'state', 's', 'iss', issuer];
    expect([...new URL(page.url()).searchParams].flat()).toEqual(answer);
    // Going back to change the answer is too late.
    await page.goBack();
    await arrive('Please start again');
    expect(await page.getByRole('link', { name: 'Go back to 127.0.0.1' }).count()).toBe(1);
    await page.goto(`${issuer}/account/connections`);
    await page.getByText('No application is connected.').waitFor();
    complaints = complaints.filter((text) => !text.includes('400 (Bad Request)'));
  });

  test('a person changes an application and deletes it', async () => {
    await page.goto(`${issuer}/account/applications`);
    await signIn(name);
    const before = await register('Draft');
    await click('Create new secret');
    await hear('The new secret is created.');
    const after = { ...before, client_secret: await secret() };
    expect(after.client_secret).not.toBe(before.client_secret);
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    expect((await askForToken(before, form)).error).toBe('invalid_grant');
    await click('Revoke old secret');
    await hear('The old secret is revoked.');
    expect(await page.getByText('The old secret works until').count()).toBe(0);
    expect((await askForToken(before, form)).error).toBe('invalid_client');
    expect((await askForToken(after, form)).error).toBe('invalid_grant');

    await fill('Redirect URI', 'http://client.example/');
    await click('Save changes');
    await page.getByRole('alert').waitFor();
    await fill('Name', 'Final');
    await fill('Redirect URI', redirect_uri);
    await click('Save changes');
    await hear('The registration is saved.');
    await arrive('Final');
    await choose('Applications');
    await arrive('Your applications');
    await follow('Final');
    await arrive('Final');
    // The browser requires the tick.
    await click('Delete application');
    await arrive('Final');
    await page.getByRole('checkbox', { name: 'Delete Final' }).check();
    await click('Delete application');
    await arrive('Your applications');
    await hear('The application is deleted.');
    expect(await page.getByRole('link', { name: 'Final' }).count()).toBe(0);
    expect((await askForToken(after, form)).error).toBe('invalid_client');
    complaints = complaints.filter((text) => !text.includes('400 (Bad Request)'));
  });

  test('a person changes the profile and deletes the account', async () => {
    await page.goto(`${issuer}/account/applications`);
    await signIn(`${name}, leaving`);
    const registered = await register('Own');
    await authorize(registered.client_id, '', '');
    await click('Allow');
    await arrive('Welcome back');
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    const tokens = await askForToken(registered, { grant_type: 'authorization_code', code });

    await page.goto(`${issuer}/account`);
    await fill('Public name', 'Annie');
    await fill('Email address', '');
    await click('Save');
    await hear('Your settings are saved.');
    await arrive('Annie');
    expect(await readMe(tokens.access_token)).toEqual([200, 'Annie']);
    const id = await described('Your id');

    await follow('Delete my account …');
    await arrive('Delete your account');
    await expectItFits();
    await fill('To confirm, type your name: Annie', 'Ann');
    await click('Delete account');
    await page.getByRole('alert').waitFor();
    expect(await readMe(tokens.access_token)).toEqual([200, 'Annie']);
    await fill('To confirm, type your name: Annie', 'Annie');
    await click('Delete account');
    await arrive('Your account was deleted');
    await expectItFits();
    expect(await readMe(tokens.access_token)).toEqual([401, undefined]);
    expect(await fetch(`${url}/user/${id}`)).toHaveStatus(404);
    complaints = complaints.filter((text) => !text.includes('400 (Bad Request)'));

    await follow('sign in');
    await signIn(`${name}, leaving`);
    await arrive(`${name}, leaving`);
    expect(await described('Your id')).not.toBe(id);
  });

  test('shows the mistakes of an authorization request on a page', async () => {
    await authorize('0'.repeat(32), '', '');
    await arrive('The application was not connected');
    expect(new URL(page.url()).origin).toBe(new URL(issuer).origin);
    await expectItFits();
    complaints = complaints.filter((text) => !text.includes('400 (Bad Request)'));
  });
});

describe.each([390, 360])('on a window of %i pixels', (width) => {
  beforeEach(() => open({ viewport: { width, height: 640 } }));

  test('no page is wider than the window, whatever the name of an application', async () => {
    const fits = async () =>
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    const lines = async (text: string) => {
      const box = await page.getByText(text, { exact: true }).boundingBox();
      return Math.round((box?.height ?? 0) / 24);
    };
    const name = 'W'.repeat(64);
    const desc = 'x'.repeat(500);
    await page.goto(`${issuer}/account/applications`);
    await signIn(`${width}${'M'.repeat(61)}`);
    await arrive('Your applications');
    await fits();
    await page.locator('header summary').click();
    await fits();
    const links = await page
      .getByRole('navigation', { name: 'Your account' })
      .getByRole('link')
      .all();
    const boxes = await Promise.all(links.map((link) => link.boundingBox()));
    expect(boxes).toHaveLength(5);
    for (const box of boxes) {
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? width)).toBeLessThanOrEqual(width);
    }
    await page.locator('header summary').click();
    const registered = await register(name, desc);
    await fits();
    await choose('Applications');
    await arrive('Your applications');
    await fits();
    expect(await lines(desc)).toBe(3);
    await authorize(registered.client_id, 'review,vote,user', '');
    await arrive(`Let ${name} use your account?`);
    await fits();
    expect(await lines(desc)).toBe(3);
    await click('Allow');
    await arrive('Welcome back');
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    await askForToken(registered, { grant_type: 'authorization_code', code });
    await page.goto(`${issuer}/account/connections`);
    expect(await page.getByRole('heading', { name }).isVisible()).toBe(true);
    await fits();
    await choose('Account');
    await page.getByText('Karma and votes').waitFor();
    await fits();
    await page.goto(`${issuer}/account/sign-out`);
    await fits();
  });
});
