import type { APIGatewayProxyEvent } from 'aws-lambda';
import { invalidRequest, payloadTooLarge } from '../../base/errors.ts';
import { compressedBody, isCompressed, requireMediaType, requireUtf8 } from './media-type.ts';

/** In bytes. */
export const largestForm = 64 * 1024;

/** UTF-16 units of a long text that a browser lets a person type or paste. */
export const longestTyped = 20_000;

/** In bytes, with a long text. A unit takes nine at most, percent-encoded as UTF-8. */
export const largestLongForm = 9 * longestTyped + largestForm;

/**
 * Reads a form. Percent-encoded text is ASCII, whatever charset a client names (some name
 * ISO-8859-1). Throws ApiError 413 above `largest` bytes, 415 for other bytes in another charset
 * than UTF-8. Throws 400 for another type, invalid UTF-8 or a repeated field (RFC 6749 section
 * 3.2).
 */
export function readForm(
  event: APIGatewayProxyEvent,
  largest = largestForm,
): Record<string, string> {
  requireMediaType(event, 'application/x-www-form-urlencoded', invalidRequest);
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (body.length > largest) {
    throw payloadTooLarge(`A form may have at most ${Math.floor(largest / 1024)} KB`);
  }
  const encoded = body.toString();
  if (!/^[\0-\x7f]*$/.test(encoded)) {
    if (isCompressed(event)) throw compressedBody();
    requireUtf8(event);
  }
  if (!isDecodable(encoded)) throw invalidRequest('The form must be UTF-8, percent-encoded');
  return eachOnce(readPairs(encoded));
}

/** Returns the fields of a form. Throws ApiError 400 for a repeated one. */
function eachOnce(fields: readonly [name: string, value: string][]): Record<string, string> {
  const form = new Map<string, string>();
  for (const [name, value] of fields) {
    if (form.has(name)) throw invalidRequest(`${printable(name)} must be sent only once`);
    form.set(name, value);
  }
  return Object.fromEntries(form);
}

/** In bytes, of a file that a form has. */
export const largestFile = 4 * 1024 * 1024;

/** In bytes. An event of Lambda has 6 MB at most, with the escapes of its JSON. */
export const largestFileForm = 5 * 1024 * 1024;

/**
 * Reads a form with a file, as text in UTF-8. Other bytes become U+FFFD, as API Gateway does it.
 * Throws ApiError 400 for another type or a repeated field, and 413 for a larger form.
 */
export async function readFileForm(event: APIGatewayProxyEvent): Promise<Record<string, string>> {
  requireMediaType(event, 'multipart/form-data', invalidRequest);
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (body.length > largestFileForm) throw payloadTooLarge('A form may have at most 5 MB');
  const headers = { 'Content-Type': event.headers['content-type'] ?? '' };
  const sent = await new Response(body, { headers }).formData().catch(() => undefined);
  if (!sent) throw invalidRequest('The form must be multipart/form-data');
  const texts = Array.from(sent, async ([name, value]): Promise<[string, string]> => {
    return [name, typeof value === 'string' ? value : await value.text()];
  });
  return eachOnce(await Promise.all(texts));
}

/** Returns the field's name, or `A field` where RFC 6749 section 5.2 forbids its characters. */
const printable = (name: string) => (/^[\w.-]{1,64}$/.test(name) ? name : 'A field');

/** Returns true if all percent-encoded bytes are UTF-8. A lone percent sign stands for itself. */
function isDecodable(encoded: string): boolean {
  try {
    for (const [run] of encoded.matchAll(/(%[\da-f]{2})+/gi)) decodeURIComponent(run);
    return true;
  } catch {
    return false;
  }
}

/**
 * Decodes a query or form as URLSearchParams does. Node 24 takes quadratic time for names without
 * `=`, so each gets one.
 */
export function readPairs(encoded: string): [string, string][] {
  return [...new URLSearchParams(encoded.replace(/(?<=^|&)[^&=]+(?=&|$)/g, '$&='))];
}
