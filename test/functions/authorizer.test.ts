import { randomUUID } from 'node:crypto';
import type { GetCommandInput } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { handler } from '../../functions/api/authorizer.ts';
import { type Route, routes, type Scope } from '../../shared/base/routes.ts';
import { table } from '../../shared/base/table/client.ts';
import { resourceOf } from '../../shared/core/http/match-route.ts';
import { grantKey } from '../../shared/core/keys.ts';
import { sealToken } from '../../shared/core/oauth/credentials.ts';
import { deleteGrant } from '../../shared/core/oauth/grant-repository.ts';
import { silenceAll } from '../helpers/console.ts';
import { setAttributes } from '../helpers/items.ts';
import { makeGrant, makeUser } from '../helpers/world.ts';

const logged = silenceAll('info');

const arn = 'arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/ws';
const scopes: Scope[] = ['review', 'vote', 'user'];
const user = await makeUser();
const all = await makeGrant(user, scopes);

/** Makes a grant to an application of its own. */
const grantOf = async (granted: Scope[], { lifetime }: { lifetime?: number } = {}) =>
  makeGrant(user, granted, { owner: await makeUser(), lifetime });

const methodArn = ({ method, ...route }: Route) =>
  `${arn}/${method}${resourceOf(route).replaceAll(/\{\w+\}/g, () => randomUUID())}`;

function authorize(
  authorizationToken: string,
  resource = `${arn}/GET/1/review/${randomUUID()}/vote`,
) {
  return handler({ type: 'TOKEN', methodArn: resource, authorizationToken });
}

function statementOf({ policyDocument }: APIGatewayAuthorizerResult) {
  const { Effect, Resource } = policyDocument.Statement[0] as { Effect: string; Resource: string };
  return [policyDocument.Statement.length, Effect, Resource];
}

describe('the authorizer', () => {
  test('allows the requested route only, and identifies the caller', async () => {
    const resource = `${arn}/PUT/1/review/${randomUUID()}/vote/`;
    expect(await authorize(`Bearer ${all.access_token}`, resource)).toEqual({
      principalId: user.id,
      policyDocument: {
        Version: '2012-10-17',
        Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: resource }],
      },
      context: { user_id: user.id, client_id: all.grant.client_id, scope: 'review vote user' },
    });
  });

  const guarded = routes.filter(({ access }) => access !== 'public');
  test.each(guarded)('requires $access for $method $path, and nothing else', async (route) => {
    const { access } = route;
    const resource = methodArn(route);
    const granted = access === 'token' ? [] : [access as Scope];
    const enough = await grantOf(granted);
    const answer = await authorize(`bearer ${enough.access_token}`, resource);
    expect(statementOf(answer)).toEqual([1, 'Allow', resource]);
    expect(answer.context).toMatchObject({ scope: granted.join(' ') });
    if (access === 'token') return;

    const lacking = await grantOf(scopes.filter((scope) => scope !== access));
    const refusal = await authorize(`Bearer ${lacking.access_token}`, resource);
    expect(statementOf(refusal)).toEqual([1, 'Deny', resource]);
    expect(refusal.context).toEqual({
      description: `The access token lacks the scope ${access}`,
      challenge: `Bearer realm="review", error="insufficient_scope", scope="${access}"`,
    });
  });

  test('allows only guarded routes', async () => {
    for (const path of ['GET/1/nothing', 'PATCH/1/review', 'GET/', 'GET/1/review/x/vote/y']) {
      const answer = await authorize(`Bearer ${all.access_token}`, `${arn}/${path}`);
      expect(statementOf(answer)).toEqual([1, 'Deny', `${arn}/${path}`]);
    }
  });

  test('keeps within IAM’s limit of 512 characters', async () => {
    const resource = `${arn}/GET/1/review/${'x'.repeat(600)}/vote`;
    const answer = await authorize(`Bearer ${all.access_token}`, resource);
    const [, effect, allowed] = statementOf(answer);
    expect(effect).toBe('Allow');
    expect(`${allowed}`.length).toBeLessThanOrEqual(512);
    expect(resource.startsWith(`${allowed}`.replace(/\*$/, ''))).toBe(true);
  });

  const lasting = { ...all.grant, expires_at: 2 ** 32 - 1 };
  const changed = (content: object) => sealToken('access', { ...lasting, ...content });
  test.each([
    ['nothing', () => ''],
    ['garbage', () => 'rva_x'],
    ['a refresh token', () => all.refresh_token],
    ['two tokens', () => `${all.access_token} ${all.access_token}`],
    ['an expired token', async () => (await grantOf(scopes, { lifetime: -1 })).access_token],
    ['a token that expires now', () => changed({ expires_at: Math.floor(Date.now() / 1000) })],
    ['a token that never expires', () => changed({ expires_at: 0 })],
    [
      'a token of a grant that was revoked',
      async () => {
        const { grant, access_token } = await makeGrant(user, scopes);
        await authorize(`Bearer ${access_token}`);
        await deleteGrant(grant);
        return access_token;
      },
    ],
    ['a token of another user’s grant', () => changed({ user_id: randomUUID() })],
    ['a token of another grant', () => changed({ grant_id: '0'.repeat(32) })],
  ])('refuses %s: exactly “Unauthorized”', async (_, token) => {
    await expect(authorize(`Bearer ${await token()}`)).rejects.toThrow(/^Unauthorized$/);
  });

  test.each([
    ['not ours', async () => `rva_${Buffer.alloc(88, 'made up').toString('base64url')}`, false],
    ['expired', async () => (await grantOf(scopes, { lifetime: -1 })).access_token, true],
    [
      'revoked',
      async () => {
        const { grant, access_token } = await grantOf(scopes);
        await deleteGrant(grant);
        return access_token;
      },
      true,
    ],
  ])(
    'logs that a token is %s, without the token, and its client if it is ours',
    async (reason, make, isOurs) => {
      const token = await make();
      await expect(authorize(`Bearer ${token}`)).rejects.toThrow('Unauthorized');
      const client_id = isOurs ? expect.stringMatching(/^[0-9a-f]{32}$/) : undefined;
      expect(logged.mock.calls).toEqual([[{ message: 'Access token refused', reason, client_id }]]);
      expect(JSON.stringify(logged.mock.calls)).not.toContain(token);
    },
  );

  /** Says for each read during `run` whether it is consistent. */
  async function readsOf(run: () => Promise<unknown>) {
    const sent = jest.spyOn(table, 'send');
    await run();
    const reads = sent.mock.calls.map(([{ input }]) => (input as GetCommandInput).ConsistentRead);
    sent.mockRestore();
    return reads;
  }

  test.each(guarded)(
    'reads the grant for $method $path once, consistently for writes',
    async (route) => {
      const reads = await readsOf(() => authorize(`Bearer ${all.access_token}`, methodArn(route)));
      expect(reads).toEqual([route.method !== 'GET']);
    },
  );

  test.each([
    ['GET', [false, true]],
    ['DELETE', [true]],
  ])('reads a missing grant with %s: %j', async (method, expected) => {
    const { grant, access_token } = await grantOf(scopes);
    await deleteGrant(grant);
    const reads = await readsOf(async () => {
      const asked = authorize(`Bearer ${access_token}`, `${arn}/${method}/1/user/me`);
      await expect(asked).rejects.toThrow('Unauthorized');
    });
    expect(reads).toEqual(expected);
  });

  test('follows the token when its scopes are narrower than the grant', async () => {
    const token = await changed({ narrowed_to: ['vote'] });
    const answer = await authorize(`Bearer ${token}`);
    expect(statementOf(answer)[1]).toBe('Allow');
    expect(answer.context).toMatchObject({ scope: 'vote' });
    expect(statementOf(await authorize(`Bearer ${token}`, `${arn}/POST/1/review`))[1]).toBe('Deny');
  });

  test('follows the current grant, not the token', async () => {
    const { grant, access_token } = await makeGrant(user, scopes);
    await setAttributes(grantKey(user.id, grant.client_id, grant.grant_id), { scopes: ['review'] });
    expect(statementOf(await authorize(`Bearer ${access_token}`))[1]).toBe('Deny');
  });
});
