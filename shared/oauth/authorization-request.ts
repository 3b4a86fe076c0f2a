import * as v from 'valibot';
import { scopes } from '../routes.ts';
import { parseScopes } from './scopes.ts';

/** An authorization request that is in order, as it waits in the table for its user's answer. */
export const AuthorizationRequest = v.object({
  client_id: v.string(),
  /** Of the application, as the user is shown it. */
  name: v.string(),
  redirect_uri: v.string(),
  scopes: v.array(v.picklist(scopes)),
  /** Null when it was not sent; an empty one comes back empty. */
  state: v.nullable(v.string()),
  /** The S256 challenge of RFC 7636, if one was sent. */
  code_challenge: v.nullable(v.string()),
});
export type AuthorizationRequest = v.InferOutput<typeof AuthorizationRequest>;

/** An answer that the client gets by redirect, RFC 6749 section 4.1.2.1. */
export const AuthorizationError = v.object({
  error: v.picklist([
    'invalid_request',
    'unsupported_response_type',
    'invalid_scope',
    'access_denied',
    'request_not_supported',
    'request_uri_not_supported',
  ]),
  error_description: v.optional(v.string()),
});
export type AuthorizationError = v.InferOutput<typeof AuthorizationError>;

/** What a client asks for, or the error that it shall hear. */
export const Asked = v.union([
  v.pick(AuthorizationRequest, ['scopes', 'code_challenge']),
  AuthorizationError,
]);
export type Asked = v.InferOutput<typeof Asked>;

/** In bytes of UTF-8. */
const mostState = 2048;

/** The parameters that we read; a parameter has one value or the request is at fault. */
type Parameters = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Checks what may be told to the client, once client and redirect URI are known good (RFC 6749 section 4.1.1,
 * RFC 7636 section 4.3, OpenID Connect Core section 6 for the parameters of a signed request).
 */
export function readAuthorizationRequest(parameters: Parameters): Asked {
  for (const name of [
    'response_type',
    'response_mode',
    'scope',
    'state',
    'code_challenge',
    'code_challenge_method',
    'request',
    'request_uri',
  ]) {
    if ((parameters[name]?.length ?? 0) > 1) return invalid(`${name} must be sent only once`);
  }
  const one = (name: string) => parameters[name]?.[0];
  for (const name of ['request', 'request_uri'] as const) {
    if (one(name)) {
      return { error: `${name}_not_supported`, error_description: `${name} is not supported` };
    }
  }
  if (one('state') !== undefined && stateOf(parameters) === null) {
    return invalid(`state must have at most ${mostState} bytes of UTF-8`);
  }
  if ((one('response_mode') || 'query') !== 'query') return invalid('response_mode must be query');
  const response_type = one('response_type');
  if (!response_type) return invalid('response_type is required');
  if (response_type !== 'code') {
    return { error: 'unsupported_response_type', error_description: 'response_type must be code' };
  }
  const scopes = parseScopes(one('scope') ?? '');
  if (!scopes) {
    return { error: 'invalid_scope', error_description: 'scope may hold review, vote and user' };
  }
  const code_challenge = one('code_challenge') ?? null;
  const method = one('code_challenge_method');
  if (code_challenge === null && method !== undefined) return invalid('code_challenge is required');
  if (code_challenge !== null) {
    if (method !== 'S256') return invalid('code_challenge_method must be S256');
    if (!/^[\w-]{43}$/.test(code_challenge)) {
      return invalid('code_challenge must be 43 characters of base64url');
    }
  }
  return { scopes, code_challenge };
}

/** The state that comes back, with an error too: null when none was sent, or none that can be kept. */
export function stateOf({ state = [] }: Parameters): string | null {
  const [sent] = state;
  if (sent === undefined || state.length > 1 || Buffer.byteLength(sent) > mostState) return null;
  return sent;
}

/**
 * Where the user is sent with the answer: the registered URI, whose own query stays, and the parameters; `state` only when it was
 * sent, and `iss` against mix-up (RFC 9207).
 */
export function answerUri(
  redirectUri: string,
  state: string | null,
  issuer: string,
  answer: { code: string } | AuthorizationError,
): string {
  const parameters = new URLSearchParams({ ...answer });
  if (state !== null) parameters.set('state', state);
  parameters.set('iss', issuer);
  // By hand, because URL would also normalise what the client registered; and a space as every decoder knows it.
  const query = parameters.toString().replaceAll('+', '%20');
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

function invalid(error_description: string): AuthorizationError {
  return { error: 'invalid_request', error_description };
}
