import { callerOf } from '../helpers/api.ts';
import {
  credentialsOn,
  headingOf,
  noticeOn,
  openAs,
  type Shown,
  textBetween,
} from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startTestStack } from '../helpers/stack.ts';

const { url, authUrl: issuer } = await startTestStack();

const { insertGrant, listGrants } = await import('../../shared/core/oauth/grant-repository.ts');
const { makeUser } = await import('../helpers/world.ts');
const { readItem } = await import('../helpers/items.ts');
const { makeClient, makeCode, redeem, refresh } = await import('../helpers/oauth-client.ts');

/** Signs in a developer, and registers an application. */
async function own(name: string) {
  const { browser, id } = await openAs(issuer, name);
  const client = await makeClient({ id });
  const page = () => browser.visit(`account/applications/${client.client_id}`);
  return { browser, id, client, page };
}

const secretOn = (shown: Shown) => credentialsOn(shown).client_secret;

const meAs = async (token: string) => (await callerOf(url, token)('GET', '/user/me')).status;

describe('the client secret', () => {
  test('is folded away, and nowhere else on the page', async () => {
    const { client, page } = await own('Ann');
    const shown = await page();
    expect(secretOn(shown)).toBe(client.client_secret);
    expect(shown.html.split(client.client_secret)).toHaveLength(2);
    expect(shown.html).toContain(`<code class="copy">${client.client_id}</code>`);
    expect(shown.html).not.toContain('<details open');
  });

  test('has at most one predecessor, which its owner can end', async () => {
    const { browser, client, page } = await own('Ben');
    const made = await browser.submit(await page(), 'Create new secret');
    expect(noticeOn(made)).toContain('The new secret is created.');
    expect(secretOn(made)).not.toBe(client.client_secret);
    expect(made.html).toMatch(
      /The old secret works until <time datetime="[^"]*">\d+ \w+ \d{4} at \d\d:\d\d UTC<\/time>/,
    );
    // A third secret cannot be made.
    expect(made.html).not.toContain('Create new secret');
    const renewed = { ...client, client_secret: secretOn(made) };
    for (const each of [client, renewed]) {
      expect((await refresh(each, 'x')).body.error).toBe('invalid_grant');
    }
    const ended = await browser.submit(made, 'Revoke old secret');
    expect(noticeOn(ended)).toBe('The old secret is revoked.');
    expect(ended.html).toContain('Create new secret');
    expect((await refresh(client, 'x')).body.error).toBe('invalid_client');
    expect((await refresh(renewed, 'x')).body.error).toBe('invalid_grant');
  });

  test('in use stays valid after two clicks, parallel or in turn', async () => {
    const { browser, client, page } = await own('Cid');
    const form = await page();
    const both = await Promise.all([1, 2].map(() => browser.submit(form, 'Create new secret')));
    const third = await browser.submit(form, 'Create new secret');
    expect(noticeOn(third)).toContain('There are already two secrets');
    expect(new Set([...both, third].map(secretOn)).size).toBe(1);
    expect((await refresh(client, 'x')).body.error).toBe('invalid_grant');
    // After a day another secret can be made.
    stopClock(Date.now() + 25 * 3_600_000);
    browser.jar.clear();
    await browser.signIn('Cid');
    expect((await page()).html).toContain('Create new secret');
  });
});

describe('the list of applications', () => {
  test('distinguishes applications, and says how many people use each', async () => {
    const { browser, id, client } = await own('Dan');
    // Those of one millisecond are in any order.
    stopClock(Date.now() + 1);
    const twin = await makeClient({ id });
    const { id: user_id } = await makeUser();
    await insertGrant({ user_id, client_id: twin.client_id, scopes: [] });
    const { html } = await browser.visit('account/applications');
    const entries = html.split('<li>').slice(1);
    expect(entries).toHaveLength(2);
    for (const [i, { client_id }] of [client, twin].entries()) {
      expect(entries[i]).toContain(`<dt>Client ID</dt><dd><code>${client_id}</code></dd>`);
      expect(entries[i]).toMatch(
        /<dt>Registered<\/dt><dd><time datetime="\d{4}-\d\d-\d\d">\d+ \w+ \d{4}<\/time><\/dd>/,
      );
    }
    expect(entries[0]).toContain('<dt>Used by</dt><dd>nobody yet</dd>');
    expect(entries[1]).toContain('<dt>Used by</dt><dd>1 person</dd>');
  });

  test('explains applications while there are none', async () => {
    const { browser } = await openAs(issuer, 'Nil');
    const { html } = await browser.visit('account/applications');
    expect(html).toContain('An application is your own website or program');
    const connections = await browser.visit('account/connections');
    expect(connections.html).toContain('No application is connected.');
  });
});

describe('revoking everybody’s access', () => {
  test('refuses all earlier tokens and codes, and allows new connections', async () => {
    const { browser, client, page } = await own('Eve');
    const other = await makeClient(await makeUser());
    const user = await makeUser();
    const late = await makeUser();
    const { body } = await redeem(client, await makeCode(client, user));
    const elsewhere = await redeem(other, await makeCode(other, user));
    const waiting = await makeCode(client, late);
    expect((await page()).html).toContain('<dt>Used by</dt><dd>1 person</dd>');

    const ended = await browser.submit(await page(), 'Revoke all access', { everybody: 'yes' });
    expect(noticeOn(ended)).toContain('All access is revoked.');
    expect(ended.html).toContain('<dt>Used by</dt><dd>nobody yet</dd>');
    expect(await meAs(body.access_token)).toBe(401);
    expect((await refresh(client, body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await redeem(client, waiting)).body.error).toBe('invalid_grant');
    // The application itself and other applications have not changed.
    expect(secretOn(ended)).toBe(client.client_secret);
    expect(await meAs(elsewhere.body.access_token)).toBe(200);

    stopClock(Date.now() + 1_000);
    const again = await redeem(client, await makeCode(client, user));
    expect(again).toHaveStatus(200);
    expect(await meAs(again.body.access_token)).toBe(200);
    expect(await refresh(client, again.body.refresh_token)).toHaveStatus(200);
  });

  test('requires the tick', async () => {
    const { browser, id, client, page } = await own('Fay');
    await insertGrant({ user_id: id, client_id: client.client_id, scopes: [] });
    for (const [button, fields] of [
      ['Revoke all access', {}],
      ['>Delete application<', { confirm: 'no' }],
    ] as const) {
      const shown = await browser.submit(await page(), button, fields);
      expect(noticeOn(shown)).toBe('Nothing was changed. Tick the box to confirm.');
    }
    expect(await listGrants(id)).toHaveLength(1);
  });
});

describe('a connection', () => {
  test('shows its developer, its start, its last use and its scopes', async () => {
    const owner = await makeUser({ display_name: 'Olga <b>' });
    const client = await makeClient(owner);
    const { browser, id } = await openAs(issuer, 'Jon');
    stopClock(Date.parse('2026-01-30T10:00:00Z'));
    const { body } = await redeem(client, await makeCode(client, { id }, { scopes: ['user'] }));
    stopClock(Date.parse('2026-01-31T10:00:00Z'));
    await redeem(client, await makeCode(client, { id }, { scopes: ['vote'] }));
    stopClock(Date.parse('2026-02-01T10:00:00Z'));
    await refresh(client, body.refresh_token);
    jest.useRealTimers();
    const shown = await browser.visit('account/connections');
    const fact = (term: string) =>
      textBetween(shown, `<dt>${term}</dt><dd>`, '</dd>').replaceAll(/<\/?time[^>]*>/g, '');
    expect(fact('Made by')).toBe('Olga <b>, at client.example');
    expect(fact('Connected')).toBe('30 January 2026 (2 times)');
    expect(fact('Last used')).toBe('1 February 2026');
    expect(shown.html).toContain('<p class="tag">It may delete your account.</p>');
    const folded = textBetween(shown, '<summary>What it may do</summary>', '</details>');
    for (const text of ['Know who you are', 'Change your profile', 'Vote in your name']) {
      expect(folded).toContain(text);
    }
    expect(folded).not.toContain('Write in your name');

    const ended = await browser.submit(shown, 'Revoke access');
    expect(noticeOn(ended)).toBe('The application no longer has access to your account.');
    expect(await listGrants(id)).toEqual([]);
  });
});

describe('the notice about a change', () => {
  test('is one of ours, shown once, and cannot be set by a link', async () => {
    const { browser } = await openAs(issuer, 'Kim');
    for (const left of ['Send%20money', 'constructor', '__proto__', 'Settings-saved']) {
      browser.jar.set('notice /', { value: left, path: '/' });
      expect(noticeOn(await browser.visit('account'))).toBeUndefined();
    }
    browser.jar.delete('notice /');
    const query = '?notice=settings-saved&done=settings-saved';
    expect(noticeOn(await browser.visit(`account${query}`))).toBeUndefined();
    browser.jar.set('notice /', { value: 'settings-saved', path: '/' });
    expect(noticeOn(await browser.visit('account'))).toBe('Your settings are saved.');
    expect(browser.jar.has('notice /')).toBe(false);
    expect(noticeOn(await browser.visit('account'))).toBeUndefined();
  });
});

test('an application that is deleted twice is reported as deleted', async () => {
  const { browser, client, page } = await own('Lea');
  const form = await page();
  const first = await browser.submit(form, '>Delete application<', { confirm: 'yes' });
  expect(noticeOn(first)).toContain('The application is deleted.');
  const second = await browser.submit(form, '>Delete application<', { confirm: 'yes' });
  expect(second).toHaveStatus(404);
  expect(headingOf(second)).toBe('Application not found');
  expect(await readItem({ pk: `APP#${client.client_id}`, sk: 'APP' })).toBeUndefined();
});
