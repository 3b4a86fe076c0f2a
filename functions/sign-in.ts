import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { startSignIn } from '../shared/http/session.ts';
import { beginSignIn } from '../shared/user/identity-provider.ts';

export const request = v.object({ query: v.object({ return_to: v.optional(v.string()) }) });

/** Sends a person to the identity provider, and remembers where to go on to, or just the account where that is too long to remember. */
export const handler = page(request, async ({ query }, { event }) => {
  const { url, ...checks } = await beginSignIn();
  const cookies =
    (await startSignIn(event, { ...checks, return_to: ownUrl(query.return_to) })) ??
    (await startSignIn(event, { ...checks, return_to: ownUrl() }));
  return { location: url, cookies };
});

/** Only pages of ours are returned to: the parameter is anybody's to write. */
function ownUrl(return_to = ''): string {
  const home = new URL(`${authUrl()}/account`).href;
  const asked = URL.parse(return_to, home);
  const url = asked && asked.origin + asked.pathname + asked.search;
  return url?.startsWith(new URL('.', home).href) ? url : home;
}
