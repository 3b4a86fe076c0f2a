import type { APIGatewayProxyEvent } from 'aws-lambda';
import { invalidRequest, payloadTooLarge } from '../errors.ts';
import { requireMediaType, requireUtf8 } from './media-type.ts';
import { readPairs } from './pairs.ts';

/** In bytes. */
export const largestForm = 64 * 1024;

/**
 * The fields of a form-encoded body. Percent-encoded it is ASCII, whatever charset a client says: some say ISO-8859-1. Throws ApiError 413
 * for more than 64 KB, 415 for other bytes in another charset than UTF-8, 400 when it is not of that type, does not decode to UTF-8 or has
 * a field twice (RFC 6749 section 3.2).
 */
export function readForm(event: APIGatewayProxyEvent): Record<string, string> {
  requireMediaType(event, 'application/x-www-form-urlencoded', invalidRequest);
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (body.length > largestForm) throw payloadTooLarge('A form may have at most 64 KB');
  const encoded = body.toString();
  if (!/^[\0-\x7f]*$/.test(encoded)) requireUtf8(event);
  if (!isDecodable(encoded)) throw invalidRequest('The form must be UTF-8, percent-encoded');
  const form = new Map<string, string>();
  for (const [name, value] of readPairs(encoded)) {
    if (form.has(name)) throw invalidRequest(`${printable(name)} must be sent only once`);
    form.set(name, value);
  }
  return Object.fromEntries(form);
}

/** The name of a field, unless it could not stand in an error_description (RFC 6749 section 5.2). */
function printable(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : 'A field';
}

/** Whether all that is percent-encoded is UTF-8. A percent sign that encodes nothing stands for itself. */
function isDecodable(encoded: string): boolean {
  try {
    for (const [run] of encoded.matchAll(/(%[\da-f]{2})+/gi)) decodeURIComponent(run);
    return true;
  } catch {
    return false;
  }
}
