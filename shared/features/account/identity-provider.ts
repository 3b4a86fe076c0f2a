import * as client from 'openid-client';
import * as v from 'valibot';
import { authUrl } from '../../base/auth-url.ts';
import { describeError } from '../../base/describe-error.ts';
import { ApiError, invalidRequest, serviceUnavailable } from '../../base/errors.ts';
import { countUnavailable } from '../../base/metric.ts';
import { readSecret } from '../../base/secrets.ts';
import { isLoopback } from '../../base/values.ts';
import type { Identity } from '../../core/user/identity.ts';
import { noteProvider } from '../../core/user/provider-fault.ts';
import { DisplayName, Email } from '../../core/user/user.ts';

/** Values to store until the person returns from the provider. */
interface SignInChecks {
  state: string;
  nonce: string;
  code_verifier: string;
}

/** Prompts: enter the credentials again, or choose an account. */
export const prompts = ['login', 'select_account'] as const;
type Prompt = (typeof prompts)[number];

/** In seconds. The end of a sign-in makes four requests. Lambda ends it after 15 s. */
const patience = 3.5;

let discovered: Promise<client.Configuration> | undefined;

/**
 * Starts a sign-in at the OpenID Connect provider (code flow, S256 PKCE). With `prompt`, the
 * provider asks even if the person is signed in there (OpenID Connect Core 1.0 section 3.1.2.1).
 * Throws ApiError 503 if the provider is unreachable.
 */
export async function beginSignIn(prompt?: Prompt): Promise<SignInChecks & { url: string }> {
  discovered ??= discover();
  const provider = await discovered;
  const code_verifier = client.randomPKCECodeVerifier();
  const checks = { state: client.randomState(), nonce: client.randomNonce(), code_verifier };
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: `${authUrl()}/account/callback`,
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
    code_challenge_method: 'S256',
    state: checks.state,
    nonce: checks.nonce,
    ...(prompt && { prompt }),
  });
  return { ...checks, url: url.href };
}

/** A completed sign-in. */
interface SignedIn {
  identity: Identity;
  /** The provider's last check of the person (ms since 1970), if known. */
  authenticated: number | undefined;
  /** The ID token, if the provider asks for it to sign a person out. */
  idToken: string | undefined;
}

/**
 * Completes a sign-in with the provider's `query`. Throws ApiError 400 if the sign-in failed or
 * does not match `checks`, 503 if the provider is unreachable or accepts no sign-in of ours. Reads
 * the provider's keys each time, because they may have changed.
 */
export async function finishSignIn(query: string, checks: SignInChecks): Promise<SignedIn> {
  discovered = discover();
  const provider = await discovered;
  const { token_endpoint } = provider.serverMetadata();
  // With tokens the provider has accepted the person, so whatever is wrong with the ID token would
  // fail all sign-ins: its keys, its algorithm, or one of two clocks.
  let hasTokens = false;
  watchAnswers(provider, (response, url) => {
    if (url === token_endpoint) hasTokens = response.ok;
  });
  const current = new URL(`${authUrl()}/account/callback?${query}`);
  try {
    const tokens = await client.authorizationCodeGrant(provider, current, {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.code_verifier,
      idTokenExpected: true,
    });
    const { auth_time, ...claims } = tokens.claims() ?? {};
    const identity = toIdentity(await completed(claims, provider, tokens.access_token));
    noteProvider();
    return {
      identity,
      authenticated: typeof auth_time === 'number' ? auth_time * 1000 : undefined,
      idToken: signsOut(provider) ? tokens.id_token : undefined,
    };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const { name, code, error: reason } = error as ProviderError;
    if (isProviderFault(error)) throw unavailable(error);
    if (hasTokens) {
      noteProvider(
        `Nobody can sign in: the ID tokens of the identity provider are not valid (${code ?? name}). Compare the clocks, and the algorithm and keys of the provider`,
      );
      throw unavailable(error as ProviderError);
    }
    console.warn({ message: 'A sign-in failed', name, code, reason });
    throw invalidRequest('The sign-in was not completed');
  }
}

/** Calls `look` with each answer of the provider from now on, and the address that was asked. */
export function watchAnswers(
  provider: client.Configuration,
  look: (response: Response, url: string) => void,
): void {
  const ask: client.CustomFetch =
    provider[client.customFetch] ?? ((url, init) => fetch(url, init as RequestInit));
  provider[client.customFetch] = async (url, init) => {
    const response = await ask(url, init);
    look(response, url);
    return response;
  };
}

/** Returns true for a provider with a sign-out of its own, as provider-sign-out.ts finds it. */
function signsOut(provider: client.Configuration): boolean {
  const { end_session_endpoint } = provider.serverMetadata();
  return end_session_endpoint !== undefined && !process.env.OIDC_LOGOUT_URL;
}

interface ProviderError extends Error {
  code?: string;
  error?: string;
}

/** Codes of openid-client for an answer that is none: an error page, or no answer in time. */
const noAnswer = [
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_TIMEOUT',
];

/**
 * Tests whether a sign-in failed for a reason that fails all of them, such as a wrong client
 * secret. Of the errors that the token endpoint names (RFC 6749 section 5.2), a person can cause
 * only `invalid_grant`. An error in the query proves nothing, because anybody can write it.
 */
function isProviderFault(error: unknown): error is ProviderError {
  if (error instanceof TypeError || error instanceof client.WWWAuthenticateChallengeError) {
    return true;
  }
  if (error instanceof client.ResponseBodyError) return error.error !== 'invalid_grant';
  return noAnswer.includes(`${(error as ProviderError).code}`);
}

/**
 * Adds claims of the UserInfo endpoint if the ID token lacks a name or an address. By default,
 * providers give these claims there alone (OpenID Connect Core 1.0 section 5.4). The library
 * refuses an answer about another subject (section 5.3.2). Without an answer the sign-in goes on,
 * and the claims are not `isWhole`.
 */
async function completed(claims: Claims, provider: client.Configuration, accessToken: string) {
  const { sub } = claims;
  const isComplete = nameIn(claims) !== undefined && emailIn(claims) !== null;
  const isAskable = provider.serverMetadata().userinfo_endpoint !== undefined;
  if (isComplete || !isAskable || typeof sub !== 'string') return { ...claims, isWhole: true };
  try {
    const more: Claims = await client.fetchUserInfo(provider, accessToken, sub);
    // The word on an address counts for the address beside it alone.
    const { email, email_verified } = emailIn(claims) === null ? more : claims;
    return { ...more, ...claims, email, email_verified, isWhole: true };
  } catch (error) {
    console.warn({ message: 'No UserInfo', error: describeError(error) });
    return { ...claims, isWhole: false };
  }
}

/** Asks the provider for its addresses. After a failure, the next sign-in asks again. */
async function discover(): Promise<client.Configuration> {
  try {
    return await discoverProvider();
  } catch (error) {
    discovered = undefined;
    throw unavailable(error as Error);
  }
}

/** Asks the provider for its addresses. Throws what openid-client throws. */
export async function discoverProvider(): Promise<client.Configuration> {
  const issuer = new URL(process.env.OIDC_ISSUER ?? '');
  const secret = await readSecret('OIDC_CLIENT_SECRET');
  // TLS proves who sends an ID token. Without TLS, the signature does.
  const execute = [client.enableNonRepudiationChecks];
  if (isLoopback(issuer)) execute.push(client.allowInsecureRequests);
  const options: client.DiscoveryRequestOptions = { execute, timeout: patience };
  const local = process.env.OIDC_LOCAL_URL;
  // Our own provider is on this machine, which need not reach the public address of its issuer.
  if (local) {
    options[client.customFetch] = (url, init) => fetch(url.replace(issuer.href, local), init);
  }
  const id = process.env.OIDC_CLIENT_ID ?? '';
  return client.discovery(issuer, id, secret, undefined, options);
}

function unavailable(error: ProviderError): ApiError {
  const message = 'The identity provider cannot be reached, or refuses this service';
  const { code, error: reason } = error;
  console.error({ message, code, reason, error: describeError(error) });
  countUnavailable();
  return serviceUnavailable('Nobody can sign in right now: please try again in a moment');
}

type Claims = Readonly<Record<string, unknown>>;

const controls = /\p{Cc}/gu;

function textOf(claim: unknown): string {
  return typeof claim === 'string' ? claim.toWellFormed().replaceAll(controls, '').trim() : '';
}

const shortOf = (claim: unknown) => [...textOf(claim)].slice(0, 64).join('').trim();

/** A proposal for the public name. A name with `@` may be an email address, so it is left out. */
function nameIn({ name, nickname, preferred_username }: Claims): string | undefined {
  const names = [name, nickname, preferred_username].map(shortOf);
  return names.find((each) => v.is(DisplayName, each) && !each.includes('@'));
}

function emailIn({ email }: Claims): string | null {
  const { success, output } = v.safeParse(Email, textOf(email));
  if (success) return output;
  if (email) console.warn('The provider has an address of a person that no mail can be sent to');
  return null;
}

/** Valid claims fill a new profile. */
function toIdentity({ isWhole, ...claims }: Claims & { isWhole: boolean }): Identity {
  const { iss, sub } = claims;
  // OpenID Connect Core 1.0 section 2 allows at most 255 characters.
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) {
    throw invalidRequest('The identity provider did not say who you are');
  }
  const name = nameIn(claims);
  const email = emailIn(claims);
  // Our own provider asks for the public name. Another one has the name of a person.
  const isChosen = process.env.OIDC_LOCAL_URL !== undefined;
  return {
    issuer: String(iss),
    subject: sub,
    display_name: isChosen ? (name ?? null) : null,
    proposed_name: isChosen ? undefined : name,
    email: email === null && !isWhole ? undefined : email,
    // Only the boolean of the standard counts (OpenID Connect Core 1.0 section 5.1).
    email_verified: email !== null && claims.email_verified === true,
    musicdb_username: shortOf(claims.musicdb_username) || null,
  };
}
