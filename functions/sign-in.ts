import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { startSignIn } from '../shared/http/session.ts';
import { beginSignIn, prompts } from '../shared/user/identity-provider.ts';
import { oneOf } from '../shared/values.ts';

export const request = v.object({
  query: v.object({
    return_to: v.optional(v.string()),
    /** For who wants to use another account than the one that the provider would take. */
    prompt: v.fallback(v.optional(oneOf(prompts)), undefined),
  }),
});

/** Sends a person to the identity provider. */
export const handler = page(request, async ({ query }) => {
  const { url, ...checks } = await beginSignIn(query.prompt);
  const cookie = await startSignIn({ ...checks, return_to: ownUrl(query.return_to) });
  return { location: url, cookies: [cookie] };
});

/** Only pages of ours are returned to: the parameter is anybody's to write. */
function ownUrl(return_to = ''): string {
  const home = new URL(`${authUrl()}/account`).href;
  const asked = URL.parse(return_to, home);
  const url = asked && asked.origin + asked.pathname + asked.search;
  return url?.startsWith(new URL('.', home).href) ? url : home;
}
