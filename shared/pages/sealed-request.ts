import * as v from 'valibot';
import { invalidRequest } from '../errors.ts';
import { Asked } from '../oauth/authorization-request.ts';
import { open, seal } from './sealed.ts';

/** Seconds that a person has to sign in. */
const lifetime = 1800;

/** An authorization request on its way through a sign-in. Nothing of it is stored before we know who is asked. */
const SealedRequest = v.object({
  client_id: v.string(),
  state: v.nullable(v.string()),
  asked: Asked,
});
type SealedRequest = v.InferOutput<typeof SealedRequest>;

/** Seals a request, for `openRequest` to read. With a state of 2 KB, whatever its characters, it still fits a cookie. */
export function sealRequest({ state, ...request }: SealedRequest): Promise<string> {
  // JSON writes some characters with six bytes. Base64url is compressed to what it stands for.
  const encoded = state === null ? null : Buffer.from(state).toString('base64url');
  return seal('request', { ...request, state: encoded }, lifetime);
}

/** The request that was sealed. Throws ApiError 400 when we have not sealed it, or too long ago. */
export async function openRequest(sealed: string): Promise<SealedRequest> {
  const opened = await open('request', SealedRequest, sealed);
  if (!opened) throw invalidRequest('This request is too old: start again from the application');
  const { state, ...request } = opened.content;
  return { ...request, state: state && Buffer.from(state, 'base64url').toString() };
}
