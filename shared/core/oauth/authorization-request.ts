// Reads a client's authorization request, and builds the address that takes the answer back.
import * as v from 'valibot';
import { scopes } from '../../base/routes.ts';
import { parseScopes } from './scopes.ts';

/** A valid authorization request, as stored until it is answered. */
export const AuthorizationRequest = v.object({
  client_id: v.string(),
  /** Name of the application, as shown. */
  name: v.string(),
  redirect_uri: v.string(),
  scopes: v.array(v.picklist(scopes)),
  /** Null if none was sent; an empty one is returned empty. */
  state: v.nullable(v.string()),
  /** The S256 challenge (RFC 7636), if one was sent. */
  code_challenge: v.nullable(v.string()),
});
export type AuthorizationRequest = v.InferOutput<typeof AuthorizationRequest>;

/** An error that the client gets by redirect (RFC 6749 section 4.1.2.1). */
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

/** The client's request, or the error for the client. */
export const RequestedGrant = v.union([
  v.pick(AuthorizationRequest, ['scopes', 'code_challenge']),
  AuthorizationError,
]);
export type RequestedGrant = v.InferOutput<typeof RequestedGrant>;

/** The longest `state`, in bytes of UTF-8. */
export const mostState = 2048;

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

/**
 * Validates a request of a valid client and redirect URI, so errors may go to the client (RFC 6749
 * section 4.1.1, RFC 7636 section 4.3). OpenID Connect Core section 6 defines signed requests. A
 * public client must use PKCE (RFC 9700 section 2.1.1).
 */
export function readAuthorizationRequest(
  parameters: Parameters,
  isPublicClient: boolean,
): RequestedGrant {
  const repeated = names.find((name) => (parameters[name]?.length ?? 0) > 1);
  if (repeated) return invalid(`${repeated} must be sent only once`);
  const values: Partial<Record<(typeof names)[number], string>> = Object.fromEntries(
    names.map((name) => [name, parameters[name]?.[0]]),
  );
  const { request, request_uri, state = '', response_mode, response_type, scope = '' } = values;
  if (request) return failed('request_not_supported', 'request is not supported');
  if (request_uri) return failed('request_uri_not_supported', 'request_uri is not supported');
  if (isTooLong(state)) return invalid(`state must have at most ${mostState} bytes of UTF-8`);
  if ((response_mode || 'query') !== 'query') return invalid('response_mode must be query');
  if (!response_type) return invalid('response_type is required');
  if (response_type !== 'code') {
    return failed('unsupported_response_type', 'response_type must be code');
  }
  const scopes = parseScopes(scope);
  if (!scopes) return failed('invalid_scope', 'scope may hold review, vote and user');
  const { code_challenge, code_challenge_method: method } = values;
  if (code_challenge === undefined) {
    if (isPublicClient) {
      return invalid('code_challenge is required, because the application has no secret');
    }
    if (method !== undefined) return invalid('code_challenge is required');
    return { scopes, code_challenge: null };
  }
  if (method !== 'S256') return invalid('code_challenge_method must be S256');
  if (/^[\w-]{43}$/.test(code_challenge)) return { scopes, code_challenge };
  return invalid('code_challenge must be 43 characters of base64url');
}

function failed(error: AuthorizationError['error'], error_description: string): AuthorizationError {
  return { error, error_description };
}

const invalid = (description: string) => failed('invalid_request', description);
const isTooLong = (state: string) => Buffer.byteLength(state) > mostState;

/** Returns the state to send back, also with an error. Null if none, repeated or too long. */
export function stateOf({ state = [] }: Parameters): string | null {
  const [value] = state;
  if (value === undefined || state.length > 1 || isTooLong(value)) return null;
  return value;
}

/** Returns the URL that takes the answer to the client. `iss` prevents mix-up (RFC 9207). */
export function answerUri(
  redirectUri: string,
  state: string | null,
  issuer: string,
  answer: { code: string } | AuthorizationError,
): string {
  const parameters = new URLSearchParams({ ...answer });
  if (state !== null) parameters.set('state', state);
  parameters.set('iss', issuer);
  // URL would normalise the registered URI. `%20` because every decoder reads it as a space.
  const query = parameters.toString().replaceAll('+', '%20');
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}
