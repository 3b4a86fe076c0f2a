import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import {
  type ApiError,
  invalidRequest,
  notAuthorized,
  notFound,
  serviceUnavailable,
} from '../errors.ts';
import { Uuid } from '../values.ts';
import { parseEntityTags } from './entity-tags.ts';

/** The user and application that an access token stands for, as the authorizer found them. */
export const Caller = v.object({
  user_id: v.string(),
  client_id: v.string(),
  /** Granted scopes, separated by spaces. */
  scope: v.string(),
});
export type Caller = v.InferOutput<typeof Caller>;

/** The parts of a request that a schema may name. */
export interface RequestParts {
  method: string;
  caller: unknown;
  path: Record<string, string | undefined>;
  /** All values of each parameter. A schema sees the last, and where it names the parameter there may be no other. */
  query: Record<string, readonly string[] | undefined>;
  /** The query in the fewest characters that say it, without the question mark. API Gateway does not pass on what was sent. */
  query_string: string;
  /** The headers If-Match and Idempotency-Key. */
  if_match: string | undefined;
  idempotency_key: string | undefined;
  body: unknown;
}

/** A schema of the parts that an endpoint needs, and only those. */
export type RequestSchema = v.GenericSchema & {
  entries: Partial<Record<keyof RequestParts, v.GenericSchema>>;
};

/** A JSON object with these fields. Others are ignored. */
export function bodyOf<T extends v.ObjectEntries>(entries: T) {
  return v.pipe(
    v.custom<Record<string, unknown>>(
      (body) => typeof body === 'object' && body !== null && !Array.isArray(body),
      'must be a JSON object',
    ),
    v.object(entries),
  );
}

/** A field of a body that need not be sent. Null means that it was not. */
export function optional<T extends v.GenericSchema>(schema: T) {
  return v.nullish(schema, () => undefined);
}

/** A parameter that is a decimal integer from `min` to `max`. */
export function IntegerParameter(min: number, max: number) {
  const isOpen = max === Number.MAX_SAFE_INTEGER;
  const message = isOpen
    ? `must be an integer of at least ${min}`
    : `must be an integer from ${min} to ${max}`;
  return v.pipe(
    v.string(message),
    v.regex(/^\d+$/, message),
    // For the API's description: what arrives as text is a number.
    v.metadata({
      type: 'integer',
      pattern: undefined,
      minimum: min,
      ...(isOpen ? {} : { maximum: max }),
    }),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

/** A path parameter that names a thing by its UUID. Anything else is answered 404, with the noun `what`. */
export function PathId(what: string) {
  return PathParameter(what, Uuid);
}

/** A path parameter that names a thing otherwise, see `PathId`. */
export function PathParameter<T extends v.GenericSchema>(what: string, schema: T) {
  return v.pipe(
    v.custom<v.InferInput<T>>((sent) => v.is(schema, sent), what),
    schema,
  );
}

/** `limit` and `offset` of a list: 50 items unless asked otherwise, and never more; with 0 the answer has the count only. */
export const pageParameters = {
  limit: v.optional(IntegerParameter(0, 50), '50'),
  offset: v.optional(IntegerParameter(0, Number.MAX_SAFE_INTEGER), '0'),
};

/**
 * The header If-Match as the revision tags that the change is meant for, see response.ts. Undefined where any will do. A weak ETag is
 * none of them (RFC 9110 section 13.1.1).
 */
export const IfMatch = v.optional(
  v.pipe(
    v.string(),
    v.transform(parseEntityTags),
    v.custom<'*' | string[]>((tags) => tags !== undefined, 'must be * or a list of ETags'),
    v.transform((tags) =>
      tags === '*'
        ? undefined
        : tags.flatMap((tag) =>
            tag.startsWith('"') ? (tag.slice(1, -1).split('.')[0] ?? '') : [],
          ),
    ),
  ),
);

/** A header by its name. API Gateway passes names on as the client wrote them. */
export function headerOf({ headers }: APIGatewayProxyEvent, name: string): string | undefined {
  return lookUp(headers, name);
}

/** A header that is a list: a client may as well send it in several lines (RFC 9110 section 5.3). */
export function listHeaderOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  return lookUp(event.multiValueHeaders, name)?.join(', ');
}

function lookUp<T>(headers: Readonly<Record<string, T>> | null, name: string): T | undefined {
  const sent = Object.keys(headers ?? {}).find((key) => key.toLowerCase() === name.toLowerCase());
  return sent === undefined ? undefined : headers?.[sent];
}

/** The parts of an event, not validated. */
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
 * The parts that the schema names, validated. Throws ApiError 401 where a caller is needed and missing, 404 for a path that cannot
 * exist, 400 for the first fault in query or body.
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

/** Encodes what would not arrive otherwise, and nothing else. A space can be sent as +. */
function encode(text: string): string {
  return text.toWellFormed().replaceAll(/[&+]|[^ -~]/gu, encodeURIComponent);
}

/** A parameter that is sent twice says two things. */
function refuseRepeated(schema: RequestSchema, sent: RequestParts): void {
  const { query } = schema.entries;
  if (!query || !('entries' in query)) return;
  for (const name of Object.keys(query.entries as object)) {
    const values = sent.query[name] ?? [];
    if (values.length > 1) throw invalidRequest(`${name} must be sent only once`);
  }
}

/** The parts that are headers, as clients know them. */
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
