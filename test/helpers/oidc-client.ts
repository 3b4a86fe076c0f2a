// A client of the development identity provider, as this service is one.
import type { identityProvider } from '../../infra/local/sign-in/identity-provider.ts';
import { challenge, verifier } from './oauth-client.ts';

type Environment = Awaited<ReturnType<typeof identityProvider>>['environment'];

/**
 * Opens the sign-in page for a new authorization request. Returns its address, and
 * a `send` that follows no redirect and keeps the cookies in `jar`.
 */
export async function openSignIn(
  { OIDC_ISSUER, OIDC_CLIENT_ID }: Environment,
  callback: string,
  hints: Record<string, string> = {},
) {
  const query = new URLSearchParams({
    client_id: OIDC_CLIENT_ID,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...hints,
  });
  const jar = new Map<string, string>();
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = async (to: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, Cookie: cookies() };
    const response = await fetch(to, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
  const { headers } = await send(`${OIDC_ISSUER}/auth?${query}`);
  const url = new URL(headers.get('location') ?? '', OIDC_ISSUER).href;
  return { url, send, jar };
}

/** Returns the claims of the ID token for the code in an answer's location. */
export async function claimsOf(
  { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: Environment,
  callback: string,
  { headers }: Response,
) {
  const { searchParams } = new URL(headers.get('location') ?? '');
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: callback,
    client_id: OIDC_CLIENT_ID,
    client_secret: OIDC_CLIENT_SECRET,
  });
  const response = await fetch(`${OIDC_ISSUER}/token`, { method: 'POST', body });
  const { id_token = '' } = (await response.json()) as { id_token?: string };
  return JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
}
