import * as v from 'valibot';
import { oneOf } from '../../shared/base/values.ts';
import { partsOf, readRequest, requireHttps } from '../../shared/core/http/read-request.ts';
import { beginSignIn, prompts, readMove } from '../../shared/features/account/public.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';
import { respond } from '../../shared/pages/frame/html-response.ts';
import { ownUrl } from '../../shared/pages/frame/own-url.ts';
import { startSignIn } from '../../shared/pages/session/session.ts';

export const request = v.object({
  query: v.object({
    return_to: v.optional(v.string()),
    /** Makes the provider ask, for a person who wants to use another account. */
    prompt: v.fallback(v.optional(oneOf(prompts)), undefined),
    /** Sealed: the account to move to the identity that signs in. */
    move: v.optional(v.string()),
  }),
});

/** Sends a person to the identity provider. Remembers the page to return to, or the account. */
export const handler = browserHandler(async (event) => {
  requireHttps(event);
  const { query } = readRequest(request, partsOf(event));
  const moves = query.move === undefined ? undefined : await readMove(query.move);
  const { url, ...checks } = await beginSignIn(query.prompt);
  const signIn = { ...checks, moves };
  const cookies =
    (await startSignIn(event, { ...signIn, return_to: ownUrl(query.return_to) })) ??
    (await startSignIn(event, { ...signIn, return_to: ownUrl() }));
  return respond({ location: url, cookies });
});
