import * as v from 'valibot';
import { partsOf, readRequest, requireHttps } from '../../shared/http/read-request.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';
import { respond } from '../../shared/pages/frame/html-response.ts';
import { ownUrl } from '../../shared/pages/frame/own-url.ts';
import { startSignIn } from '../../shared/pages/session/session.ts';
import { beginSignIn, prompts } from '../../shared/user/identity-provider.ts';
import { oneOf } from '../../shared/values.ts';

export const request = v.object({
  query: v.object({
    return_to: v.optional(v.string()),
    /** Makes the provider ask, for a person who wants to use another account. */
    prompt: v.fallback(v.optional(oneOf(prompts)), undefined),
  }),
});

/** Sends a person to the identity provider. Remembers the page to return to, or the account. */
export const handler = browserHandler(async (event) => {
  requireHttps(event);
  const { query } = readRequest(request, partsOf(event));
  const { url, ...checks } = await beginSignIn(query.prompt);
  const cookies =
    (await startSignIn(event, { ...checks, return_to: ownUrl(query.return_to) })) ??
    (await startSignIn(event, { ...checks, return_to: ownUrl() }));
  return respond({ location: url, cookies });
});
