import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { handler as authorizer } from '../../functions/api/authorizer.ts';
import { handler } from '../../functions/api/create-token.ts';
import { handler as listMyTokens } from '../../functions/api/list-my-tokens.ts';
import { handler as revokeToken } from '../../functions/api/revoke-token.ts';
import type { Scope } from '../../shared/base/routes.ts';
import { grantKey } from '../../shared/core/keys.ts';
import {
  deleteApplication,
  getOwnApplication,
  rotateSecret,
  updateApplication,
} from '../../shared/core/oauth/application-repository.ts';
import { openToken } from '../../shared/core/oauth/credentials.ts';
import type { Grant } from '../../shared/core/oauth/grant.ts';
import { deleteGrants, listGrants } from '../../shared/core/oauth/grant-repository.ts';
import { deleteAccount } from '../../shared/features/account/delete-account.ts';
import { stopClock } from '../helpers/clock.ts';
import { silence } from '../helpers/console.ts';
import { invoke, type TestResponse } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import {
  basic,
  type Client,
  makeClient,
  makeCode,
  postForm,
  redeem,
  refresh,
  withSecret,
} from '../helpers/oauth-client.ts';
import { afterSend, beforeSend } from '../helpers/sends.ts';
import { makeUser, type Person } from '../helpers/world.ts';

const owner = await makeUser({ display_name: 'Owner' });
const client = await makeClient(owner);
let user: Person;
beforeEach(async () => {
  user = await makeUser();
});

/** Moves the clock forward, without waiting. */
function wait(milliseconds: number) {
  stopClock(Date.now() + milliseconds);
}

const hour = 3_600_000;

/** Returns the client with its current secret. */
async function renewed(client: Client) {
  const { client_id, user_id } = client;
  return withSecret(await getOwnApplication(client_id, user_id));
}

/** Returns the tokens of a new grant. */
async function tokens(of: Client = client) {
  const { status, body } = await redeem(of, await makeCode(of, user));
  expect(status).toBe(200);
  return body;
}

/** Returns whether the authorizer accepts the token for a route. */
async function isAccepted(access_token: string, route = 'GET/1/user/me') {
  const methodArn = `arn:aws:execute-api:local:000000000000:local/ws/${route}`;
  const authorizationToken = `Bearer ${access_token}`;
  return authorizer({ type: 'TOKEN', authorizationToken, methodArn }).then(
    ({ policyDocument }) => policyDocument.Statement[0]?.Effect === 'Allow',
    () => false,
  );
}

function expectError(answer: TestResponse, status: number, error: string) {
  expect(answer).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
  expect(Object.keys(answer.body)).toEqual(['error', 'error_description']);
  // RFC 6749 section 5.2.
  expect(answer.body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  const headers = { 'cache-control': 'no-store', 'content-type': 'application/json' };
  expect(answer.headers).toMatchObject(headers);
}

const { client_id, client_secret, redirect_uri } = client;

/** The body of a correct request. */
const formFor = (code: string) => {
  return { grant_type: 'authorization_code', code, client_id, client_secret, redirect_uri };
};

describe('POST /oauth/token', () => {
  test('returns expires_in 3600 even if the second changes, and keeps it', async () => {
    const code = await makeCode(client, user);
    stopClock(Math.ceil(Date.now() / 1000) * 1000 + 999);
    const made = Date.now();
    afterSend((command) => {
      if (command instanceof TransactWriteCommand) wait(2);
    });
    const { body } = await redeem(client, code);
    jest.restoreAllMocks();
    expect(body.expires_in).toBe(3600);
    stopClock(made + 3_600_000);
    expect(await isAccepted(body.access_token)).toBe(true);
    stopClock(made + 3_601_000);
    expect(await isAccepted(body.access_token)).toBe(false);
  });

  test.each([
    [{ grant_type: undefined }, 'grant_type is required'],
    [{ grant_type: 'password' }, 'grant_type must be authorization_code or refresh_token'],
    [{ code: undefined, redirect_uri: undefined }, 'code is required'],
    [{ grant_type: 'refresh_token' }, 'refresh_token is required'],
    [{ redirect_uri: '' }, 'redirect_uri is required'],
    [{ redirect_uri: 'https://x.example/' }, 'redirect_uri must be exactly the registered one'],
    [{ code_verifier: 'short' }, 'code_verifier must be 43 to 128 letters, digits and -._~'],
  ])('says what is wrong with %j', async (fields, text) => {
    const answer = await redeem(client, 'rvc_made-up', fields);
    expect(answer.body.error_description).toBe(text);
  });

  test('requires HTTPS', async () => {
    const form = formFor(await makeCode(client, user));
    for (const scheme of ['http', 'HTTP']) {
      const answer = await postForm(handler, form, { 'X-Forwarded-Proto': scheme });
      expectError(answer, 400, 'invalid_request');
    }
    expect(await postForm(handler, form, { 'X-Forwarded-Proto': 'https' })).toHaveStatus(200);
  });

  describe('with HTTP Basic', () => {
    const encoded = encodeURIComponent(client_secret).replaceAll('_', '%5F').replaceAll('-', '%2D');
    const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const { Authorization } = basic(client_id, client_secret);

    async function redeemBy(Authorization: string) {
      const code = await makeCode(client, user);
      const form = { grant_type: 'authorization_code', code, redirect_uri };
      return postForm(handler, form, { Authorization });
    }

    test.each([
      ['the secret form-encoded', basic(client_id, encoded).Authorization],
      ['the scheme in another case', Authorization.replace('Basic', 'bAsIc')],
      ['base64 without padding', Authorization.replaceAll('=', '')],
    ])('accepts %s', async (_, authorization) => {
      expect(await redeemBy(authorization)).toHaveStatus(200);
    });

    test.each([
      ['a wrong secret', basicOf(`${client_id}:rvs_wrong`)],
      ['an unknown client', basicOf(`${'f'.repeat(32)}:${client_secret}`)],
      ['no secret', basicOf(`${client_id}:`)],
      ['no colon', basicOf(client_id)],
      ['an encoded colon', basicOf(`${client_id}%3A${client_secret}`)],
      ['a broken escape', basicOf(`${client_id}:%zz`)],
      ['invalid UTF-8', `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`],
      ['invalid base64', 'Basic ???'],
      ['nothing', 'Basic'],
      ['a secret with a trailing space', basicOf(`${client_id}:${client_secret} `)],
      ['another scheme', `Bearer ${client_secret}`],
    ])('refuses %s, with a challenge', async (_, authorization) => {
      const answer = await redeemBy(authorization);
      expectError(answer, 401, 'invalid_client');
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="/);
    });
  });

  describe('with a code', () => {
    test('accepts it for one minute', async () => {
      const good = await makeCode(client, user);
      const late = await makeCode(client, user);
      wait(58_000);
      expect(await redeem(client, good)).toHaveStatus(200);
      wait(3_000);
      expectError(await redeem(client, late), 400, 'invalid_grant');
    });

    test('accepts it once, and revokes the grant when it is replayed', async () => {
      const code = await makeCode(client, user);
      const { body } = await redeem(client, code);
      expect(await isAccepted(body.access_token)).toBe(true);
      wait(120_000);
      expectError(await redeem(client, code), 400, 'invalid_grant');
      expect(await isAccepted(body.access_token)).toBe(false);
      expectError(await refresh(client, body.refresh_token), 400, 'invalid_grant');
      expect(await listGrants(user.id)).toEqual([]);
    });

    test('redeems it once in 50 parallel requests, without a server error', async () => {
      const code = await makeCode(client, user);
      const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(client, code)));
      const good = answers.filter(({ status }) => status === 200);
      expect(good).toHaveLength(1);
      for (const answer of answers.filter((answer) => answer !== good[0])) {
        expectError(answer, 400, 'invalid_grant');
      }
    });

    function expectVerdict(answer: TestResponse, status: number) {
      expect(answer).toHaveStatus(status);
      if (status === 400) expectError(answer, 400, 'invalid_grant');
    }

    test.each([
      ['42 characters', 'v'.repeat(42), 400],
      ['43 characters', 'v'.repeat(43), 200],
      ['128 of all kinds', 'aZ9-._~x'.repeat(16), 200],
      ['129 characters', 'v'.repeat(129), 400],
      ['one', 'v', 400],
      ['43 letters, one outside ASCII', `é${'v'.repeat(42)}`, 400],
      ['a space', ` ${'v'.repeat(43)}`, 400],
      ['a line end', `${'v'.repeat(43)}\n`, 400],
      ['a plus sign', `+${'v'.repeat(43)}`, 400],
    ])('checks a verifier by the grammar of RFC 7636: %s', async (_, code_verifier, status) => {
      const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
      const code = await makeCode(client, user, { code_challenge });
      expectVerdict(await redeem(client, code, { code_verifier }), status);
    });

    test('refuses a code that was issued before the redirect URI changed', async () => {
      const changing = await makeClient(owner);
      const code = await makeCode(changing, user);
      const redirect_uri = 'https://client.example/new';
      const { name, desc, website } = changing;
      await updateApplication(changing.client_id, owner.id, { name, desc, website, redirect_uri });
      expectError(await redeem(changing, code), 400, 'invalid_grant');
      expectError(await redeem(changing, code, { redirect_uri }), 400, 'invalid_grant');
    });

    test('refuses a code of a deleted account', async () => {
      const leaving = await makeUser();
      const code = await makeCode(client, leaving);
      await deleteAccount(leaving.id);
      expectError(await redeem(client, code), 400, 'invalid_grant');
      expect(await listGrants(leaving.id)).toEqual([]);
    });
  });

  describe('grants of a user to an application', () => {
    test('are limited to the ten newest', async () => {
      const other = await makeClient(owner);
      const elsewhere = await tokens(other);
      const stranger = await makeUser();
      const { body: strangers } = await redeem(client, await makeCode(client, stranger));
      const all = [];
      for (let i = 0; i < 13; i++) all.push(await tokens());
      const alive = await Promise.all(all.map(({ access_token }) => isAccepted(access_token)));
      expect(alive).toEqual([...Array(3).fill(false), ...Array(10).fill(true)]);
      expectError(await refresh(client, all[2]?.refresh_token ?? ''), 400, 'invalid_grant');
      expect(await refresh(client, all[3]?.refresh_token ?? '')).toHaveStatus(200);
      expect(await isAccepted(elsewhere.access_token)).toBe(true);
      expect(await isAccepted(strangers.access_token)).toBe(true);
    });

    test('are limited to ten when 30 codes are redeemed in parallel', async () => {
      const codes = [];
      for (let i = 0; i < 30; i++) codes.push(await makeCode(client, user));
      const answers = await Promise.all(codes.map((code) => redeem(client, code)));
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
      expect(await listGrants(user.id)).toHaveLength(10);
    });

    test('may exceed ten until the next redemption if they cannot be read', async () => {
      for (let i = 0; i < 10; i++) await tokens();
      const warned = silence('warn');
      beforeSend((command) => {
        if (command instanceof QueryCommand) throw new Error('out of reach');
      });
      const { status } = await redeem(client, await makeCode(client, user));
      expect(warned).toHaveBeenCalledTimes(1);
      jest.restoreAllMocks();
      expect(status).toBe(200);
      expect(await listGrants(user.id)).toHaveLength(11);
      await tokens();
      expect(await listGrants(user.id)).toHaveLength(10);
    });
  });

  describe('with a refresh token', () => {
    test('never expires by itself', async () => {
      const { refresh_token } = await tokens();
      wait(10 * 365 * 86_400_000);
      expect(await refresh(client, refresh_token)).toHaveStatus(200);
    });

    test('repeats the answer for 30 seconds if a client lost it', async () => {
      const first = await tokens();
      const { body: second } = await refresh(client, first.refresh_token);
      wait(29_000);
      const { body: again } = await refresh(client, first.refresh_token);
      expect(again).toEqual({ ...second, expires_in: expect.any(Number) });
      expect(again.expires_in).toBeLessThanOrEqual(3_571);
      expect(again.expires_in).toBeGreaterThanOrEqual(3_570);
      const { body: third, status } = await refresh(client, second.refresh_token);
      expect(status).toBe(200);
      expect(await isAccepted(third.access_token)).toBe(true);
    });

    test('counts the 30 seconds from the refresh, however old the grant is', async () => {
      const first = await tokens();
      wait(86_400_000);
      const { body: second } = await refresh(client, first.refresh_token);
      wait(29_000);
      const { body: again, status } = await refresh(client, first.refresh_token);
      expect(status).toBe(200);
      expect(again.refresh_token).toBe(second.refresh_token);
      wait(2_000);
      expectError(await refresh(client, first.refresh_token), 400, 'invalid_grant');
    });

    test('returns the tokens of the other request when two race', async () => {
      const first = await tokens();
      let overtaking: Promise<TestResponse> | undefined;
      beforeSend(async (command) => {
        if (!(command instanceof TransactWriteCommand) || overtaking) return;
        wait(2_000);
        overtaking = refresh(client, first.refresh_token);
        await overtaking;
      });
      const { body } = await refresh(client, first.refresh_token);
      jest.restoreAllMocks();
      expect(body).toEqual({ ...(await overtaking)?.body, expires_in: expect.any(Number) });
      expect(await isAccepted(body.access_token)).toBe(true);
    });

    test('returns the same tokens to 50 parallel requests, and keeps the grant', async () => {
      const first = await tokens();
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => refresh(client, first.refresh_token)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      const pairs = answers.map(({ body }) => `${body.access_token} ${body.refresh_token}`);
      expect(new Set(pairs).size).toBe(1);
      const next = answers[0]?.body;
      expect(await isAccepted(next.access_token)).toBe(true);
      expect((await openToken('refresh', next.refresh_token))?.generation).toBe(1);
      expect(await refresh(client, next.refresh_token)).toHaveStatus(200);
    });
  });

  describe('with a refresh token and a scope', () => {
    const routes = { review: 'POST/1/review', vote: 'PUT/1/review/x/vote', user: 'POST/1/user/me' };

    const granted = async (scopes: Scope[]): ReturnType<typeof tokens> =>
      (await redeem(client, await makeCode(client, user, { scopes }))).body;

    /** Returns the scopes of an access token, by the routes that it may call. */
    async function scopesOf(access_token: string): Promise<string[]> {
      expect(await isAccepted(access_token)).toBe(true);
      const may: string[] = [];
      for (const [scope, route] of Object.entries(routes)) {
        if (await isAccepted(access_token, route)) may.push(scope);
      }
      return may;
    }

    test.each<[string | undefined, string[]]>([
      [undefined, ['review', 'user']],
      ['', ['review', 'user']],
      ['review user', ['review', 'user']],
      ['user,review', ['review', 'user']],
      ['user review user', ['review', 'user']],
      ['review', ['review']],
      ['user', ['user']],
      [',', []],
    ])('%j returns a token with these scopes', async (scope, expected) => {
      const { refresh_token } = await granted(['review', 'user']);
      const { status, body } = await refresh(client, refresh_token, { scope });
      expect(status).toBe(200);
      // The answer names them, and never an empty scope (RFC 6749 sections 3.3 and 5.1).
      expect(body.scope).toBe(expected.length > 0 ? expected.join(' ') : undefined);
      const names = Object.keys(body).filter((name) => name !== 'scope');
      const others = ['access_token', 'expires_in', 'refresh_token', 'token_type'];
      expect(names.toSorted()).toEqual(others);
      expect(await scopesOf(body.access_token)).toEqual(expected);
      // The refresh token and the grant keep all scopes.
      const { body: next } = await refresh(client, body.refresh_token);
      expect(await scopesOf(next.access_token)).toEqual(['review', 'user']);
      const caller = { user_id: user.id, client_id, scope: '' };
      const { body: list } = await invoke(listMyTokens, { caller });
      expect(list.tokens[0].scopes).toBe('review user');
    });

    test('repeated with another scope returns each scope asked for, and one successor', async () => {
      const { refresh_token } = await granted(['review', 'user']);
      const answers = [];
      for (const scope of ['review', undefined, 'user', 'review']) {
        answers.push((await refresh(client, refresh_token, { scope })).body);
      }
      expectError(await refresh(client, refresh_token, { scope: 'vote' }), 400, 'invalid_scope');
      const scopes = await Promise.all(answers.map(({ access_token }) => scopesOf(access_token)));
      expect(scopes).toEqual([['review'], ['review', 'user'], ['user'], ['review']]);
      expect(answers[3].access_token).toBe(answers[0].access_token);
      expect(new Set(answers.map((answer) => answer.refresh_token)).size).toBe(1);
    });

    test('still detects a stolen refresh token', async () => {
      const first = await granted(['review']);
      const { body } = await refresh(client, first.refresh_token);
      wait(31_000);
      const again = await refresh(client, first.refresh_token, { scope: 'vote' });
      expectError(again, 400, 'invalid_grant');
      expect(await isAccepted(body.access_token)).toBe(false);
    });

    test('returns a token that the grant limits, and that revokes the grant', async () => {
      const { refresh_token } = await granted(['review', 'user']);
      const { body } = await refresh(client, refresh_token, { scope: 'user' });
      const [grant] = (await listGrants(user.id)) as [Grant];
      await setAttributes(grantKey(user.id, client_id, grant.grant_id), { scopes: ['review'] });
      expect(await scopesOf(body.access_token)).toEqual([]);
      const form = { client_id, client_secret, token: body.access_token };
      expect(await postForm(revokeToken, form)).toHaveStatus(200);
      expect(await listGrants(user.id)).toEqual([]);
    });
  });

  describe('after a change', () => {
    test('a revocation that races with the redemption leaves no grant', async () => {
      let redeemed = 0;
      // Until a redemption has come first once: the revocation begins later and later.
      for (let i = 0; i < 20 || redeemed === 0; i++) {
        const code = await makeCode(client, user);
        const [{ status, body }] = await Promise.all([
          redeem(client, code),
          sleep(i).then(() => deleteGrants(user.id, client.client_id)),
        ]);
        if (status === 200) redeemed++;
        else expect(body.error).toBe('invalid_grant');
        expect(await listGrants(user.id)).toEqual([]);
      }
    });

    test('a revocation reaches a code redeemed at the last moment', async () => {
      const late = await makeCode(client, user);
      let isFirst = true;
      beforeSend(async ({ input }) => {
        if (input.IndexName === undefined || !isFirst) return undefined;
        isFirst = false;
        await redeem(client, late);
        return { Items: [] };
      });
      await deleteGrants(user.id, client.client_id);
      jest.restoreAllMocks();
      expect(await listGrants(user.id)).toEqual([]);
      expectError(await redeem(client, late), 400, 'invalid_grant');
    });

    test('a new secret leaves the previous one valid for one day', async () => {
      const first = await makeClient(owner);
      const { access_token, refresh_token } = await tokens(first);
      await rotateSecret(first.client_id, owner.id);
      const second = await renewed(first);
      const next = (await refresh(first, refresh_token)).body.refresh_token;
      expect(await refresh(second, next)).toHaveStatus(200);
      wait(23.9 * hour);
      expectError(await refresh(first, 'x'), 400, 'invalid_grant');
      wait(0.2 * hour);
      expectError(await refresh(first, 'x'), 401, 'invalid_client');
      await rotateSecret(first.client_id, owner.id);
      expectError(await refresh(second, 'x'), 400, 'invalid_grant');
      expectError(await refresh(await renewed(first), 'x'), 400, 'invalid_grant');
      jest.useRealTimers();
      expectError(await refresh(first, 'x'), 401, 'invalid_client');
      expect(await isAccepted(access_token)).toBe(true);
    });

    test('deleting the application ends its tokens at once', async () => {
      const old = await makeClient(owner);
      const { access_token, refresh_token } = await tokens(old);
      await deleteApplication(old.client_id, owner.id);
      expect(await isAccepted(access_token)).toBe(false);
      expectError(await refresh(old, refresh_token), 401, 'invalid_client');
    });
  });
});
