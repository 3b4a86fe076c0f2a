import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller } from '../../shared/core/http/request.ts';
import { presentApplication } from '../../shared/core/oauth/application.ts';
import {
  findApplication,
  findApplications,
} from '../../shared/core/oauth/application-repository.ts';
import { refreshToken } from '../../shared/core/oauth/grant.ts';
import { listGrants } from '../../shared/core/oauth/grant-repository.ts';

export { TokensResponse as response } from '../../shared/core/oauth/presented.ts';
export const request = v.object({ caller: Caller });

export const docs = {
  tag: 'Own account',
  summary: 'List your grants to applications',
  description:
    'Grants of the user. An application of another owner sees only its own refresh token, and no secret.',
} satisfies Docs<typeof request>;

/** A third party must not be able to take other credentials of the user. */
export const handler = endpoint(request, async ({ caller: { user_id, client_id } }) => {
  const [grants, caller] = await Promise.all([listGrants(user_id), findApplication(client_id)]);
  const isOwn = caller?.user_id === user_id;
  const clients = await findApplications(grants.map((grant) => grant.client_id));
  const tokens = grants.map(async (grant) => {
    const client = clients.get(grant.client_id);
    if (!client) return undefined;
    const isShown = isOwn || grant.client_id === client_id;
    return {
      scopes: grant.scopes.join(' '),
      client: await presentApplication(client, isOwn && client.user_id === user_id),
      refresh_token: isShown ? await refreshToken(grant) : null,
    };
  });
  return { tokens: (await Promise.all(tokens)).filter((token) => token !== undefined) };
});
