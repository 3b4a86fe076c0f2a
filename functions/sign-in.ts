import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { startSignIn } from '../shared/http/session.ts';
import { beginSignIn } from '../shared/user/identity-provider.ts';

export const request = v.object({ query: v.object({ return_to: v.optional(v.string()) }) });

/** Sends a person to the identity provider. */
export const handler = page(request, async ({ query }) => {
  const { url, ...checks } = await beginSignIn();
  const cookie = await startSignIn({ ...checks, return_to: ownUrl(query.return_to) });
  return { location: url, cookies: [cookie] };
});

/** Only pages of ours are returned to: the parameter is anybody's to write. */
function ownUrl(return_to = ''): string {
  const home = new URL(`${authUrl()}/account`);
  const asked = URL.parse(return_to, home.href);
  const base = new URL(authUrl()).pathname;
  const isOwn = asked?.origin === home.origin && asked.pathname.startsWith(`${base}/`);
  return isOwn && return_to !== '' ? asked.href : home.href;
}
