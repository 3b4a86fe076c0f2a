// An endpoint of the API: first its handler, then its description for the OpenAPI document.
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { noteColdStart } from './cold-start.ts';
import { jsonBody } from './json-body.ts';
import { partsOf, type RequestSchema, readRequest } from './read-request.ts';
import { Answer, errorResponse, headResponse, json, publicAnswer } from './response.ts';
import { wholeEvent } from './whole-event.ts';

/**
 * Makes the Lambda handler of an endpoint. It validates the request parts in `schema`, then answers
 * 200 with the result of `handle`, usually as JSON. Thrown errors become error responses. A GET or
 * HEAD without `caller` in the schema is public and cacheable.
 * @example
 *   export const request = v.object({ path: v.object({ review_id: PathId('Review') }) });
 *   export const handler = endpoint(request, async ({ path }) => {
 *     const { review, author } = await getPublicReview(path.review_id);
 *     return { review: presentReview(review, author) };
 *   });
 */
export function endpoint<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>) => Promise<unknown> | unknown,
) {
  const isPublic = !('caller' in schema.entries);
  // Of the middlewares, the first is the first to see a request and the last to see the response.
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(noteColdStart())
    .use(headResponse())
    .use(errorResponse())
    .use(wholeEvent())
    .use('body' in schema.entries ? jsonBody() : [])
    .handler(async (event) => {
      const result = await handle(readRequest(schema, partsOf(event)));
      const answer = result instanceof Answer ? result : new Answer(result);
      if (isPublic && ['GET', 'HEAD'].includes(event.httpMethod)) {
        return publicAnswer(answer, event);
      }
      return json(200, answer.body, answer.options.headers);
    });
}

/** Sections of the API's description, in order, with their subject. */
export const tags = {
  Reviews: 'Reviews of albums, events, books and more.',
  Entities: 'One album, event or book: its reviews in numbers.',
  'Votes and reports': 'Votes on reviews.',
  Users: 'The authors of reviews.',
  'Own account': 'The user that the access token acts for.',
  'OAuth 2.0':
    'Act for a user: authorization code flow with refresh tokens (RFC 6749), PKCE (RFC 7636), revocation (RFC 7009) and discovery (RFC 8414).',
  Service: 'The service itself.',
};

/** Errors that depend on the endpoint. The others are added automatically. */
type OwnErrorCode =
  | 'invalid_request'
  | 'access_denied'
  | 'limit_exceeded'
  | 'not_found'
  | 'gone'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'service_unavailable';

/** Parameters with one description everywhere, see infra/openapi/document.ts. */
type CommonParameter = 'limit' | 'offset' | 'cursor';

type OwnName<T> = T extends object ? Exclude<keyof T, CommonParameter> & string : never;

/** Names of the query parameters and body fields that only this endpoint can describe. */
type FieldName<R extends RequestSchema> =
  | (v.InferOutput<R> extends { query: infer Query } ? OwnName<Query> : never)
  | (v.InferOutput<R> extends { body?: infer Body } ? OwnName<Body> : never);

/** A sentence for each field. Required if there is a field. */
type FieldDocs<R extends RequestSchema> = [FieldName<R>] extends [never]
  ? unknown
  : { fields: Record<FieldName<R>, string> };

/** Description of an endpoint. It is in no bundle, so it may be long. */
export type Docs<R extends RequestSchema> = {
  tag: keyof typeof tags;
  summary: string;
  /** Markdown: what the summary leaves open. */
  description: string;
  /** A sentence for each code: when it occurs. */
  errors?: Partial<Record<OwnErrorCode, string>>;
  /** Headers of the response, and of the error for an exceeded limit. */
  headers?: readonly ('ETag' | 'RateLimit' | 'RateLimit-Policy' | 'Link')[];
  /** Media type of the response, if it is not JSON. */
  type?: 'application/atom+xml';
  /** A valid body. */
  example?: Record<string, unknown>;
} & FieldDocs<R>;
