import { inspect } from 'node:util';
import { callerOf } from '../helpers/api.ts';
import {
  type Browser,
  csrfOn,
  faultsOn,
  headingOf,
  noticeOn,
  openAs,
  type Shown,
  textBetween,
} from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startTestStack } from '../helpers/stack.ts';

const { url, authUrl: issuer } = await startTestStack();
const { reviewBody } = await import('../helpers/world.ts');
const { scanTable } = await import('../helpers/items.ts');

const day = 86_400_000;
const curlOn = (shown: Shown) => textBetween(shown, '<code class="copy">curl', '</code>');

const signIn = (name: string) => openAs(issuer, name);

async function ask(browser: Browser, fields: Record<string, string>) {
  const form = await browser.visit('account/tokens');
  return browser.submit(form, 'Create token', { name: 'Script', days: '30', ...fields });
}

/** Returns the whole token that a page shows. */
function tokenOn(shown: Shown) {
  expect(shown).toHaveStatus(200);
  return textBetween(shown, '<code class="copy">', '</code>');
}

const call = (token: string, path: string, method = 'GET', body?: object) =>
  callerOf(url, token)(method, path, body);

describe('a personal access token', () => {
  test('without a scope lists what it can do', async () => {
    const { browser } = await signIn('Ann without scopes');
    const made = await ask(browser, { name: 'Reader' });
    expect(made.html).toContain('This token has no scopes');
    const shown = curlOn(made);
    expect(shown).toBe(`-H "Authorization: Bearer ${tokenOn(made)}" ${url}/user/me`);
  });

  test('is shown once, and allows the ticked scopes', async () => {
    const { browser, id } = await signIn('Ann');
    const made = await ask(browser, { name: 'Ann’s script', review: 'yes' });
    const token = tokenOn(made);
    expect(token).toMatch(/^rva_[\w-]+$/);
    expect(made.headers.get('cache-control')).toContain('no-store');
    // The page shows a command that publishes a review.
    const shown = curlOn(made);
    expect(shown).toContain(`-H "Authorization: Bearer ${token}" ${url}/review/ `);
    const [, offered = ''] = /-d '(.*)'$/.exec(shown) ?? [];
    expect(await call(token, '/review', 'POST', JSON.parse(offered))).toHaveStatus(200);

    expect(await call(token, '/user/me')).toMatchObject({ status: 200, body: { user: { id } } });
    expect(await call(token, '/review', 'POST', reviewBody())).toHaveStatus(200);
    expect(await call(token, '/user/me', 'POST', { display_name: 'X' })).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope' },
    });

    const listed = await browser.visit('account/tokens');
    expect(listed.html).toContain('<h2>Ann’s script</h2>');
    expect(listed.html).toContain('<dt>Scopes</dt><dd>review</dd>');
    expect(listed.html).not.toContain(token);
    // The table contains nothing usable.
    expect(inspect(await scanTable(), { depth: null })).not.toContain(token.slice(4, 30));
    // No application lists it among its tokens.
    expect((await call(token, '/user/me/tokens')).body).toEqual({ tokens: [] });
    const connections = await browser.visit('account/connections');
    expect(connections.html).toContain('No application is connected.');
  });

  test('survives a revocation for an application that is not connected', async () => {
    const { browser } = await signIn('Una');
    const made = await ask(browser, { name: 'Backup' });
    const path = `account/connections/${'0'.repeat(32)}/revoke`;
    const shown = await browser.post(path, { csrf: csrfOn(made) });
    expect(shown).toHaveStatus(404);
    expect(headingOf(shown)).toBe('Application not found');
    expect(await call(tokenOn(made), '/user/me')).toHaveStatus(200);
  });

  test.each([7, 30, 90, 365])('lives for %i days, and is listed until then', async (days) => {
    const now = Date.now();
    stopClock(now);
    const { browser } = await signIn(`Days ${days}`);
    const token = tokenOn(await ask(browser, { days: `${days}` }));
    jest.setSystemTime(now + days * day - 60_000);
    expect(await call(token, '/user/me')).toHaveStatus(200);
    jest.setSystemTime(now + days * day + 60_000);
    expect(await call(token, '/user/me')).toHaveStatus(401);
    const { browser: again } = await signIn(`Days ${days}`);
    expect((await again.visit('account/tokens')).html).toContain('You have no tokens.');
  });

  test('can be revoked by its owner only', async () => {
    const { browser } = await signIn('Ben');
    const { browser: stranger } = await signIn('Eve');
    const token = tokenOn(await ask(browser, {}));
    const listed = await browser.visit('account/tokens');
    const [, path = ''] = /action="([^"]*\/revoke)"/.exec(listed.html) ?? [];
    await stranger.post(path, { csrf: csrfOn(await stranger.visit('account/tokens')) });
    expect(await call(token, '/user/me')).toHaveStatus(200);
    const revoked = await browser.submit(listed, '/revoke"');
    expect(noticeOn(revoked)).toBe('The token is revoked.');
    expect(revoked.html).toContain('You have no tokens.');
    expect(await call(token, '/user/me')).toHaveStatus(401);
  });

  test('is limited to twenty per user', async () => {
    const { browser } = await signIn('Dora');
    for (let i = 0; i < 20; i++) tokenOn(await ask(browser, { name: `Script ${i}` }));
    const refused = await ask(browser, { name: 'One more', vote: 'yes', days: '90' });
    expect(refused).toHaveStatus(400);
    expect(faultsOn(refused)).toEqual({
      '': 'You have 20 personal access tokens already; revoke one that you no longer need.',
    });
    // The form keeps what was typed.
    expect(refused.html).toContain('value="One more"');
    expect(refused.html).toContain('<option value="90" selected>');
    expect(refused.html).toMatch(/name="vote" value="yes" checked/);
    expect((await browser.visit('account/tokens')).html.split('/revoke"')).toHaveLength(21);
  });

  test.each([
    [{ name: '' }, 'Please fill this in.'],
    [{ name: 'x'.repeat(65) }, 'It must have 1 to 64 characters.'],
  ])('requires a readable name: %j', async (fields, name) => {
    const { browser } = await signIn('Emil');
    const refused = await ask(browser, fields);
    expect(refused).toHaveStatus(400);
    expect(faultsOn(refused)).toMatchObject({ name });
  });

  test.each<Record<string, string>>([{ days: '8' }, { days: '' }, { review: 'no' }])(
    'refuses values that no form sends: %j',
    async (fields) => {
      const { browser } = await signIn('Finn');
      const refused = await ask(browser, fields);
      expect(refused).toHaveStatus(400);
      expect(refused.html).not.toContain('rva_');
    },
  );
});
