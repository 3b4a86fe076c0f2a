import * as client from 'openid-client';
import { authUrl } from '../auth-url.ts';
import { describeError } from '../describe-error.ts';
import { type ApiError, invalidRequest, serviceUnavailable } from '../errors.ts';
import { readSecret } from '../secrets.ts';
import { isLoopback } from '../values.ts';
import type { Identity } from './identity-repository.ts';

/** What a sign-in must remember until the person comes back. */
export interface SignInChecks {
  state: string;
  nonce: string;
  code_verifier: string;
}

let discovered: Promise<client.Configuration> | undefined;

/**
 * Begins a sign-in at the OpenID Connect provider (code flow, S256 PKCE): where to send the person, and what to remember. Throws
 * ApiError 503 when the provider cannot be reached, and so does `finishSignIn`.
 */
export async function beginSignIn(): Promise<SignInChecks & { url: string }> {
  const provider = await findProvider();
  const code_verifier = client.randomPKCECodeVerifier();
  const checks = { state: client.randomState(), nonce: client.randomNonce(), code_verifier };
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: `${authUrl()}/account/callback`,
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
    code_challenge_method: 'S256',
    state: checks.state,
    nonce: checks.nonce,
  });
  return { ...checks, url: url.href };
}

/** Who came back: `query` is what the provider sent along. Throws ApiError 400 when the sign-in failed or is not the one begun. */
export async function finishSignIn(query: string, checks: SignInChecks): Promise<Identity> {
  const provider = await findProvider();
  const current = new URL(`${authUrl()}/account/callback?${query}`);
  try {
    const tokens = await client.authorizationCodeGrant(provider, current, {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.code_verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims() ?? {};
    return toIdentity(claims);
  } catch (error) {
    if (error instanceof TypeError) throw unreachable(error);
    const { name, code, error: reason } = error as Error & { code?: string; error?: string };
    console.warn({ message: 'A sign-in failed', name, code, reason });
    throw invalidRequest('The sign-in was not completed: please start again');
  }
}

/** Discovers the provider OIDC_ISSUER, where we are known as OIDC_CLIENT_ID; once, or again if that fails. */
function findProvider(): Promise<client.Configuration> {
  discovered ??= discover().catch((error) => {
    discovered = undefined;
    throw error;
  });
  return discovered;
}

async function discover(): Promise<client.Configuration> {
  const issuer = new URL(process.env.OIDC_ISSUER ?? '');
  const secret = await readSecret('OIDC_CLIENT_SECRET');
  const options = isLoopback(issuer) ? { execute: [client.allowInsecureRequests] } : undefined;
  return client
    .discovery(issuer, process.env.OIDC_CLIENT_ID ?? '', secret, undefined, options)
    .catch((error) => Promise.reject(unreachable(error)));
}

function unreachable(error: Error): ApiError {
  console.error({ message: 'No identity provider', error: describeError(error) });
  return serviceUnavailable('Nobody can sign in right now: please try again in a moment');
}

/** The stable key of a person is issuer and subject; the rest fills the profile of a new account. */
function toIdentity(claims: Record<string, unknown>): Identity {
  const text = (name: string) => {
    const claim = claims[name];
    return typeof claim === 'string' ? claim.replaceAll(/\p{Cc}/gu, '').trim() : '';
  };
  const email = text('email');
  const names = [text('name'), text('nickname'), text('preferred_username')];
  const display_name = names.find((name) => name) ?? 'Reader';
  return {
    issuer: String(claims.iss),
    subject: String(claims.sub),
    display_name: [...display_name].slice(0, 64).join(''),
    email: email || null,
    musicdb_username: text('musicdb_username') || null,
  };
}
