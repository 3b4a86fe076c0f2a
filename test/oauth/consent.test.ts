import {
  headingOf,
  nextSteps,
  openAs,
  openBrowser,
  type Shown,
  textBetween,
} from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startTestStack } from '../helpers/stack.ts';

const { authUrl: issuer } = await startTestStack();

const { countPeople, deleteApplication } = await import(
  '../../shared/core/oauth/application-repository.ts'
);
const { deleteGrants, insertGrant } = await import('../../shared/core/oauth/grant-repository.ts');
const { deleteAccount } = await import('../../shared/features/account/delete-account.ts');
const { decideUser } = await import('../../shared/features/moderation/account-decisions.ts');
const { batchWrite } = await import('../../shared/base/table/batch.ts');
const { applicationKey, grantKey } = await import('../../shared/core/keys.ts');
const { makeUser, makeUsers, operator } = await import('../helpers/world.ts');
const { setAttributes } = await import('../helpers/items.ts');
const { makeClient } = await import('../helpers/oauth-client.ts');

const redirect_uri = 'https://client.example/callback';
const owner = await makeUser({ display_name: 'Olga <b>' });

function authorizeUrl({ client_id }: { client_id: string }, scope = 'review') {
  const query = { response_type: 'code', client_id, redirect_uri, scope, state: 's' };
  return `${issuer}/oauth/authorize?${new URLSearchParams(query)}`;
}

const come = (name: string) => openAs(issuer, name);

const factOn = (shown: Shown, term: string) =>
  textBetween(shown, `<dt>${term}</dt><dd>`, '</dd>').replaceAll(/<[^>]*>/g, '');

/** Returns the items between a heading and the next one. */
function listedUnder({ html }: Shown, heading: string) {
  const [, after = ''] = html.split(new RegExp(`<h[23]>${heading}</h[23]>`));
  const until = after.split(/<h[23]>/)[0] ?? '';
  return [...until.matchAll(/<strong[^>]*>([^<]*)\.<\/strong>/g)].map(([, text = '']) => text);
}

describe('the application on the consent page', () => {
  test('is described by facts, not by its developer', async () => {
    const client = await makeClient(owner);
    await setAttributes(applicationKey(client.client_id), { created: '2025-01-31T23:59:59.000Z' });
    const { browser } = await come('Ann');
    const consent = await browser.visit(authorizeUrl(client));
    expect(textBetween(consent, '<dt>Made by</dt><dd>', '</dd>')).toBe('Olga <b>');
    expect(factOn(consent, 'Sends you to')).toBe('client.example');
    expect(factOn(consent, 'Registered')).toBe('31 January 2025');
    expect(factOn(consent, 'Used by')).toBe('nobody yet');
  });

  test('is refused to everybody while a moderator has blocked its developer', async () => {
    const blocked = await makeUser();
    const client = await makeClient(blocked, undefined, 'Shelf');
    const { browser } = await come('Ann');
    const before = await browser.visit(authorizeUrl(client));
    await decideUser(blocked.id, 'block', operator);

    /** Expects a page of the service that neither redirects nor links to the client. */
    const isRefused = ({ status, url, html }: Shown) => {
      expect(status).toBe(403);
      expect(url.startsWith(issuer)).toBe(true);
      expect(html).toContain('<h1>Shelf cannot be connected</h1>');
      expect(html).toContain('A moderator has blocked the account of its developer');
      expect(html).not.toContain('href="https://client.example');
      expect(html).not.toContain('>Allow<');
    };
    isRefused(await browser.allow(before));
    isRefused(await browser.visit(authorizeUrl(client)));
    // An invalid request, which would otherwise return to the client.
    isRefused(await browser.visit(authorizeUrl(client, 'everything')));
    isRefused(await browser.visit(textBetween(before, '<form method="post" action="', '"')));
    for (const scope of ['review', 'everything']) {
      isRefused(await openBrowser(issuer).signIn('Bob', authorizeUrl(client, scope)));
    }
    expect(await countPeople(client.client_id)).toMatchObject({ count: 0 });

    await decideUser(blocked.id, 'unblock', operator);
    const after = await browser.visit(authorizeUrl(client));
    expect((await browser.allow(after)).url).toMatch(/^https:\/\/client\.example/);
  });

  test('has its own description last, and shortened', async () => {
    const client = await makeClient(owner);
    await setAttributes(applicationKey(client.client_id), { desc: 'Trust me, I am Google.' });
    const { browser } = await come('Ann');
    const { html } = await browser.visit(authorizeUrl(client));
    expect(html).toMatch(/<p class="soft clamp" dir="auto">Trust me/);
    for (const before of ['Used by', 'It will be able to', '>Do not allow<']) {
      expect(html.indexOf(before)).toBeGreaterThan(0);
      expect(html.indexOf('Trust me')).toBeGreaterThan(html.indexOf(before));
    }
  });

  test('is marked if its developer has just left', async () => {
    const leaving = await makeUser();
    const client = await makeClient(leaving);
    await deleteAccount(leaving.id);
    const { browser } = await come('Ann');
    const shown = await browser.visit(authorizeUrl(client));
    // The eraser may already have deleted the application.
    if (shown.status === 200) expect(factOn(shown, 'Made by')).toBe('a deleted account');
    else expect(shown.html).toContain('was not connected');
  });
});

describe('the number of people who use an application', () => {
  test('counts people with a grant that is not revoked', async () => {
    const client = await makeClient(owner);
    const { client_id } = client;
    const users = await makeUsers(4);
    const grant = (id = '') => insertGrant({ user_id: id, client_id, scopes: [] });
    const [first, second, third, fourth] = users.map(({ id }) => id);
    for (const id of [first, second, third, fourth, first, first]) await grant(id);
    expect(await countPeople(client_id)).toEqual({ count: 4, isMore: false });
    await deleteGrants(second ?? '', client_id);
    expect(await countPeople(client_id)).toEqual({ count: 3, isMore: false });
    await deleteAccount(third ?? '');
    expect(await countPeople(client_id)).toEqual({ count: 2, isMore: false });
    const { browser } = await come('Ann');
    expect(factOn(await browser.visit(authorizeUrl(client)), 'Used by')).toBe('2 people');
    for (const id of [first, fourth]) await deleteGrants(id ?? '', client_id);
    expect(await countPeople(client_id)).toEqual({ count: 0, isMore: false });
    await grant(first);
    expect(factOn(await browser.visit(authorizeUrl(client)), 'Used by')).toBe('1 person');
    await deleteApplication(client_id, owner.id);
    expect(await countPeople(client_id)).toEqual({ count: 0, isMore: false });
  });

  test('is exact only up to a limit', async () => {
    const client = await makeClient(owner);
    const { client_id } = client;
    const put = Array.from({ length: 600 }, (_, i) => {
      const id = `${i}`.padStart(12, '0');
      const key = grantKey(`00000000-0000-4000-8000-${id}`, client_id, 'f'.repeat(32));
      return { put: { ...key, author: `CLIENT#${client_id}`, date: `2026-01-01#${id}` } };
    });
    await batchWrite(put.slice(0, 499));
    expect(await countPeople(client_id)).toEqual({ count: 499, isMore: false });
    await batchWrite(put);
    const { browser } = await come('Ann');
    expect(factOn(await browser.visit(authorizeUrl(client)), 'Used by')).toBe('500 people or more');
  });
});

describe('earlier grants', () => {
  const base = 'Know who you are';

  test('are recognized, so that only new scopes are asked for', async () => {
    const client = await makeClient(owner);
    const { browser, id } = await come('Bea');
    const first = await browser.visit(authorizeUrl(client, 'review,vote,user'));
    const write = 'Write in your name';
    const added = ['Vote in your name', 'Change your profile', 'Download your data'];
    expect(listedUnder(first, 'It will be able to')).toEqual([base, write, ...added]);
    expect(listedUnder(first, 'Careful: it will also be able to')).toEqual(['Delete your account']);

    const { client_id } = client;
    await insertGrant({ user_id: id, client_id, scopes: ['review'] });
    await insertGrant({ user_id: id, client_id, scopes: [] });
    const more = await browser.visit(authorizeUrl(client, 'review,vote,user'));
    const already = 'You have allowed Demo before, so it already may';
    expect(listedUnder(more, already)).toEqual([base, write]);
    expect(listedUnder(more, 'This adds')).toEqual(added);
    expect(listedUnder(more, 'Careful: it will also be able to')).toEqual(['Delete your account']);

    const less = await browser.visit(authorizeUrl(client, ''));
    expect(listedUnder(less, already)).toEqual([base, write]);
    expect(listedUnder(less, 'This adds')).toEqual([]);
    expect(less.html).toContain('No new access.');
    expect(less.html).not.toContain('Careful');

    // Grants of another person do not count.
    const other = await come('Cid');
    const others = await other.browser.visit(authorizeUrl(client, 'review'));
    expect(others.html).not.toContain('allowed Demo before');
  });
});

describe('a person who cancels the sign-in', () => {
  test('may retry or go back, and the client receives access_denied', async () => {
    const client = await makeClient(owner);
    const browser = openBrowser(issuer);
    const signIn = await browser.visit(authorizeUrl(client));
    const shown = await browser.submit(signIn, 'Cancel', { cancel: 'yes' });
    expect(shown).toHaveStatus(400);
    expect(headingOf(shown)).toBe('You are not signed in');
    expect(shown.html).toContain('<strong>Demo</strong> (client.example) sent you here');
    const { 'Try again': again = '', 'Go back to client.example': back = '' } = nextSteps(shown);
    const denied = new URL(back);
    expect(denied.origin + denied.pathname).toBe(redirect_uri);
    const answer = { error: 'access_denied', state: 's', iss: issuer };
    expect(Object.fromEntries(denied.searchParams)).toEqual(answer);
    const consent = await browser.signIn('Dot', again);
    expect(consent.html).toContain('Let Demo use your account?');
  });

  test('keeps the consent request that was open', async () => {
    const client = await makeClient(owner);
    const { browser } = await come('Eli');
    const consent = await browser.visit(authorizeUrl(client));
    const [, other = ''] = /<a href="([^"]*)">Not you/.exec(consent.html) ?? [];
    const signIn = await browser.visit(other.replaceAll('&amp;', '&'));
    const shown = await browser.submit(signIn, 'Cancel', { cancel: 'yes' });
    expect(nextSteps(shown)['Go back to client.example']).toContain('error=access_denied&state=s');
    const again = await browser.visit(nextSteps(shown)['Go back'] ?? '');
    // Eli's session is unchanged.
    expect(again.html).toContain('asks to act for you, <strong>Eli</strong>.');
  });

  test('has no link to the client without a valid request', async () => {
    const client = await makeClient(owner);
    const browser = openBrowser(issuer);
    const start = Date.now();
    const old = await browser.visit(authorizeUrl(client));
    await browser.visit('account');
    stopClock(start + 1_790_000);
    const late = await browser.submit(old, 'Cancel', { cancel: 'yes' });
    expect(Object.keys(nextSteps(late))).toContain('Go back to client.example');
    stopClock(start + 1_810_000);
    expect(Object.keys(nextSteps(await browser.visit(late.url)))).toEqual(['Sign in']);
    jest.useRealTimers();
    const plain = await browser.submit(await browser.visit('account'), 'Cancel', { cancel: 'yes' });
    expect(nextSteps(plain)).toEqual({ 'Try again': `${issuer}/account` });
  });
});
