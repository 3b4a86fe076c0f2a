import { callerOf } from '../helpers/api.ts';
import { headingOf, noticeOn, openAs, type Shown } from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import type { Client } from '../helpers/oauth-client.ts';
import { startTestStack } from '../helpers/stack.ts';

// Applications without a secret (RFC 6749 section 2.1). The contract has attacks on their tokens.

const { url, authUrl: issuer } = await startTestStack();

const { getOwnApplication, setClientType } = await import(
  '../../shared/core/oauth/application-repository.ts'
);
const { answerAuthorization, insertAuthorizationRequest } = await import(
  '../../shared/core/oauth/authorization-repository.ts'
);
const { makeUser } = await import('../helpers/world.ts');
const { handler: createToken } = await import('../../functions/api/create-token.ts');
const {
  basic,
  challenge,
  formOf,
  makeClient,
  makeCode,
  postForm,
  redeem,
  refresh,
  verifier,
  withSecret,
} = await import('../helpers/oauth-client.ts');

const redirect_uri = 'https://client.example/callback';
const owner = await makeUser();
const client = await makeClient(owner, redirect_uri, 'Page', 'public');
const { client_id } = client;
const { browser, id } = await openAs(issuer, 'Ann');
const ann = { id };

const withVerifier = { code_verifier: verifier };
const codeOf = (of = client) =>
  makeCode(of, ann, { code_challenge: challenge, scopes: ['review'] });

const isAccepted = async (token: string) =>
  (await callerOf(url, token)('GET', '/user/me')).status === 200;

/** Opens the consent page of an application. */
function ask({ client_id }: Client) {
  const query = { response_type: 'code', client_id, redirect_uri, code_challenge: challenge };
  return browser.visit(`oauth/authorize?${formOf({ ...query, code_challenge_method: 'S256' })}`);
}

test('only a public application is said to have no proven name', async () => {
  const consent = await ask(client);
  expect(headingOf(consent)).toBe('Let Page use your account?');
  expect(consent.html).toContain('Its name is not proven.');
  const other = await ask(await makeClient(owner, redirect_uri, 'Server'));
  expect(headingOf(other)).toBe('Let Server use your account?');
  expect(other.html).not.toContain('not proven');
});

test.each([
  ['without a secret', {}, ''],
  ['with a secret', {}, 'rvs_x'],
  ['alone', { client_id: undefined }, ''],
])('HTTP Basic %s is refused: the application has none', async (_, fields, secret) => {
  const code = await codeOf();
  const form = { grant_type: 'authorization_code', code, redirect_uri, ...withVerifier };
  const header = basic(client_id, secret);
  expect(await postForm(createToken, { client_id, ...form, ...fields }, header)).toMatchObject({
    status: 401,
    body: {
      error: 'invalid_client',
      error_description: 'The application is public: send client_id in the form, and no secret',
    },
  });
  expect(await redeem(client, code, withVerifier)).toHaveStatus(200);
});

describe('a change', () => {
  const own = (of: { client_id: string }) => getOwnApplication(of.client_id, owner.id);

  test('to public ends the secrets and all access', async () => {
    const changing = await makeClient(owner, redirect_uri, 'Changing');
    const changed = { ...changing, client_secret: '' };
    const { client_id } = changing;
    const code = await makeCode(changing, ann);
    const challenged = await codeOf(changing);
    const { body } = await redeem(changing, await codeOf(changing), withVerifier);
    stopClock(Date.now() + 2_000);
    await setClientType(client_id, owner.id, 'public');
    expect(await own(changing)).not.toHaveProperty('secret_id');
    expect(await isAccepted(body.access_token)).toBe(false);
    // Ann has allowed an application with a proven name.
    for (const refused of [
      await refresh(changed, body.refresh_token),
      await redeem(changed, challenged, withVerifier),
      // Nor can anybody redeem a code without PKCE that was given before.
      await redeem(changed, code),
    ]) {
      expect(refused.body.error).toBe('invalid_grant');
    }
    // Or after it, for a request from before it.
    stopClock(Date.now() + 2_000);
    expect((await redeem(changed, await makeCode(changing, ann))).body.error).toBe('invalid_grant');
    expect(await redeem(changed, await codeOf(changing), withVerifier)).toHaveStatus(200);
    // Again it changes nothing, and ends nothing.
    const before = await own(changing);
    await setClientType(client_id, owner.id, 'public');
    expect(await own(changing)).toEqual(before);
  });

  test('while a person is asked needs another question', async () => {
    const changing = await makeClient(owner, redirect_uri, 'Changing');
    const { client_id, name } = changing;
    const ask = () =>
      insertAuthorizationRequest({
        client_id,
        name,
        redirect_uri,
        scopes: [],
        state: null,
        code_challenge: challenge,
      });
    const before = await ask();
    stopClock(Date.now() + 2_000);
    await setClientType(client_id, owner.id, 'public');
    // The page said nothing of a name that is not proven.
    await expect(answerAuthorization(before, 'approve', id)).rejects.toHaveStatus(400);
    stopClock(Date.now() + 2_000);
    const after = await ask();
    const { code } = await answerAuthorization(after, 'approve', id);
    const changed = { ...changing, client_secret: '' };
    expect(await redeem(changed, `${code}`, withVerifier)).toHaveStatus(200);
    // The same answer again gives the same code.
    expect(await answerAuthorization(after, 'approve', id)).toMatchObject({ code });
  });

  test('to confidential asks refresh tokens for the secret', async () => {
    const changing = await makeClient(owner, redirect_uri, 'Changing', 'public');
    const { client_id } = changing;
    const { body } = await redeem(changing, await codeOf(changing), withVerifier);
    await setClientType(client_id, owner.id, 'confidential');
    const changed = await withSecret(await own(changing));
    const { client_secret } = changed;
    expect(client_secret).toMatch(/^rvs_/);
    const { refresh_token } = body;
    expect((await refresh(changing, refresh_token)).body.error).toBe('invalid_client');
    expect(await refresh(changed, refresh_token)).toHaveStatus(200);
    await setClientType(client_id, owner.id, 'confidential');
    expect((await withSecret(await own(changing))).client_secret).toBe(client_secret);
  });

  test('of another person is refused', async () => {
    const { id: stranger } = await makeUser();
    for (const type of ['public', 'confidential'] as const) {
      await expect(setClientType(client_id, stranger, type)).rejects.toHaveStatus(404);
    }
  });
});

describe('on the pages of its owner', () => {
  const registered = (fields: Record<string, string>) =>
    browser.register({ name: 'Mine', redirect_uri, ...fields });
  const clientIdOn = ({ url }: Shown) => /[\da-f]{32}$/.exec(url)?.[0] ?? '';

  test('a public application is registered without a secret', async () => {
    const shown = await registered({ client_type: 'public' });
    expect(noticeOn(shown)).toBe('The application is registered. Its credentials are below.');
    expect(shown.html).toContain('None. This application is public');
    expect(shown.html).not.toMatch(/rvs_|Create new secret|Make public/);
    const application = await getOwnApplication(clientIdOn(shown), id);
    expect(application).not.toHaveProperty('secret_id');
  });

  test('a confidential one is the default, and becomes public and confidential again', async () => {
    const shown = await registered({});
    const first = /rvs_[\w-]+/.exec(shown.html)?.[0];
    expect(first).toBeDefined();
    const unsure = await browser.submit(shown, 'Make public');
    expect(noticeOn(unsure)).toBe('Nothing was changed. Tick the box to confirm.');
    const opened = await browser.submit(unsure, 'Make public', { public: 'yes' });
    expect(noticeOn(opened)).toContain('The application is public now, without a secret.');
    expect(opened.html).not.toContain('rvs_');
    const closed = await browser.submit(opened, 'Create secret');
    expect(noticeOn(closed)).toContain('The application has a secret now.');
    const next = /rvs_[\w-]+/.exec(closed.html)?.[0];
    expect(next).toBeDefined();
    expect(next).not.toBe(first);
    // The form of another tab, sent late, makes no second secret.
    const again = await browser.submit(opened, 'Create secret');
    expect(/rvs_[\w-]+/.exec(again.html)?.[0]).toBe(next);
  });

  test('no secret is rotated where there is none', async () => {
    const shown = await registered({});
    await setClientType(clientIdOn(shown), id, 'public');
    const late = await browser.submit(shown, 'Create new secret');
    const application = await getOwnApplication(clientIdOn(late), id);
    expect(application).not.toHaveProperty('secret_id');
  });

  test('another type is refused', async () => {
    const shown = await registered({ client_type: 'secret' });
    expect(shown.html).toContain('It must be one of confidential, public.');
  });
});

test('the API presents it without a secret, also to its owner', async () => {
  const { makeGrant } = await import('../helpers/world.ts');
  const { access_token, grant } = await makeGrant(owner, ['user']);
  const { body } = await callerOf(url, access_token)('GET', '/user/me/applications');
  const all = body.applications as { client_id: string; client_secret: string | null }[];
  const secretOf = (id: string) => all.find(({ client_id }) => client_id === id)?.client_secret;
  expect(secretOf(client_id)).toBeNull();
  expect(secretOf(grant.client_id)).toMatch(/^rvs_/);
});
