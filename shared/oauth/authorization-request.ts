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

/** The longest `state`, in bytes of UTF-8. */
export const mostState = 2048;

type Fault = AuthorizationError | undefined;

/** All values of each parameter that was sent. */
type Parameters = Readonly<Record<string, readonly string[] | undefined>>;

const names = [
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
] as const;

/** The parameters that we read, each by its only value. */
type Sent = Readonly<Partial<Record<(typeof names)[number], string>>>;

/**
 * Checks what may be told to the client, once client and redirect URI are known good (RFC 6749 section 4.1.1,
 * RFC 7636 section 4.3, OpenID Connect Core section 6 for the parameters of a signed request).
 */
export function readAuthorizationRequest(parameters: Parameters): Asked {
  const sent: Sent = Object.fromEntries(names.map((name) => [name, parameters[name]?.[0]]));
  const fault =
    refuseRepeated(parameters) ??
    refuseSignedRequest(sent) ??
    checkState(sent) ??
    checkResponse(sent);
  if (fault) return fault;
  const { scope = '', code_challenge = null } = sent;
  const scopes = parseScopes(scope);
  if (!scopes) return failed('invalid_scope', 'scope may hold review, vote and user');
  return checkCodeChallenge(sent) ?? { scopes, code_challenge };
}

function failed(error: AuthorizationError['error'], error_description: string): AuthorizationError {
  return { error, error_description };
}

function invalid(error_description: string): AuthorizationError {
  return failed('invalid_request', error_description);
}

function refuseRepeated(parameters: Parameters): Fault {
  const repeated = names.find((name) => (parameters[name]?.length ?? 0) > 1);
  return repeated && invalid(`${repeated} must be sent only once`);
}

function refuseSignedRequest({ request, request_uri }: Sent): Fault {
  if (request) return failed('request_not_supported', 'request is not supported');
  if (request_uri) return failed('request_uri_not_supported', 'request_uri is not supported');
}

function checkState({ state = '' }: Sent): Fault {
  if (isTooLong(state)) return invalid(`state must have at most ${mostState} bytes of UTF-8`);
}

function checkResponse({ response_mode, response_type }: Sent): Fault {
  if ((response_mode || 'query') !== 'query') return invalid('response_mode must be query');
  if (!response_type) return invalid('response_type is required');
  if (response_type === 'code') return undefined;
  return failed('unsupported_response_type', 'response_type must be code');
}

function checkCodeChallenge({ code_challenge, code_challenge_method: method }: Sent): Fault {
  if (code_challenge === undefined) {
    return method === undefined ? undefined : invalid('code_challenge is required');
  }
  if (method !== 'S256') return invalid('code_challenge_method must be S256');
  if (/^[\w-]{43}$/.test(code_challenge)) return undefined;
  return invalid('code_challenge must be 43 characters of base64url');
}

const isTooLong = (state: string) => Buffer.byteLength(state) > mostState;

/** The state that comes back, with an error too: null when none was sent, or none that can be kept. */
export function stateOf({ state = [] }: Parameters): string | null {
  const [sent] = state;
  return sent === undefined || state.length > 1 || isTooLong(sent) ? null : sent;
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
