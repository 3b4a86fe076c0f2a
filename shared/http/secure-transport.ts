import type { APIGatewayProxyEvent } from 'aws-lambda';
import { authUrl } from '../auth-url.ts';
import { invalidRequest } from '../errors.ts';
import { isLoopback } from '../values.ts';
import { headerOf } from './request.ts';

/**
 * Throws ApiError 400 for plain HTTP (RFC 6749 sections 3.1 and 3.2), unless the issuer is on this
 * machine.
 */
export function requireHttps(event: APIGatewayProxyEvent): void {
  const isPlain = headerOf(event, 'x-forwarded-proto')?.toLowerCase() === 'http';
  if (isPlain && !isLoopback(new URL(authUrl())))
    throw invalidRequest('This endpoint is HTTPS only');
}
