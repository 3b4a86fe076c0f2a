// Builds the responses of endpoints: JSON, public answers with an ETag, and errors.
import { hash } from 'node:crypto';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { isHttps } from '../../base/auth-url.ts';
import { describeError } from '../../base/describe-error.ts';
import { ApiError, diskFull, serviceUnavailable, TableBusy } from '../../base/errors.ts';
import { countUnavailable } from '../../base/metric.ts';
import { currentOperation } from '../../base/operation.ts';
import { use } from '../../base/table/budget.ts';
import { isDiskFull, noteWrite } from '../../base/table/full-disk.ts';
import { codingFor } from './content-coding.ts';
import { parseEntityTags } from './entity-tags.ts';
import { listHeaderOf } from './read-request.ts';
import { loggedIds, type RequestIds } from './request-ids.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** Headers of every response, also of errors and API Gateway itself. Any origin may read it. */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Link, WWW-Authenticate, Retry-After, Idempotent-Replayed, RateLimit, RateLimit-Policy, x-amzn-RequestId, x-amz-apigw-id',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** Makes browsers use HTTPS alone, for a year (RFC 6797). Sent by every response over HTTPS. */
export const strictTransport = { 'Strict-Transport-Security': 'max-age=31536000' } as const;

/** Returns `strictTransport`, or nothing if the service is reached by plain HTTP. */
export function transportHeaders(): Partial<typeof strictTransport> {
  return isHttps() ? strictTransport : {};
}

/** Headers of the response to a CORS preflight, on every path. */
export const preflightHeaders = {
  'Access-Control-Allow-Origin': '*',
  // Libraries and tracing add the last three by themselves.
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Requested-With, traceparent, tracestate',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Max-Age': '86400',
} as const;

/** Makes a JSON response, which no cache may store unless `headers` say so. */
export function json(
  statusCode: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  return written(statusCode, JSON.stringify(body), headers);
}

/** Makes a response with a body that is text already, of JSON unless `headers` say otherwise. */
function written(statusCode: number, body: string, headers: Readonly<Record<string, string>>) {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...commonHeaders,
      ...transportHeaders(),
      ...headers,
    },
    body,
  };
}

interface AnswerOptions {
  headers?: Readonly<Record<string, string>>;
  /** The part of the ETag that If-Match compares: all that the owner can change. */
  revisionTag?: string;
  /** Media type of a text body, if it is not JSON. */
  type?: string | undefined;
}

/** A result with more than a body. */
export class Answer {
  readonly body: unknown;
  readonly options: AnswerOptions;

  constructor(body: unknown, options: AnswerOptions = {}) {
    this.body = body;
    this.options = options;
  }
}

/**
 * Builds the response to a public GET, with a strong ETag, `"<revision tag>.<hash>"` or `"<hash>"`.
 * A coding is added, for example `-gzip`. A client that has the ETag gets 304. By default, caches
 * revalidate each time.
 */
export function publicAnswer(
  { body, options: { headers, revisionTag, type } }: Answer,
  event: APIGatewayProxyEvent,
): APIGatewayProxyResult {
  const isJson = type === undefined;
  const response = written(200, isJson ? JSON.stringify(body) : `${body}`, {
    'Cache-Control': `public, no-cache, ${neverStale}`,
    // API Gateway compresses responses, but does not tell caches.
    Vary: 'Accept-Encoding',
    ...headers,
    ...(!isJson && { 'Content-Type': type }),
  });
  use({ answer: Buffer.byteLength(response.body) });
  const revision = revisionTag === undefined ? '' : `${revisionTag}.`;
  const digest = hash('sha256', response.body, 'base64url').slice(0, 22);
  // An ETag names one sequence of bytes, so each coding has its own (RFC 9110 section 8.8.3.3).
  const coding = codingFor(listHeaderOf(event, 'accept-encoding'));
  const ETag = `"${revision}${digest}${coding ? `-${coding}` : ''}"`;
  if (!isTagKnown(ETag, listHeaderOf(event, 'if-none-match'))) {
    return { ...response, headers: { ...response.headers, ETag } };
  }
  const { 'Content-Type': _, ...rest } = response.headers;
  return { statusCode: 304, headers: { ...rest, ETag }, body: '' };
}

/** Returns true if a header If-None-Match names the ETag, or any (RFC 9110 section 13.1.2). */
export function isTagKnown(ETag: string, ifNoneMatch: string | undefined): boolean {
  const tags = parseEntityTags(ifNoneMatch ?? '') ?? [];
  return tags === '*' || tags.some((tag) => tag.replace(/^W\//, '') === ETag);
}

/** Removes the body for HEAD. The first middleware runs last. */
export function headResponse(): Http {
  const removeBody: Http['after'] = (request) => {
    if (request.event.httpMethod !== 'HEAD' || !request.response) return;
    request.response = { ...request.response, body: '' };
  };
  return { after: removeBody, onError: removeBody };
}

/**
 * Turns errors into `{error, description}`, from status 500 on with `request_id`. OAuth endpoints
 * use `error_description` (RFC 6749 section 5.2).
 */
export function errorResponse(
  description: 'description' | 'error_description' = 'description',
): Http {
  return {
    onError(request) {
      const ids = request.event.requestContext;
      const { status, code, message, headers } = toApiError(request.error, ids);
      const request_id = status < 500 ? undefined : ids.requestId;
      request.response = json(status, { error: code, [description]: message, request_id }, headers);
    },
  };
}

/** Returns the error to show. Logs errors other than ApiError, once. */
export function toApiError(error: unknown, ids: RequestIds): ApiError {
  if (error instanceof ApiError) return error;
  const operation = currentOperation()?.name;
  const described = describeError(error);
  console.error({ message: 'Request failed', operation, ...loggedIds(ids), error: described });
  if (isDiskFull(error)) {
    noteWrite(error);
    return diskFull();
  }
  if (isTransient(error)) {
    countUnavailable();
    return serviceUnavailable();
  }
  return new ApiError(
    500,
    'server_error',
    'The request could not be processed; please report the request_id',
  );
}

/** Returns true if DynamoDB was busy or unreachable, even after the SDK's retries. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof TableBusy ||
    // Every SDK error has the field, but only transient errors a value in it.
    ('$retryable' in error && error.$retryable !== undefined) ||
    /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded|Timeout|ECONN|EPIPE|InternalServerError|ServiceUnavailable/.test(
      `${error.name} ${'code' in error ? error.code : ''}`,
    )
  );
}

/**
 * Keeps caches from an expired response when the service fails (RFC 5861 section 4). CloudFront
 * would otherwise serve one of any age, and show reviews that are hidden or deleted since.
 */
const neverStale = 'stale-if-error=0';

/** Cache-Control of lists: a CDN may reuse a response for 10 seconds. */
export const brieflyShared = `public, max-age=0, s-maxage=10, ${neverStale}`;

export const processed = { message: 'Request processed successfully' } as const;
