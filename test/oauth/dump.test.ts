import { handler as authorizer } from '../../functions/api/authorizer.ts';
import { eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { rotateSecret } from '../../shared/core/oauth/application-repository.ts';
import { insertAuthorizationRequest } from '../../shared/core/oauth/authorization-repository.ts';
import { listGrants } from '../../shared/core/oauth/grant-repository.ts';
import { findOrCreateUser } from '../../shared/features/account/identity-repository.ts';
import { readSession, startSession } from '../../shared/pages/session/session.ts';
import { scanTable } from '../helpers/items.ts';
import { challenge, makeClient, makeCode, redeem, refresh } from '../helpers/oauth-client.ts';
import { makeUser } from '../helpers/world.ts';

/** Returns every text in an item, and each part between separators. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...value.split('#')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...texts(inner)]);
}

const user = await makeUser();
const client = await makeClient(user);
const { client_id, name, redirect_uri, client_secret } = client;
const rotated = await makeClient(user);
await rotateSecret(rotated.client_id, user.id);

const pending = await makeCode(client, user, { code_challenge: challenge });
const code = await makeCode(client, user);
const { body: first } = await redeem(client, code);
const { body: second } = await refresh(client, first.refresh_token);
const issued = [
  client_secret,
  rotated.client_secret,
  await startSession(user.id),
  pending,
  code,
  first.access_token,
  first.refresh_token,
  second.access_token,
  second.refresh_token,
];
const request = { client_id, name, redirect_uri, scopes: [], state: 'x', code_challenge: null };
await insertAuthorizationRequest(request);
const profile = { display_name: 'Ann', email: null, musicdb_username: null };
await findOrCreateUser({ issuer: 'https://id.example', subject: 'ann', ...profile });
await user.publishes();
const dump = [...new Set((await scanTable()).flatMap(texts))].filter((text) => text !== '');

test('the table contains no issued credential, whole or in part', () => {
  const everything = dump.join('\n');
  for (const credential of issued) {
    const [, bare = credential] = /^rv[a-z]_(.*)/.exec(credential) ?? [];
    expect(everything).not.toContain(bare);
    // The MAC is the last 43 characters. The secret half of a session follows the last dot.
    expect(everything).not.toContain(bare.slice(-20));
  }
});

test('no value in the table works as a credential', async () => {
  expect(dump.length).toBeGreaterThan(80);
  const methodArn = 'arn:aws:execute-api:local:000000000000:local/ws/GET/1/user/me';
  for (const text of dump) {
    for (const [prefix, attempt] of [
      ['rvr_', (token: string) => refresh(client, token)],
      ['rvc_', (token: string) => redeem(client, token)],
      ['rvs_', (token: string) => redeem({ ...client, client_secret: token }, 'rvc_x')],
    ] as const) {
      for (const credential of [text, prefix + text]) {
        const { status, body } = await attempt(credential);
        expect([400, 401]).toContain(status);
        expect(['invalid_grant', 'invalid_client']).toContain(body.error);
        if (prefix === 'rvs_') expect(body.error).toBe('invalid_client');
      }
    }
    for (const token of [text, `rva_${text}`]) {
      const event = { type: 'TOKEN', authorizationToken: `Bearer ${token}`, methodArn } as const;
      await expect(authorizer(event)).rejects.toThrow('Unauthorized');
    }
    const headers = { cookie: `__Host-session=${encodeURIComponent(text)}` };
    expect(await readSession(eventOf({ headers }))).toBeUndefined();
  }
  // The attempts have changed nothing.
  expect(await listGrants(client.user_id)).toHaveLength(1);
});
