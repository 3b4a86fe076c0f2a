import { STATUS_CODES } from 'node:http';
import type * as v from 'valibot';
import { type Ability, baseAbility, scopeAbilities } from '../../shared/oauth/scopes.ts';
import { version } from '../../shared/routes.ts';
import { type Endpoint, failuresOf, headers, isOAuthForm } from './responses.ts';
import {
  exampleOf,
  fieldsOf,
  type JsonSchema,
  jsonSchemaOf,
  parameterSchemaOf,
  referredSchemas,
} from './schemas.ts';

/** What stands in the document for {auth_url}: whoever serves it puts in their own. */
const authUrl = 'https://api.example/ws';

const tags = {
  Reviews: 'What people think of albums, events, books and more.',
  Entities: 'What they think of one of those, in numbers.',
  'Votes and reports': 'What people think of reviews.',
  Users: 'Who writes them.',
  'Own account': 'Whom the access token acts for.',
  'OAuth 2.0':
    'How an application comes to act for somebody: authorization code flow with refresh tokens (RFC 6749), PKCE (RFC 7636), revocation (RFC 7009) and discovery (RFC 8414).',
  Service: 'The service itself.',
};

const description = `
Publish, read, vote on and report reviews. Whatever is public is read without a token; everything else takes one, as \`Authorization: Bearer …\`.

**Get a token.** Register an application at [${authUrl}/account/applications](${authUrl}/account/applications), and send the person whom it is to act for to
\`${authUrl}/oauth/authorize\` with \`response_type=code\`, \`client_id\`, \`redirect_uri\` (exactly the registered one), \`scope\` (separated by commas or spaces) and
\`state\`. They come back to \`redirect_uri\` with \`code\`, \`state\` and \`iss\`, or with \`error\`; the token endpoint gives tokens for the code. An access token
is good for an hour, its refresh token until it is used or revoked.

**Walk a list.** \`limit\` and \`offset\` lead to any page. To see every item once while others write, follow \`next\`: send it as \`cursor\` with the same parameters,
or follow the \`Link\` header, until a page has none.

**Ask again cheaply.** What is public has an \`ETag\`: sent as \`If-None-Match\`, it is answered 304 while nothing has changed. Sent as \`If-Match\` with a change or deletion
of a review, it refuses to overwrite what has not been seen (412).

**Errors** are \`{"error", "description"}\`: a code for programs and a sentence for developers, with a \`request_id\` from 500 on. 429 and 503 say in \`Retry-After\` when to try again.

A slash at the end of a path makes no difference. Unknown fields and parameters are ignored. Times are HTTP dates, but for what is told as it is stored (ISO 8601).
Any origin may call (CORS), without cookies.
`.trim();

/** What parameters mean wherever they are. */
const common: Record<string, string> = {
  review_id: 'The review',
  entity_id: 'The entity',
  user_id: 'The user',
  rev: 'The number of the revision: the first is 1',
  limit: 'How many items a page has at most',
  offset: 'How many items to skip; not with `cursor`',
  cursor:
    'Where the page or part begins: `next` of the one before, with the same filters and order',
};

/** The OpenAPI document of these endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  // The list stands before the thing, and the thing before its parts.
  for (const endpoint of endpoints.toSorted((a, b) => depth(a) - depth(b))) {
    const { method, path, base } = endpoint.route;
    paths[path] ??= base === undefined ? {} : { servers: [{ url: authUrl + base }] };
    paths[path][method.toLowerCase()] = operationOf(endpoint);
  }
  const responses = shareResponses(paths);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Review service',
      version: version.slice(1),
      summary: 'Publish, read, vote on and report reviews',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: authUrl + version, description: 'This service' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: referredSchemas(paths, responses),
      responses,
      headers,
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          description: `Whatever its scopes, an application reads: ${baseAbility.detail.toLowerCase()}.`,
          flows: {
            authorizationCode: {
              authorizationUrl: `${authUrl}/oauth/authorize`,
              tokenUrl: `${authUrl}${version}/oauth/token`,
              refreshUrl: `${authUrl}${version}/oauth/token`,
              scopes: Object.fromEntries(
                Object.entries(scopeAbilities).map(([scope, abilities]) => [
                  scope,
                  scopeText(abilities),
                ]),
              ),
            },
          },
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token.',
        },
        client: {
          type: 'http',
          scheme: 'basic',
          description: 'Client id and client secret, in the place of those in the form.',
        },
      },
    },
  };
}

function depth({ route }: Endpoint): number {
  return route.path.split('/').length;
}

/** What a scope allows, first what cannot be undone: developers choose scopes by this. */
function scopeText(abilities: readonly Ability[]): string {
  const gravestFirst = abilities.toSorted(
    (a, b) => Number(b.isDangerous ?? 0) - Number(a.isDangerous ?? 0),
  );
  return gravestFirst.map(({ can, detail }) => `${can}: ${detail}`).join('. ');
}

function operationOf(endpoint: Endpoint) {
  const { route, request, docs } = endpoint;
  const { summary, description, tag } = docs;
  return {
    operationId: route.operation,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...securityOf(endpoint),
    ...nonEmpty('parameters', parametersOf(endpoint)),
    ...(request.entries.body && { requestBody: bodyOf(endpoint, request.entries.body) }),
    responses: { 200: successOf(endpoint), ...notModified(endpoint), ...failuresOf(endpoint) },
  };
}

function nonEmpty<T>(name: string, list: readonly T[]) {
  return list.length > 0 && { [name]: list };
}

function securityOf({ route }: Endpoint) {
  if (isOAuthForm({ route })) return { security: [{}, { client: [] }] };
  if (route.access === 'public') return { security: [] };
  const scopes = route.access === 'token' ? [] : [route.access];
  return { security: [{ oauth2: scopes }, { bearer: [] }] };
}

function parametersOf({ route, request, docs }: Endpoint) {
  const { path, query, if_match, idempotency_key } = request.entries;
  const parameter = (place: string, name: string, schema: v.GenericSchema) => ({
    name,
    in: place,
    description: docs.fields?.[name] ?? common[name],
    required: schema.type !== 'optional',
    schema: parameterSchemaOf(schema),
  });
  return [
    ...fieldsOf(path).map(([name, schema]) => parameter('path', name, schema)),
    ...fieldsOf(query).map(([name, schema]) => parameter('query', name, schema)),
    ...(if_match ? [headerParameter('If-Match')] : []),
    ...(idempotency_key ? [headerParameter('Idempotency-Key')] : []),
    ...(isPublic({ route, request }) ? [headerParameter('If-None-Match')] : []),
  ];
}

/** What the headers of requests do. */
const headerParameters = {
  'If-Match': 'Refuses the change unless this is the `ETag` of what is there',
  'Idempotency-Key':
    'A key that you choose, such as a random UUID. For 24 hours the same request with the same key gets the same answer, and nothing is done twice',
  'If-None-Match': 'An `ETag` from an earlier answer: the answer is 304 if nothing has changed',
};

function headerParameter(name: keyof typeof headerParameters) {
  const description = headerParameters[name];
  return { name, in: 'header', description, required: false, schema: { type: 'string' } };
}

function bodyOf({ route, docs }: Endpoint, schema: v.GenericSchema) {
  const type = isOAuthForm({ route }) ? 'application/x-www-form-urlencoded' : 'application/json';
  const { properties, ...shape } = withoutNull(jsonSchemaOf(schema));
  const anyOf = docs.needsOneOf?.map((name) => {
    return { required: [name], properties: { [name]: { not: { type: 'null' } } } };
  });
  const explained = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, property]) => [name, { description: docs.fields?.[name], ...property }],
  );
  return {
    required: 'required' in shape || !('wrapped' in schema),
    content: {
      [type]: {
        schema: { ...shape, properties: Object.fromEntries(explained), ...(anyOf && { anyOf }) },
        ...(docs.example && { example: docs.example }),
      },
    },
  };
}

/** A body may be left out, which `required` says. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  return { type: Array.isArray(type) ? type[0] : type, ...rest };
}

function isPublic({ route, request }: Pick<Endpoint, 'route' | 'request'>): boolean {
  return route.method === 'GET' && !request.entries.caller;
}

/** The headers of an answer, with or without its body. */
function headersOf(endpoint: Endpoint) {
  const { request, docs } = endpoint;
  const isPaged = fieldsOf(request.entries.query).some(([name]) => name === 'cursor');
  const names = [
    ...(isPublic(endpoint) ? ['ETag'] : []),
    ...(isPaged || docs.headers?.includes('Link') ? ['Link'] : []),
    ...(request.entries.idempotency_key ? ['Idempotent-Replayed'] : []),
    ...(docs.headers ?? []).filter((name) => name !== 'Link'),
  ];
  const headers = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return headers.length > 0 && { headers: Object.fromEntries(headers) };
}

function successOf(endpoint: Endpoint) {
  const { response, docs } = endpoint;
  const [[, only] = []] = fieldsOf(response);
  return {
    description: said(response) ?? said(only) ?? 'What was asked for',
    ...headersOf(endpoint),
    content: {
      [docs.type ?? 'application/json']: {
        schema: jsonSchemaOf(response),
        example: exampleOf(response),
      },
    },
  };
}

/** What a schema says that it is. */
function said(schema: v.GenericSchema | undefined): string | undefined {
  const { pipe = [] } = (schema ?? {}) as { pipe?: { type: string; description?: string }[] };
  return pipe.find(({ type }) => type === 'description')?.description;
}

function notModified(endpoint: Endpoint) {
  if (!isPublic(endpoint)) return {};
  const description = 'It is what `If-None-Match` names, still.';
  return { 304: { description, ...headersOf(endpoint) } };
}

/** Takes the most frequent response of each status out of the operations, to stand once for all. */
function shareResponses(paths: Record<string, Record<string, unknown>>): Record<string, unknown> {
  const operations = Object.values(paths).flatMap((item) =>
    Object.values(item).filter((part) => !Array.isArray(part)),
  ) as { responses: Record<string, unknown> }[];
  const shared: Record<string, unknown> = {};
  for (const status of [
    '304',
    '401',
    '403',
    '404',
    '412',
    '413',
    '415',
    '422',
    '429',
    '500',
    '503',
  ]) {
    const uses = Map.groupBy(operations, ({ responses }) => JSON.stringify(responses[status]));
    uses.delete(undefined as unknown as string);
    const [most, users] = [...uses].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
    if (most === undefined || users === undefined || users.length < 2) continue;
    const name = (STATUS_CODES[status] ?? '').replaceAll(/\W/g, '');
    shared[name] = JSON.parse(most);
    for (const { responses } of users) {
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}
