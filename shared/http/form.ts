import type { APIGatewayProxyEvent } from 'aws-lambda';
import { invalidRequest, payloadTooLarge } from '../errors.ts';
import { readPairs } from './pairs.ts';
import { headerOf } from './request.ts';

/** In bytes. */
const largestForm = 64 * 1024;

/**
 * The fields of a form-encoded body. Throws ApiError 413 for more than 64 KB, 400 when it is not of that type or has a field twice (RFC
 * 6749 section 3.2).
 */
export function readForm(event: APIGatewayProxyEvent): Record<string, string> {
  const type = headerOf(event, 'content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) {
    throw invalidRequest(
      'The body must be sent as Content-Type: application/x-www-form-urlencoded',
    );
  }
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (body.length > largestForm) throw payloadTooLarge('A form may have at most 64 KB');
  const form = new Map<string, string>();
  for (const [name, value] of readPairs(body.toString())) {
    if (form.has(name)) throw invalidRequest(`${printable(name)} must be sent only once`);
    form.set(name, value);
  }
  return Object.fromEntries(form);
}

/** The name of a field, unless it could not stand in an error_description (RFC 6749 section 5.2). */
function printable(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : 'A field';
}
