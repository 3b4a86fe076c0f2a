import type { APIGatewayProxyEvent } from 'aws-lambda';
import { invalidRequest } from '../errors.ts';
import { isLoopback } from '../values.ts';
import { headerOf } from './form.ts';

/** {auth_url}: where the pages are, without a slash at the end; also the issuer of tokens (RFC 8414). */
export function authUrl(): string {
  const url = process.env.AUTH_URL;
  if (!url) throw new Error('AUTH_URL is not set');
  return url;
}

/** Refuses plain HTTP (spec section 5), but for an issuer on this very machine. Throws ApiError 400. */
export function requireHttps(event: APIGatewayProxyEvent): void {
  const isPlain = headerOf(event, 'x-forwarded-proto')?.toLowerCase() === 'http';
  if (isPlain && !isLoopback(new URL(authUrl())))
    throw invalidRequest('This endpoint is HTTPS only');
}
