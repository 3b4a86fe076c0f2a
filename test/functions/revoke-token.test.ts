import { handler } from '../../functions/api/revoke-token.ts';
import { deleteGrants, listGrants } from '../../shared/core/oauth/grant-repository.ts';
import {
  basic,
  type Client,
  makeClient,
  makeCode,
  postForm,
  redeem,
  refresh,
} from '../helpers/oauth-client.ts';
import { makeUsers } from '../helpers/world.ts';

const [user, owner] = await makeUsers(2);
const client = await makeClient(owner);

beforeEach(() => deleteGrants(user.id));

const tokens = async () => (await redeem(client, await makeCode(client, user))).body;

const revoke = ({ client_id, client_secret }: Client, fields: Record<string, string>) =>
  postForm(handler, { client_id, client_secret, ...fields });

describe('POST /oauth/revoke', () => {
  test('accepts a replaced refresh token, a wrong hint, and Basic', async () => {
    const { refresh_token } = await tokens();
    await refresh(client, refresh_token);
    const hint = { token_type_hint: 'access_token' };
    expect(await revoke(client, { token: refresh_token, ...hint })).toHaveStatus(200);
    expect(await listGrants(user.id)).toEqual([]);
    const { access_token: token } = await tokens();
    const header = basic(client.client_id, client.client_secret);
    expect(await postForm(handler, { token }, header)).toHaveStatus(200);
    expect(await listGrants(user.id)).toEqual([]);
  });

  test('requires HTTPS, and ignores parameters in the URL', async () => {
    const { refresh_token: token } = await tokens();
    const { client_id, client_secret } = client;
    const form = { client_id, client_secret, token };
    expect(await postForm(handler, form, { 'X-Forwarded-Proto': 'http' })).toHaveStatus(400);
    expect(await postForm(handler, form, {}, { token })).toHaveStatus(400);
    expect(await listGrants(user.id)).toHaveLength(1);
  });
});
