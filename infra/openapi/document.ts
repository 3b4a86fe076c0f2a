import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { type Route, version } from '../../shared/base/routes.ts';
import { tags } from '../../shared/core/http/endpoint.ts';
import { type Ability, baseAbility, scopeAbilities } from '../../shared/core/oauth/scopes.ts';
import { type Endpoint, failuresOf, headerRefs, headers, isOAuthForm } from './responses.ts';
import { exampleOf, fieldsOf, jsonSchemaOf, schemas } from './schemas.ts';
import { webhooks } from './webhooks.ts';

/** The tag of what the service sends, and its description. */
const webhookTag = ['Webhooks', 'Messages that the service sends to your server.'] as const;

/** Placeholder, which the service replaces with its own address. */
const authUrl = 'https://api.example/ws';

const { version: release }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** Descriptions of parameters that many endpoints share. */
const common: Record<string, string> = {
  review_id: 'The review',
  entity_id: 'The entity',
  user_id: 'The user',
  rev: 'The number of the revision: the first is 1',
  limit: 'The most items on a page',
  offset: 'The number of items to skip; not with `cursor`',
  cursor: '`next` of the page or part before, with the same filters and order',
  'If-Match': 'The `ETag` that the review must still have',
  'Idempotency-Key':
    'A key that you choose, such as a random UUID. For 24 hours the same request with the same key gets the same answer, and is not executed again',
  'If-None-Match': 'An `ETag` from an earlier answer: the answer is 304 if nothing has changed',
};

const review = '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11';
const entity = '8e8a594f-2175-38c7-a871-abb68ec363e7';
const user = '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2';

/** Examples of parameters. The reference makes its commands with them. */
const examples: Record<string, Record<string, string | number>> = {
  path: { review_id: review, entity_id: entity, user_id: user, rev: 1 },
  query: { entity_id: entity, entity_ids: entity, q: 'kind blue', review_ids: review, limit: 10 },
};

export function openApiDocument(endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  // Sorted by depth: a list before its item, an item before its parts.
  const depth = ({ route }: Endpoint) => route.path.split('/').length;
  for (const endpoint of endpoints.toSorted((a, b) => depth(a) - depth(b))) {
    const { method, path, base } = endpoint.route;
    paths[path] ??= base === undefined ? {} : { servers: [{ url: authUrl + base }] };
    paths[path][method.toLowerCase()] = operationOf(endpoint);
  }
  const scopes = Object.entries(scopeAbilities).map(([scope, can]) => [scope, scopeText(can)]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Review service',
      version: release,
      summary: 'Publish, read, vote on and report reviews',
      description:
        'Everything public is read without a token. Everything else takes an access token, as `Authorization: Bearer …`. A slash at the end of a path makes no difference. Unknown fields and parameters are ignored.',
      contact: { name: 'Help of this service', url: `${authUrl}/help` },
      license: {
        name: 'MIT, for the software: each review has its own licence',
        identifier: 'MIT',
      },
    },
    externalDocs: { description: 'Guides', url: `${authUrl}/docs` },
    servers: [{ url: authUrl + version, description: 'This service' }],
    tags: [...Object.entries(tags), webhookTag].map(([name, description]) => ({
      name,
      description,
    })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas,
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
              scopes: Object.fromEntries(scopes),
            },
          },
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'Client id and client secret, instead of those in the form.',
        },
      },
    },
  };
}

/** Returns the operation as an identifier, which generators keep: `getReview`. */
export function idOf({ operation }: Pick<Route, 'operation'>): string {
  return operation.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Describes a scope, irreversible abilities first. Developers choose scopes by this text. */
function scopeText(abilities: readonly Ability[]): string {
  const gravity = ({ isDangerous }: Ability) => (isDangerous ? 1 : 0);
  const gravestFirst = abilities.toSorted((a, b) => gravity(b) - gravity(a));
  return gravestFirst.map(({ can, detail }) => `${can}: ${detail}`).join('. ');
}

function operationOf(endpoint: Endpoint) {
  const { route, request, docs } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId: idOf(route),
    tags: [docs.tag],
    summary: docs.summary,
    description: docs.description,
    security: securityOf(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...(request.entries.body && { requestBody: bodyOf(endpoint, request.entries.body) }),
    responses: { ...successesOf(endpoint), ...failuresOf(endpoint) },
  };
}

function securityOf({ route }: Endpoint) {
  if (isOAuthForm({ route })) return [{}, { basic: [] }];
  if (route.access === 'public') return [];
  return [{ oauth2: route.access === 'token' ? [] : [route.access] }, { bearer: [] }];
}

function parametersOf({ route, request, docs }: Endpoint) {
  const { path, query, if_match, idempotency_key } = request.entries;
  const headers: Record<string, v.GenericSchema> = {};
  if (if_match) headers['If-Match'] = if_match;
  if (idempotency_key) headers['Idempotency-Key'] = idempotency_key;
  if (isPublic({ route, request })) headers['If-None-Match'] = v.optional(v.string());
  const places = {
    path: fieldsOf(path),
    query: fieldsOf(query),
    header: Object.entries(headers),
  };
  return Object.entries(places).flatMap(([place, fields]) =>
    fields.filter(isTaken).map(([name, schema]: [string, v.GenericSchema]) => ({
      name,
      in: place,
      description: docs.fields?.[name] ?? common[name],
      required: schema.type !== 'optional',
      schema: jsonSchemaOf(schema),
      example: examples[place]?.[name],
    })),
  );
}

/** Returns false for a parameter that is refused by its name. */
const isTaken = ([, schema]: [string, v.GenericSchema]) =>
  !('wrapped' in schema && (schema.wrapped as v.GenericSchema).type === 'never');

function bodyOf({ route, docs }: Endpoint, body: v.GenericSchema) {
  // `required` states that the body may be left out.
  const schema = { ...jsonSchemaOf(body), type: 'object' };
  const explained = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    return [name, { description: docs.fields?.[name], ...(property as object) }];
  });
  return {
    required: !('wrapped' in body),
    content: {
      [isOAuthForm({ route }) ? 'application/x-www-form-urlencoded' : 'application/json']: {
        schema: { ...schema, properties: Object.fromEntries(explained) },
        example: docs.example,
      },
    },
  };
}

const isPublic = ({ route, request }: Pick<Endpoint, 'route' | 'request'>) =>
  route.method === 'GET' && !request.entries.caller;

function successesOf(endpoint: Endpoint) {
  const { request, response, docs } = endpoint;
  const [[, only] = []] = fieldsOf(response);
  const isPaged = fieldsOf(request.entries.query).some(([name]) => name === 'cursor');
  const headers = headerRefs([
    ...(isPublic(endpoint) ? ['ETag'] : []),
    ...(isPaged ? ['Link'] : []),
    ...(request.entries.idempotency_key ? ['Idempotent-Replayed'] : []),
    ...(docs.headers ?? []),
  ]);
  const content = { schema: jsonSchemaOf(response), example: exampleOf(response) };
  return {
    200: {
      description: v.getDescription(response) ?? (only && v.getDescription(only)) ?? 'The answer',
      ...headers,
      content: { [docs.type ?? 'application/json']: content },
    },
    ...(isPublic(endpoint) && {
      304: { description: 'Nothing has changed since the `ETag` in `If-None-Match`.', ...headers },
    }),
  };
}
