import type * as v from 'valibot';
import type { RequestSchema } from './request.ts';

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
type OwnError =
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
type Common = 'limit' | 'offset' | 'cursor';

type Named<T> = T extends object ? Exclude<keyof T, Common> & string : never;

type Field<R extends RequestSchema> =
  | (v.InferOutput<R> extends { query: infer Query } ? Named<Query> : never)
  | (v.InferOutput<R> extends { body?: infer Body } ? Named<Body> : never);

/** Description of an endpoint. It is in no bundle, so it may be long. */
export type Docs<R extends RequestSchema> = {
  tag: keyof typeof tags;
  summary: string;
  /** Markdown, for anything that the summary leaves open. */
  description?: string;
  /** A sentence for each code: when it occurs. */
  errors?: Partial<Record<OwnError, string>>;
  /** Headers of the response, and of the error for an exceeded limit. */
  headers?: readonly ('RateLimit' | 'RateLimit-Policy' | 'Link')[];
  /** Media type of the response, if it is not JSON. */
  type?: 'application/atom+xml';
  /** Body fields of which at least one must be given, not null. */
  needsOneOf?: readonly Field<R>[];
  /** A valid body. */
  example?: Record<string, unknown>;
} & ([Field<R>] extends [never] ? unknown : { fields: Record<Field<R>, string> });
