// Takes from an event the parts of a request that a schema names, and validates them.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { authUrl } from '../../base/auth-url.ts';
import {
  type ApiError,
  invalidRequest,
  notAuthorized,
  notFound,
  queryTooLong,
} from '../../base/errors.ts';
import { isLoopback } from '../../base/values.ts';
import { databaseTypes } from '../entity/databases.ts';

export interface RequestParts {
  method: string;
  caller: unknown;
  path: Record<string, string | undefined>;
  /** All values. A schema gets the last; `readRequest` refuses repetitions of what it names. */
  query: Record<string, readonly string[] | undefined>;
  /** The query, encoded as briefly as possible: API Gateway does not pass on the original. */
  query_string: string;
  if_match: string | undefined;
  idempotency_key: string | undefined;
  body: unknown;
}

export type RequestSchema = v.GenericSchema & {
  entries: Partial<Record<keyof RequestParts, v.GenericSchema>>;
};

/** Returns a list header by its name in lower case, lines joined (RFC 9110 section 5.3). */
export function listHeaderOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  return event.multiValueHeaders[name]?.join(', ');
}

/** Takes the parts of an event that schemas read. Names of headers are in lower case. */
export function partsOf(event: APIGatewayProxyEvent): RequestParts {
  const query = event.multiValueQueryStringParameters ?? {};
  return {
    method: event.httpMethod,
    caller: event.requestContext.authorizer,
    path: event.pathParameters ?? {},
    query,
    query_string: queryString(query),
    if_match: listHeaderOf(event, 'if-match'),
    idempotency_key: listHeaderOf(event, 'idempotency-key'),
    body: event.body,
  };
}

/**
 * Validates the parts that the schema names. Throws ApiError 401 without a required caller, 404 for
 * an invalid path parameter, and 400 for the first other mistake.
 */
export function readRequest<T extends RequestSchema>(
  schema: T,
  parts: RequestParts,
): v.InferOutput<T> {
  const query = withNames(schema, parts.query);
  const last = Object.entries(query).map(([name, values]) => [name, values?.at(-1)]);
  const input = { ...parts, query: Object.fromEntries(last) };
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (!result.success) throw fault(result.issues[0]);
  refuseRepeated(schema, query);
  return result.output;
}

function queryString(query: RequestParts['query']): string {
  return Object.entries(query)
    .flatMap(([name, values = []]) =>
      values.map((value) => encode(name) + (value === '' ? '' : `=${encode(value)}`)),
    )
    .join('&');
}

/** Encodes only the characters that need it. A space may also be sent as +. */
function encode(text: string): string {
  return text.toWellFormed().replaceAll(/[&+]|[^ -~]/gu, encodeURIComponent);
}

/**
 * Returns a query in which an entity has its name of today. CritiqueBrainz names it by its type, as
 * `release_group=…`, which implies the type. To ignore that would give everybody's reviews. With
 * `entity_id` beside it, that one wins.
 */
function withNames(schema: RequestSchema, query: RequestParts['query']): RequestParts['query'] {
  if (!namesIn(schema).includes('entity_id') || query.entity_id !== undefined) return query;
  const older = databaseTypes.flatMap((type) => [type, type.replace(/^bk_/, 'bb_')]);
  const names = [...new Set(older)].filter((name) => query[name] !== undefined);
  if (names.length === 0) return query;
  return {
    entity_type: names,
    ...query,
    entity_id: names.flatMap((name) => query[name] ?? []),
  };
}

function refuseRepeated(schema: RequestSchema, query: RequestParts['query']): void {
  for (const name of namesIn(schema)) {
    if ((query[name]?.length ?? 0) > 1) throw invalidRequest(`${name} must be sent only once`);
  }
}

/** Returns the names of the parameters in the query. */
function namesIn({ entries: { query } }: RequestSchema): string[] {
  return query && 'entries' in query ? Object.keys(query.entries as object) : [];
}

/** Names of headers in error messages, by part. */
const headerNames = { if_match: 'If-Match', idempotency_key: 'Idempotency-Key' };

function fault(issue: v.BaseIssue<unknown>): ApiError {
  const [part, ...names] = (issue.path ?? []).map(({ key }) => String(key));
  if (part === 'caller') return notAuthorized();
  if (part === 'query_string') return queryTooLong(`The query string ${issue.message}`);
  if (part === 'path') return notFound(issue.message);
  const name = headerNames[part as keyof typeof headerNames] ?? names[0] ?? 'The body';
  const isMissing = issue.kind === 'schema' && issue.received === 'undefined' && names.length > 0;
  return invalidRequest(isMissing ? `${name} is required` : `${name} ${issue.message}`);
}

/** Throws ApiError 400 for plain HTTP (RFC 6749 section 3.1), unless the service is local. */
export function requireHttps(event: APIGatewayProxyEvent): void {
  const isPlain = event.headers['x-forwarded-proto']?.toLowerCase() === 'http';
  if (isPlain && !isLoopback(new URL(authUrl()))) {
    throw invalidRequest('This endpoint is HTTPS only');
  }
}
