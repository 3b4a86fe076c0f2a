import * as v from 'valibot';
import { authUrl } from '../auth-url.ts';

const Discovery = v.object({
  end_session_endpoint: v.optional(v.pipe(v.string(), v.url(), v.regex(/^https?:/i))),
});

let discovered: Promise<URL | undefined> | undefined;

/**
 * Where the identity provider ends its session with a person (OpenID Connect RP-Initiated Logout 1.0), and sends them to our page of
 * signing out; undefined where it has no such place, or does not say so within 3 seconds: our own session is over in any case.
 */
export async function findProviderSignOut(): Promise<string | undefined> {
  if (process.env.OIDC_LOGOUT_URL) return process.env.OIDC_LOGOUT_URL;
  discovered ??= discover();
  try {
    const found = await discovered;
    if (!found) return undefined;
    const url = new URL(found);
    url.searchParams.set('client_id', process.env.OIDC_CLIENT_ID ?? '');
    url.searchParams.set('post_logout_redirect_uri', `${authUrl()}/account/sign-out`);
    return url.href;
  } catch (error) {
    discovered = undefined;
    console.warn({ message: 'No sign-out at the identity provider', error: `${error}` });
    return undefined;
  }
}

/** Not with the library that signs in: what signs out needs no more than this, and would start slower. */
async function discover(): Promise<URL | undefined> {
  const issuer = (process.env.OIDC_ISSUER ?? '').replace(/\/$/, '');
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(3_000),
  });
  if (!response.ok) throw new Error(`${response.status}`);
  const { end_session_endpoint } = v.parse(Discovery, await response.json());
  return end_session_endpoint === undefined ? undefined : new URL(end_session_endpoint);
}
