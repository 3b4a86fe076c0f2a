import * as v from 'valibot';
import { ownUrl } from '../shared/pages/own-url.ts';
import { page } from '../shared/pages/page.ts';
import { startSignIn } from '../shared/pages/session.ts';
import { beginSignIn, prompts } from '../shared/user/identity-provider.ts';
import { oneOf } from '../shared/values.ts';

export const request = v.object({
  query: v.object({
    return_to: v.optional(v.string()),
    /** Set for who wants another account than the one that the provider would take. */
    prompt: v.fallback(v.optional(oneOf(prompts)), undefined),
  }),
});

/** Sends a person to the identity provider, and remembers where to go on to: the account, where that is too long to remember. */
export const handler = page(request, async ({ query }, { event }) => {
  const { url, ...checks } = await beginSignIn(query.prompt);
  const cookies =
    (await startSignIn(event, { ...checks, return_to: ownUrl(query.return_to) })) ??
    (await startSignIn(event, { ...checks, return_to: ownUrl() }));
  return { location: url, cookies };
});
