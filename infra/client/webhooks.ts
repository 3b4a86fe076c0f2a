import type { Message } from './types.ts';

export type { Message };

/** The message was not sent by the service, is too old, or has been changed. Answer 401. */
export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature';
}

/** Seconds by which the clocks may differ. */
const tolerance = 300;

/** A request as a server has it: of Fetch, of Node.js, or of a function. */
export interface Received {
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The body as it was sent, before it is parsed. */
  body: string;
}

/**
 * Returns the message of a request, after its signature (Standard Webhooks 1.0.0). `secrets` is the
 * `whsec_…` of the webhook, or several while one is replaced. Throws InvalidSignature for a message
 * that is not of the service, and TypeError for a secret that is none.
 * @example
 *   const message = await verify(request, process.env.WEBHOOK_SECRET);
 *   if (message.type === 'webhook.test') return new Response(message.data.challenge);
 */
export async function verify(
  request: Request | Received,
  secrets: string | readonly string[],
): Promise<Message> {
  const [first = '', ...others] = [secrets].flat();
  const keys = await Promise.all([first, ...others].map(keyOf));
  const { body: sent } = request;
  const body = typeof sent === 'string' ? sent : await (request as Request).text();
  const id = headerOf(request, 'webhook-id');
  const time = headerOf(request, 'webhook-timestamp');
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= tolerance)) {
    throw new InvalidSignature('The message has no time, or another one than now');
  }
  const content = new TextEncoder().encode(`${id}.${time}.${body}`);
  for (const each of headerOf(request, 'webhook-signature').split(' ')) {
    const signature = each.startsWith('v1,') && bytesOf(each.slice(3));
    if (!signature) continue;
    for (const key of keys) {
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return JSON.parse(body);
    }
  }
  throw new InvalidSignature('No signature of the message is of this secret');
}

/** Bytes of the shortest key that Standard Webhooks allows. */
const shortestKey = 24;

/** Returns the key of a secret. A mistake here would let everybody sign, so it is never ignored. */
function keyOf(secret: string) {
  const bytes = bytesOf(`${secret}`.replace(/^whsec_/, ''));
  if (!bytes || bytes.length < shortestKey) {
    throw new TypeError(
      'This is not the secret of a webhook: copy “whsec_” and all that follows from its page',
    );
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
}

/** Returns a header, whose name the sender may have written in any case. */
function headerOf({ headers }: Request | Received, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const [, value = ''] =
    Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return String(value);
}

/** Returns undefined for what is not Base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
