import type * as v from 'valibot';
import type { RequestSchema } from './request.ts';

/** The parts of the API's description, in their order, and what they are about. */
export const tags = {
  Reviews: 'What people think of albums, events, books and more.',
  Entities: 'What they think of one of those, in numbers.',
  'Votes and reports': 'What people think of reviews.',
  Users: 'Who writes them.',
  'Own account': 'Whom the access token acts for.',
  'OAuth 2.0':
    'How an application comes to act for somebody: authorization code flow with refresh tokens (RFC 6749), PKCE (RFC 7636), revocation (RFC 7009) and discovery (RFC 8414).',
  Service: 'The service itself.',
};

/** The errors that an endpoint can answer with because of what it does; those that all of its kind have go without saying. */
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

/** What the API's description says the same of wherever it is: see infra/openapi/document.ts. */
type Common = 'limit' | 'offset' | 'cursor';

type Named<T> = T extends object ? Exclude<keyof T, Common> & string : never;

/** What is to be explained of a request: the parameters of its query and the fields of its body. */
type Field<R extends RequestSchema> =
  | (v.InferOutput<R> extends { query: infer Query } ? Named<Query> : never)
  | (v.InferOutput<R> extends { body?: infer Body } ? Named<Body> : never);

/** What the API's description says of an endpoint beside its schemas. No function holds it, so that it may be as long as it takes. */
export type Docs<R extends RequestSchema> = {
  tag: keyof typeof tags;
  summary: string;
  /** Markdown, where the summary does not say it all. */
  description?: string;
  /** By code: when it happens, as a sentence. */
  errors?: Partial<Record<OwnError, string>>;
  /** What the answer carries besides, and the refusal where a limit is exceeded. */
  headers?: readonly ('RateLimit' | 'RateLimit-Policy' | 'Link')[];
  /** The media type of the answer, where it is no JSON. */
  type?: 'application/atom+xml';
  /** Fields of the body at least one of which is needed, and not null. */
  needsOneOf?: readonly Field<R>[];
  /** A body that is valid. */
  example?: Record<string, unknown>;
} & ([Field<R>] extends [never] ? unknown : { fields: Record<Field<R>, string> });
