import { hash } from 'node:crypto';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { parseEntityTags } from './entity-tags.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** The headers of every response, errors and those of API Gateway itself included: whatever the origin, it may be read, and nothing may sniff it. */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Link, WWW-Authenticate, Retry-After, Idempotent-Replayed, RateLimit, RateLimit-Policy',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** The answer to a CORS preflight, on every path. */
export const preflightHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key',
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

/** What a handler returns where there is more to say than a body. */
export class Answer {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** The part of the entity tag that If-Match compares: while it is the same, so is all that its owner can change. */
  readonly revisionTag: string | undefined;
  /** The media type of a body that is a text and no JSON. */
  readonly type: string | undefined;

  constructor(
    body: unknown,
    {
      headers = {},
      revisionTag,
      type,
    }: Partial<Pick<Answer, 'headers' | 'revisionTag' | 'type'>> = {},
  ) {
    this.body = body;
    this.headers = headers;
    this.revisionTag = revisionTag;
    this.type = type;
  }
}

/**
 * The response to a GET that anybody may send, with a strong ETag: `"<revision tag>.<hash>"` or `"<hash>"`. A client or cache that has the
 * same already gets 304 without a body. Unless the endpoint says otherwise, caches keep it but ask every time.
 */
export function publicAnswer(
  { body, headers, revisionTag, type }: Answer,
  ifNoneMatch: string | undefined,
): APIGatewayProxyResult {
  const inJson = json(200, body, {
    'Cache-Control': 'public, no-cache',
    // API Gateway compresses, but does not say so to caches.
    Vary: 'Accept-Encoding',
    ...headers,
  });
  const response =
    type === undefined
      ? inJson
      : { ...inJson, headers: { ...inJson.headers, 'Content-Type': type }, body: `${body}` };
  const digest = hash('sha256', response.body, 'base64url').slice(0, 22);
  const ETag = `"${revisionTag === undefined ? '' : `${revisionTag}.`}${digest}"`;
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

/** The Cache-Control of lists: a CDN may answer from what it got in the last ten seconds, everybody else asks. */
export const brieflyShared = 'public, max-age=0, s-maxage=10';

/** The body of an answer that has nothing more to say. */
export const processed = { message: 'Request processed successfully' } as const;
