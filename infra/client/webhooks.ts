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
 * `whsec_…` of the webhook, or several while one is replaced. Throws InvalidSignature.
 * @example
 *   const message = await verify(request, process.env.WEBHOOK_SECRET);
 *   if (message.type === 'webhook.test') return new Response(message.data.challenge);
 */
export async function verify(
  request: Request | Received,
  secrets: string | readonly string[],
): Promise<Message> {
  const body = typeof request.body === 'string' ? request.body : await (request as Request).text();
  const id = headerOf(request, 'webhook-id');
  const time = headerOf(request, 'webhook-timestamp');
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= tolerance)) {
    throw new InvalidSignature('The message has no time, or another one than now');
  }
  const content = new TextEncoder().encode(`${id}.${time}.${body}`);
  const signatures = headerOf(request, 'webhook-signature')
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => bytesOf(each.slice(3)));
  for (const secret of [secrets].flat()) {
    const key = await crypto.subtle.importKey(
      'raw',
      bytesOf(secret.replace(/^whsec_/, '')),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return JSON.parse(body);
    }
  }
  throw new InvalidSignature('No signature of the message is of this secret');
}

function headerOf({ headers }: Request | Received, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return String(value ?? '');
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(1);
  }
}
