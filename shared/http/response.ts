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
  headers: Record<string, string> = {},
): APIGatewayProxyResult {
  return {
    statusCode,
    headers: { 'Content-Type': 'application/json', ...commonHeaders, ...headers },
    body: JSON.stringify(body),
  };
}
