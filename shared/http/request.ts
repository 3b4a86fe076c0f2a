import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { authUrl } from '../auth-url.ts';
import {
  type ApiError,
  invalidRequest,
  notAuthorized,
  notFound,
  serviceUnavailable,
  unsupportedMediaType,
} from '../errors.ts';
import { isLoopback, Uuid } from '../values.ts';

/** The user and application that an access token acts for, from the authorizer. */
export const Caller = v.object({
  user_id: v.string(),
  client_id: v.string(),
  /** Granted scopes, separated by spaces. */
  scope: v.string(),
});
export type Caller = v.InferOutput<typeof Caller>;

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

/** A JSON object. Fields other than these are ignored. */
export function bodyOf<T extends v.ObjectEntries>(entries: T) {
  return v.pipe(
    v.custom<Record<string, unknown>>(
      (body) => typeof body === 'object' && body !== null && !Array.isArray(body),
      'must be a JSON object',
    ),
    v.object(entries),
  );
}

/** An optional body field. Null counts as absent. */
export function optional<T extends v.GenericSchema>(schema: T) {
  return v.nullish(schema, () => undefined);
}

/** A parameter that is a decimal integer from `min` to `max`, or to the largest exact number. */
export function IntegerParameter(min: number, max?: number) {
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const message = `must be an integer ${range}`;
  return v.pipe(
    v.string(message),
    v.regex(/^\d+$/, message),
    // For the API's description: the text holds a number.
    v.metadata({ type: 'integer', pattern: undefined, minimum: min, maximum: max }),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max ?? Number.MAX_SAFE_INTEGER, message),
  );
}

/** A path parameter that holds a UUID. Anything else is 404 `<what> not found`. */
export function PathId(what: string) {
  return PathParameter(what, Uuid);
}

/** A path parameter of another schema; otherwise like `PathId`. */
export function PathParameter<T extends v.GenericSchema>(what: string, schema: T) {
  return v.pipe(
    v.custom<v.InferInput<T>>((sent) => v.is(schema, sent), what),
    schema,
  );
}

/** Paths with an id. The marks keep them out of the bundles of other endpoints. */
export const ReviewPath = /* @__PURE__ */ v.object({
  review_id: /* @__PURE__ */ PathId('Review'),
});
export const EntityPath = /* @__PURE__ */ v.object({
  entity_id: /* @__PURE__ */ PathId('Entity'),
});
export const UserPath = /* @__PURE__ */ v.object({ user_id: /* @__PURE__ */ PathId('User') });

/** `limit` and `offset` of a list: up to 50 items. With limit 0 the answer holds only the count. */
export const pageParameters = {
  limit: v.optional(IntegerParameter(0, 50), '50'),
  offset: v.optional(IntegerParameter(0), '0'),
};

/** Revision tags in If-Match; undefined for `*`. Weak ETags never match (RFC 9110, 13.1.1). */
export const IfMatch = v.optional(
  v.pipe(
    v.string(),
    v.transform(parseEntityTags),
    v.custom<'*' | string[]>((tags) => tags !== undefined, 'must be * or a list of ETags'),
    v.transform((tags) =>
      tags === '*' ? undefined : tags.flatMap((tag) => /^"([^."]*)/.exec(tag)?.[1] ?? []),
    ),
  ),
);

/** Returns a header by name. API Gateway keeps the client's spelling of names. */
export function headerOf({ headers }: APIGatewayProxyEvent, name: string): string | undefined {
  return lookUp(headers, name);
}

/** Returns a list header, its lines joined by commas (RFC 9110 section 5.3). */
export function listHeaderOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  return lookUp(event.multiValueHeaders, name)?.join(', ');
}

function lookUp<T>(headers: Readonly<Record<string, T>> | null, name: string): T | undefined {
  const sent = Object.keys(headers ?? {}).find((key) => key.toLowerCase() === name.toLowerCase());
  return sent === undefined ? undefined : headers?.[sent];
}

/** Throws `otherwise` for a body of another type than `type`. */
export function requireMediaType(
  event: APIGatewayProxyEvent,
  type: string,
  otherwise: (message: string) => ApiError,
): void {
  const sent = headerOf(event, 'Content-Type') ?? '';
  if (sent.split(';')[0]?.trim().toLowerCase() !== type) {
    throw otherwise(`The body must be sent as Content-Type: ${type}`);
  }
}

/** Throws ApiError 415 if the request names a charset other than UTF-8. */
export function requireUtf8(event: APIGatewayProxyEvent): void {
  if (isUtf8(headerOf(event, 'Content-Type') ?? '')) return;
  throw unsupportedMediaType('The body must be sent as UTF-8, not in another charset');
}

/** Returns true if a Content-Type names no charset other than UTF-8. */
export function isUtf8(contentType: string): boolean {
  const [, ...parameters] = contentType.toLowerCase().split(';');
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=').map((part) => part.trim());
    return name !== 'charset' || /^("utf-?8"|utf-?8)$/.test(value);
  });
}

/** Takes the parts of an event that schemas read. The body stays as it is. */
export function partsOf(event: APIGatewayProxyEvent): RequestParts {
  const query = event.multiValueQueryStringParameters ?? {};
  return {
    method: event.httpMethod,
    caller: event.requestContext.authorizer,
    path: event.pathParameters ?? {},
    query,
    query_string: queryString(query),
    if_match: listHeaderOf(event, 'If-Match'),
    idempotency_key: listHeaderOf(event, 'Idempotency-Key'),
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
  const last = Object.entries(parts.query).map(([name, values]) => [name, values?.at(-1)]);
  const sent = { ...parts, query: Object.fromEntries(last) };
  const result = v.safeParse(schema, sent, { abortEarly: true });
  if (!result.success) throw fault(result.issues[0]);
  refuseRepeated(schema, parts);
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

function refuseRepeated(schema: RequestSchema, sent: RequestParts): void {
  const { query } = schema.entries;
  if (!query || !('entries' in query)) return;
  for (const name of Object.keys(query.entries as object)) {
    if ((sent.query[name]?.length ?? 0) > 1) throw invalidRequest(`${name} must be sent only once`);
  }
}

const headers = { if_match: 'If-Match', idempotency_key: 'Idempotency-Key' };

function fault(issue: v.BaseIssue<unknown>): ApiError {
  const [part, ...names] = (issue.path ?? []).map(({ key }) => String(key));
  if (part === 'caller') return notAuthorized();
  if (part === 'query_string') return serviceUnavailable(`The query string ${issue.message}`);
  if (part === 'path') return notFound(issue.message);
  const name = headers[part as keyof typeof headers] ?? names[0] ?? 'The body';
  const isMissing = issue.kind === 'schema' && issue.received === 'undefined';
  return invalidRequest(
    isMissing && names.length > 0 ? `${name} is required` : `${name} ${issue.message}`,
  );
}

/** Throws ApiError 400 for plain HTTP (RFC 6749 section 3.1), unless the service is local. */
export function requireHttps(event: APIGatewayProxyEvent): void {
  const isPlain = headerOf(event, 'x-forwarded-proto')?.toLowerCase() === 'http';
  if (isPlain && !isLoopback(new URL(authUrl())))
    throw invalidRequest('This endpoint is HTTPS only');
}

const entityTag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const entityTags = new RegExp(entityTag, 'g');
const listOfTags = new RegExp(`^[ \\t,]*${entityTag}(?:[ \\t]*,[ \\t,]*${entityTag})*[ \\t,]*$`);

/**
 * Parses If-Match or If-None-Match: `*`, or entity tags with their quotes and W/ (RFC 9110 sections
 * 8.8.3 and 13.1). Returns undefined for anything else.
 */
export function parseEntityTags(value: string): '*' | string[] | undefined {
  if (value.trim() === '*') return '*';
  return listOfTags.test(value) ? (value.match(entityTags) ?? []) : undefined;
}
