import { pathToFileURL } from 'node:url';

/** A user with an application of its own that may act for it. */
export interface Caller {
  caller: { user_id: string; client_id: string; scope: string };
  client_id: string;
  client_secret: string;
  tokens: { access_token: string; refresh_token: string };
}

/** Makes one by the code of a checkout. */
export async function newCaller(display_name: string, root: string): Promise<Caller> {
  const load = (file: string) => import(pathToFileURL(`${root}/shared/${file}`).href);
  const { insertUser } = await load('user/user-repository.ts');
  const { insertApplication } = await load('oauth/application-repository.ts');
  const { presentApplication } = await load('oauth/application.ts');
  const { insertGrant } = await load('oauth/grant-repository.ts');
  const { tokenResponse } = await load('oauth/grant.ts');
  const { id: user_id } = await insertUser({ display_name, email: null, musicdb_username: null });
  const application = await insertApplication(user_id, {
    name: 'Bench',
    desc: 'Bench',
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  });
  const { client_id, client_secret } = await presentApplication(application, true);
  const scopes = ['review', 'vote', 'user'];
  const tokens = await tokenResponse(await insertGrant({ user_id, client_id, scopes }));
  const caller = { user_id, client_id, scope: scopes.join(' ') };
  return { caller, client_id, client_secret, tokens };
}
