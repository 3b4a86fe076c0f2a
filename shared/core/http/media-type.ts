import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiError, unsupportedMediaType } from '../../base/errors.ts';

/** Throws `otherwise` for a body of another type than `type`. */
export function requireMediaType(
  event: APIGatewayProxyEvent,
  type: string,
  otherwise: (message: string) => ApiError,
): void {
  const contentType = event.headers['content-type'] ?? '';
  if (contentType.split(';')[0]?.trim().toLowerCase() !== type) {
    throw otherwise(`The body must be sent as Content-Type: ${type}`);
  }
}

/** Throws ApiError 415 if the request names a charset other than UTF-8. */
export function requireUtf8(event: APIGatewayProxyEvent): void {
  if (isUtf8(event.headers['content-type'] ?? '')) return;
  throw unsupportedMediaType('The body must be sent as UTF-8, not in another charset');
}

/**
 * Returns true if a body that cannot be read was sent compressed. API Gateway decompresses gzip and
 * deflate, so a body that can be read may still have the header.
 */
export function isCompressed(event: APIGatewayProxyEvent): boolean {
  return (event.headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity';
}

/** 415 for a compressed body. */
export function compressedBody(): ApiError {
  return unsupportedMediaType('The body must be sent without Content-Encoding');
}

/** Returns true if a Content-Type names no charset other than UTF-8. */
export function isUtf8(contentType: string): boolean {
  const [, ...parameters] = contentType.toLowerCase().split(';');
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=').map((part) => part.trim());
    return name !== 'charset' || /^("utf-?8"|utf-?8)$/.test(value);
  });
}
