import { presentApplication } from '../../shared/oauth/application.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import { tokenResponse } from '../../shared/oauth/grant.ts';
import { insertGrant } from '../../shared/oauth/grant-repository.ts';
import { insertUser } from '../../shared/user/user-repository.ts';

/** An account with its own application and a grant to it. */
export type Caller = Awaited<ReturnType<typeof newCaller>>;

export async function newCaller(display_name: string) {
  const { id: user_id } = await insertUser({ display_name, email: null, musicdb_username: null });
  const application = await insertApplication(user_id, {
    name: 'Bench',
    desc: 'Bench',
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  });
  const { client_id, client_secret } = await presentApplication(application, true);
  const grant = await insertGrant({ user_id, client_id, scopes: ['review', 'vote', 'user'] });
  const tokens = await tokenResponse(grant);
  const caller = { user_id, client_id, scope: grant.scopes.join(' ') };
  return { caller, client_secret: client_secret ?? '', tokens };
}
