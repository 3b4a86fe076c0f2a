// Tries the identity provider as a sign-in does, without a person.
import * as client from 'openid-client';
import { authUrl } from '../../base/auth-url.ts';
import { describeError } from '../../base/describe-error.ts';
import { discoverProvider, watchAnswers } from './identity-provider.ts';

/** A setting that fails every sign-in. The message is a sentence for the operator. */
export class ProviderFault extends Error {}

/** Seconds between two clocks. Libraries tolerate 30, and a token lives for minutes. */
const longestLead = 60;

/**
 * Asks the provider for its addresses, and sends it a code that it never gave. Throws
 * `ProviderFault` if its issuer, the client's credentials or a clock are wrong, and another Error
 * with a sentence if it does not answer as a provider.
 */
export async function checkProvider(): Promise<void> {
  const { OIDC_ISSUER: issuer = '', OIDC_CLIENT_ID: id } = process.env;
  const provider = await discoverProvider().catch((error) => {
    throw faultOf(error, issuer);
  });
  let date: string | null = null;
  watchAnswers(provider, (response) => {
    date = response.headers.get('date');
  });
  const answer = { code: 'check', state: 'check', iss: provider.serverMetadata().issuer };
  const current = new URL(`${authUrl()}/account/callback?${new URLSearchParams(answer)}`);
  const checks = { expectedState: 'check', pkceCodeVerifier: client.randomPKCECodeVerifier() };
  try {
    await client.authorizationCodeGrant(provider, current, checks);
  } catch (error) {
    if (isRefusal(error)) {
      throw new ProviderFault(
        `${issuer} refuses OIDC_CLIENT_ID ${id} with its OIDC_CLIENT_SECRET: compare both with the client there`,
      );
    }
    // Any other word on the code means that the client is known.
    if (!(error instanceof client.ResponseBodyError)) throw faultOf(error as Error, issuer);
  }
  const lead = date === null ? 0 : Math.round((Date.parse(date) - Date.now()) / 1000);
  if (Math.abs(lead) <= longestLead) return;
  throw new ProviderFault(
    `the clock of ${issuer} is ${Math.abs(lead)} seconds ${lead < 0 ? 'behind' : 'ahead of'} this one: set the wrong one`,
  );
}

/** Errors of the token endpoint about the client itself (RFC 6749 section 5.2). */
function isRefusal(error: unknown): boolean {
  if (error instanceof client.WWWAuthenticateChallengeError) return true;
  const refusals = ['invalid_client', 'unauthorized_client'];
  return error instanceof client.ResponseBodyError && refusals.includes(error.error);
}

/** Says what is wrong with an answer of the provider, with both values. */
function faultOf(error: Error & { cause?: unknown }, issuer: string): Error {
  const cause = error.cause as {
    attribute?: string;
    body?: { issuer?: string };
    status?: number;
    code?: string;
  };
  if (cause?.attribute === 'issuer') {
    return new ProviderFault(
      `OIDC_ISSUER is ${issuer}, and the provider there calls itself ${cause.body?.issuer}: set OIDC_ISSUER to that`,
    );
  }
  if (error instanceof TypeError && !issuer) return new ProviderFault('OIDC_ISSUER is not a URL');
  const status = cause instanceof Response ? `status ${cause.status}` : undefined;
  const { code, message } = describeError(cause instanceof Error ? cause : error);
  const why = status ?? code ?? message;
  return new Error(
    `no OpenID Connect provider answers at OIDC_ISSUER ${issuer} (${why})${certificateHint(`${why}`)}`,
  );
}

function certificateHint(code: string): string {
  const isAboutTrust = /CERT|SIGNATURE|ISSUER/.test(code);
  return isAboutTrust
    ? ': its certificate is not trusted here. Name the file of its authority in NODE_EXTRA_CA_CERTS'
    : '';
}
