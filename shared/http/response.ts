import { hash } from 'node:crypto';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { parseEntityTags } from './entity-tags.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** On every response, errors and those of API Gateway itself included: any origin may read it, nothing may sniff it. */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Link, WWW-Authenticate, Retry-After',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** The answer to a CORS preflight, on every path. */
export const preflightHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, If-None-Match',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Max-Age': '86400',
} as const;

/** A JSON response of the Lambda proxy integration. */
export function json(
  statusCode: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
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

/** What an endpoint may say of its answer, beside the body: see `withHeaders`. */
export interface AnswerOptions {
  headers?: Readonly<Record<string, string>>;
  /** What a client may hold a change to (If-Match): of two answers with the same edition, what can be changed is the same. */
  edition?: string;
}

const options = Symbol('options');

/** A body with headers of its own. */
export function withHeaders<T extends object>(body: T, answer: AnswerOptions): T {
  return { ...body, [options]: answer };
}

/** The options that a body was given. */
export function optionsOf(body: unknown): AnswerOptions {
  return (body as Record<symbol, AnswerOptions> | undefined)?.[options] ?? {};
}

/**
 * The answer to a GET that anybody may send: with a strong ETag, and without a body (304) for a client or cache that has the same
 * already. Unless the endpoint says otherwise, caches keep it but ask every time. The ETag is `"<edition>.<hash>"` or `"<hash>"`.
 */
export function publicJson(body: unknown, ifNoneMatch: string | undefined): APIGatewayProxyResult {
  const { headers, edition } = optionsOf(body);
  const response = json(200, body, {
    'Cache-Control': 'public, no-cache',
    // API Gateway compresses, but does not say so to caches.
    Vary: 'Accept-Encoding',
    ...headers,
  });
  const digest = hash('sha256', response.body, 'base64url').slice(0, 22);
  const ETag = `"${edition === undefined ? '' : `${edition}.`}${digest}"`;
  const known = parseEntityTags(ifNoneMatch ?? '') ?? [];
  const isKnown = known === '*' || known.some((tag) => tag.replace(/^W\//, '') === ETag);
  if (!isKnown) return { ...response, headers: { ...response.headers, ETag } };
  const { 'Content-Type': _, ...kept } = response.headers;
  return { statusCode: 304, headers: { ...kept, ETag }, body: '' };
}

/** Leaves the body out of the answer to HEAD. It is used first, and so comes last. */
export function headResponse(): Http {
  const leaveOut: Http['after'] = (request) => {
    if (request.event.httpMethod !== 'HEAD' || !request.response) return;
    request.response = { ...request.response, body: '' };
  };
  return { after: leaveOut, onError: leaveOut };
}

/** For lists: a CDN may answer from what it got in the last ten seconds, everybody else asks. */
export const brieflyShared = 'public, max-age=0, s-maxage=10';

/** The body of an answer that has nothing more to say (decisions.md). */
export const processed = { message: 'Request processed successfully' } as const;
