import type { APIGatewayProxyEvent } from 'aws-lambda';
import { invalidRequest } from '../errors.ts';
import { headerOf } from './request.ts';

/**
 * The fields of a form-encoded body. Throws ApiError 400 when it is not of that type, or has a field twice (RFC 6749 section 3.2).
 */
export function readForm(event: APIGatewayProxyEvent): Record<string, string> {
  const type = headerOf(event, 'content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) {
    throw invalidRequest(
      'The body must be sent as Content-Type: application/x-www-form-urlencoded',
    );
  }
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8').toString();
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body)) {
    if (form.has(name)) throw invalidRequest(`${nameOf(name)} must be sent only once`);
    form.set(name, value);
  }
  return Object.fromEntries(form);
}

/** Names that an error may tell: what else is sent may hold any characters, and RFC 6749 section 5.2 allows few. */
const known: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'csrf',
  'grant_type',
  'redirect_uri',
  'refresh_token',
  'scope',
  'token',
  'token_type_hint',
]);

function nameOf(field: string): string {
  return known.has(field) ? field : 'Each parameter';
}
