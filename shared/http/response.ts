import type { APIGatewayProxyResult } from 'aws-lambda';

/** On every response, errors and those of API Gateway itself included: any origin may read it, nothing may sniff it. */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** The answer to a CORS preflight, on every path. */
export const preflightHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Max-Age': '86400',
} as const;

/** A JSON response of the Lambda proxy integration. */
export function json(
  statusCode: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...commonHeaders,
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** The body of an answer that has nothing more to say (decisions.md). */
export const processed = { message: 'Request processed successfully' } as const;
