import * as v from 'valibot';
import { authUrl } from '../../base/auth-url.ts';

const Discovery = v.object({
  end_session_endpoint: v.optional(v.pipe(v.string(), v.url(), v.regex(/^https?:/i))),
});

let discovered: Promise<string | undefined> | undefined;

/**
 * Returns the identity provider's sign-out URL, which leads back to our sign-out page (OpenID
 * Connect RP-Initiated Logout 1.0). Without the ID token of the sign-in, the provider asks the
 * person first. Undefined if the provider names none within 3 seconds.
 */
export async function findProviderSignOut(idToken?: string): Promise<string | undefined> {
  if (process.env.OIDC_LOGOUT_URL) return process.env.OIDC_LOGOUT_URL;
  discovered ??= discover();
  try {
    const endpoint = await discovered;
    if (!endpoint) return undefined;
    const url = new URL(endpoint);
    url.searchParams.set('client_id', process.env.OIDC_CLIENT_ID ?? '');
    url.searchParams.set('post_logout_redirect_uri', `${authUrl()}/account/sign-out`);
    if (idToken) url.searchParams.set('id_token_hint', idToken);
    return url.href;
  } catch (error) {
    discovered = undefined;
    const message = 'Could not read the sign-out address of the identity provider';
    console.warn({ message, error: `${error}` });
  }
}

/** Without openid-client, which would slow the start of signing out. */
async function discover() {
  const issuer = (process.env.OIDC_LOCAL_URL ?? process.env.OIDC_ISSUER ?? '').replace(/\/$/, '');
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(3_000),
  });
  if (!response.ok) throw new Error(`${response.status}`);
  const { end_session_endpoint } = v.parse(Discovery, await response.json());
  return end_session_endpoint;
}
