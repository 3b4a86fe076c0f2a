import { handler } from '../../functions/api/list-my-tokens.ts';
import { invoke } from '../helpers/invoke.ts';
import { type Client, makeClient, makeCode, redeem, refresh } from '../helpers/oauth-client.ts';
import { makeUsers } from '../helpers/world.ts';

const [user, other] = await makeUsers(2);
const own = await makeClient(user, undefined, 'Own');
const third = await makeClient(other, undefined, 'Third');
const fourth = await makeClient(other, undefined, 'Fourth');

const tokens = [];
for (const client of [own, third, fourth]) {
  const code = await makeCode(client, user, { scopes: ['review', 'vote'] });
  tokens.push((await redeem(client, code)).body.refresh_token);
  // A token of another user.
  await redeem(client, await makeCode(client, other));
}
const [owns, thirds, fourths] = tokens;

async function list({ client_id }: Client, { id } = user) {
  const { status, body } = await invoke(handler, { caller: { user_id: id, client_id, scope: '' } });
  expect(status).toBe(200);
  return body.tokens;
}

const seen = (tokens: { client: Client; refresh_token: string }[]) =>
  tokens.map(({ client, refresh_token }) => [client.name, client.client_secret, refresh_token]);

describe('GET /user/me/tokens', () => {
  test('returns the token records that the spec describes', async () => {
    const [record] = await list(own);
    const { client_id, client_secret, name, desc, website, redirect_uri, user_id } = own;
    expect(user_id).toBe(user.id);
    const client = { name, desc, website, redirect_uri, client_id, client_secret, user_id };
    expect(record).toEqual({ scopes: 'review vote', client, refresh_token: owns });
  });

  test('returns all refresh tokens to the caller’s own application, with its secrets', async () => {
    expect(seen(await list(own))).toEqual([
      ['Own', own.client_secret, owns],
      ['Third', null, thirds],
      ['Fourth', null, fourths],
    ]);
  });

  test('returns only its own refresh token to another user’s application, without secrets', async () => {
    expect(seen(await list(third))).toEqual([
      ['Own', null, null],
      ['Third', null, thirds],
      ['Fourth', null, null],
    ]);
  });

  test('returns the current refresh token', async () => {
    const { body } = await refresh(fourth, fourths);
    const [, , record] = await list(fourth);
    expect(record.refresh_token).toBe(body.refresh_token);
    expect(await refresh(fourth, record.refresh_token)).toHaveStatus(200);
  });
});
