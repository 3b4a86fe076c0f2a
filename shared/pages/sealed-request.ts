import * as v from 'valibot';
import { invalidRequest } from '../errors.ts';
import { RequestedGrant } from '../oauth/authorization-request.ts';
import { open, seal } from './sealed.ts';

/** Seconds that a person has to sign in. */
const lifetime = 1800;

/** An authorization request during a sign-in. It is not stored before the person is known. */
const SealedRequest = v.object({
  client_id: v.string(),
  state: v.nullable(v.string()),
  asked: RequestedGrant,
});
type SealedRequest = v.InferOutput<typeof SealedRequest>;

/**
 * Seals a request for `openRequest`. The result fits a cookie, even with a state of 2 KB in any
 * script.
 */
export function sealRequest({ state, ...request }: SealedRequest): Promise<string> {
  // JSON writes some characters with six bytes. Base64url compresses to the size of its content.
  const encoded = state === null ? null : Buffer.from(state).toString('base64url');
  return seal('request', { ...request, state: encoded }, lifetime);
}

/** Opens a sealed request. Throws ApiError 400 if the seal is invalid or has expired. */
export async function openRequest(sealed: string): Promise<SealedRequest> {
  const opened = await open('request', SealedRequest, sealed);
  if (!opened) throw invalidRequest('This request is too old: start again from the application');
  const { state, ...request } = opened.content;
  return { ...request, state: state && Buffer.from(state, 'base64url').toString() };
}
