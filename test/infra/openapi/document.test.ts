import { readdirSync } from 'node:fs';
import * as v from 'valibot';
import { handler } from '../../../functions/api/get-openapi.ts';
import { importFunction } from '../../../infra/functions.ts';
import { sheets } from '../../../infra/style/render.ts';
import { routes } from '../../../shared/base/routes.ts';
import { openApiAt } from '../../../shared/features/docs/openapi.ts';
import * as presented from '../../../shared/features/webhooks/presented.ts';
import { messageTypes } from '../../../shared/features/webhooks/webhook.ts';
import { faultsOf, isJson } from '../../helpers/contract.ts';
import { invoke } from '../../helpers/invoke.ts';

interface Parameter {
  name: string;
  in: string;
  description?: string;
  required: boolean;
  schema: Record<string, unknown>;
}

interface Response {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>;
}

interface Content {
  schema: { properties: Record<string, Record<string, unknown>> };
  example?: unknown;
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Content> };
  responses: Record<string, Response>;
}

const modules = await Promise.all(
  routes.filter(isJson).map(async (route) => ({
    route,
    ...(await importFunction(route.operation)),
  })),
);
const endpoints = modules;
const document = openApiAt('https://api.example/ws');
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'servers')
    .map(([method, operation]) => ({ path, method, ...(operation as Operation) })),
);

/** Returns the id of an operation: an identifier, which no generator of code has to change. */
const idOf = (operation: string) =>
  operation.replaceAll(/-[a-z]/g, (letter) => letter.slice(1).toUpperCase());

function operationOf(name: string) {
  const found = operations.find(({ operationId }) => operationId === idOf(name));
  if (!found) throw new Error(`${name} is not in the document`);
  return found;
}

test('every style sheet is in the style of pages', () => {
  const listed = sheets.map((name) => `${name}.css`).toSorted();
  expect(readdirSync('shared/pages/frame/css').toSorted()).toEqual(listed);
});

test('every JSON route has one operation, and every operation a route with a handler', () => {
  const line = (method: string, path: string, operation: string) =>
    `${method.toUpperCase()} ${path} ${operation}`;
  expect(operations.map((each) => line(each.method, each.path, each.operationId)).sort()).toEqual(
    endpoints.map(({ route }) => line(route.method, route.path, idOf(route.operation))).sort(),
  );
  for (const { operationId } of operations) expect(operationId).toMatch(/^[a-z]+([A-Z][a-z]+)*$/);
  for (const endpoint of endpoints) expect(typeof endpoint.handler).toBe('function');
});

describe.each(operations)('$operationId', (operation) => {
  const endpoint = endpoints.find(({ route }) => idOf(route.operation) === operation.operationId);

  test('is explained: summary, tag, every parameter, field and response', () => {
    expect(operation.summary).toMatch(/^[A-Z].{5,}[^.]$/);
    expect(document.tags.map(({ name }) => name)).toContain(operation.tags[0]);
    for (const { description } of operation.parameters ?? []) expect(description).toMatch(/^.{8,}/);
    const [body] = Object.values(operation.requestBody?.content ?? {});
    const fields = Object.values(body?.schema.properties ?? {});
    for (const { description } of [...fields, ...Object.values(operation.responses)]) {
      expect(description).toMatch(/^.{6,}/);
    }
  });

  test('has valid examples of the response, each error and the body', () => {
    const { 200: success, ...others } = operation.responses;
    const [mediaType, { example: answer } = {}] = Object.entries(success?.content ?? {})[0] ?? [];
    // All responses are JSON, except Atom feeds.
    const isFeed = operation.path.endsWith('.atom');
    expect(mediaType).toBe(isFeed ? 'application/atom+xml' : 'application/json');
    expect(answer).toBeDefined();
    expect(faultsOf(endpoint.response, answer)).toEqual([]);
    for (const [status, response] of Object.entries(others)) {
      const examples = response?.content?.['application/json']?.examples ?? {};
      expect([status, Object.keys(examples).length > 0]).toEqual([status, status !== '304']);
      for (const [error, { value }] of Object.entries(examples)) {
        expect(value).toMatchObject({ error });
      }
    }
    const { body } = endpoint.request.entries;
    const [type] = Object.values(operation.requestBody?.content ?? {});
    expect(type !== undefined).toBe(body !== undefined);
    if (!body || !type) return;
    expect(type.example).toBeDefined();
    expect(v.safeParse(body, type.example).issues).toBeUndefined();
  });

  test('says who may call it', () => {
    const { access } = endpoint.route;
    const isForm = operation.path.startsWith('/oauth/');
    const guarded = [{ oauth2: access === 'token' ? [] : [access] }, { bearer: [] }];
    const open = isForm ? [{}, { basic: [] }] : [];
    expect(operation.security).toEqual(access === 'public' ? open : guarded);
    expect(Object.keys(operation.responses).includes('401')).toBe(access !== 'public' || isForm);
  });
});

test('each scope says what it allows, beginning with account deletion', () => {
  const { scopes } = document.components.securitySchemes.oauth2.flows.authorizationCode;
  expect(scopes).toEqual({
    review: expect.stringMatching(/^Write in your name: .+ change and delete /),
    vote: expect.stringMatching(/^Vote in your name: .+ report /),
    user: expect.stringMatching(
      /^Delete your account: .+\. Change your profile: .+\. Download your data: /,
    ),
  });
});

test('lists come before their members, and members before their parts', () => {
  const paths = Object.keys(document.paths);
  const places = ['/review', '/review/{review_id}', '/review/{review_id}/revisions/{rev}'];
  expect(paths.filter((path) => places.includes(path))).toEqual(places);
});

describe('requests match the specification', () => {
  const newReview = operationOf('create-review').requestBody?.content['application/json']?.schema;
  const parameter = (operation: string, name: string) =>
    operationOf(operation).parameters?.find((each) => each.name === name);

  test.each(['list-reviews', 'list-users', 'list-my-reviews'])('%s: limit and offset', (name) => {
    expect(parameter(name, 'limit')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 0, maximum: 50, default: 50 },
    });
    expect(parameter(name, 'offset')?.schema).toEqual({
      type: 'integer',
      format: 'int64',
      minimum: 0,
      maximum: 9007199254740991,
      default: 0,
    });
  });

  test('the filters and orders of the list of reviews', () => {
    const types =
      'event place release_group work artist label recording bk_edition_group bk_literary_work bk_author bk_series';
    const { parameters = [] } = operationOf('list-reviews');
    expect(Object.fromEntries(parameters.map((each) => [each.name, each.schema]))).toMatchObject({
      entity_id: { type: 'string', format: 'uuid' },
      entity_type: { $ref: '#/components/schemas/EntityFilter' },
      user_id: { type: 'string', format: 'uuid' },
      sort: { enum: ['popularity', 'published_on'], default: 'published_on' },
      sort_order: { enum: ['asc', 'desc'], default: 'desc' },
      review_type: { enum: ['review', 'rating'] },
      include_metadata: { type: 'boolean', default: false },
    });
    expect(document.components.schemas.EntityType.enum).toEqual(types.split(' '));
    expect(document.components.schemas.EntityFilter.enum).toEqual([
      'musicdb',
      'bookdb',
      ...types.split(' '),
    ]);
    expect(document.components.schemas.Language.enum).toHaveLength(183);
  });

  test('the body of a new review', () => {
    expect(operationOf('create-review').requestBody?.required).toBe(true);
    expect(newReview).toMatchObject({
      required: ['entity_id', 'entity_type', 'license_choice'],
      properties: {
        text: { type: ['string', 'null'], minLength: 25, maxLength: 5000 },
        rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
        language: { default: 'en' },
        is_draft: { default: false },
      },
    });
  });

  test('a new review needs a text or a rating, which only words say', () => {
    expect(operationOf('create-review').description).toContain('Send `text`, `rating` or both');
  });

  test.each([
    ['', true],
    ['stats', true],
    [' user_type, stats user_type,', true],
    ['Stats', false],
    ['statsuser_type', false],
    ['stats;user_type', false],
    ['stats,x', false],
  ])('the pattern of inc takes %j: %j', (inc, isTaken) => {
    const { pattern, type } = parameter('get-me', 'inc')?.schema ?? {};
    expect(type).toBe('string');
    expect(new RegExp(`${pattern}`, 'u').test(inc)).toEqual(isTaken);
  });

  test('documents that edits keep earlier revisions readable', () => {
    expect(operationOf('update-review').description).toMatch(/revisions .* stay public/);
  });

  test('a report needs no body; every other operation with a body does', () => {
    const optional = operations.filter(({ requestBody }) => requestBody?.required === false);
    expect(optional.map(({ operationId }) => operationId)).toEqual(['reportReview']);
  });

  test.each([
    ['get-review', '200 304 404'],
    ['put-vote', '200 400 401 403 404'],
    ['update-review', '200 400 401 403 404 412'],
    ['delete-review', '200 401 403 404 412'],
    ['batch-get-reviews', '200 304 400 503'],
    ['get-me', '200 400 401'],
    ['create-token', '200 400 401'],
    ['list-languages', '200 304'],
  ])('%s answers %s, and the common responses of every endpoint', (name, statuses) => {
    const found = Object.keys(operationOf(name).responses);
    const expected = statuses.split(' ');
    expect(found).toEqual(expect.arrayContaining([...expected, '429', '500', '503']));
    const own = (status: string) => !['400', '413', '415', '429', '500', '503'].includes(status);
    expect(found.filter(own)).toEqual(expected.filter(own));
  });

  test.each([
    ['put-vote', '403', ['insufficient_scope', 'access_denied', 'limit_exceeded']],
    ['update-review', '403', ['insufficient_scope', 'access_denied', 'limit_exceeded']],
    ['create-token', '401', ['invalid_client']],
    [
      'create-token',
      '400',
      ['invalid_request', 'invalid_grant', 'invalid_scope', 'unsupported_grant_type'],
    ],
  ])('%s distinguishes the errors of status %s', (name, status, codes) => {
    const { content } = operationOf(name).responses[status] ?? {};
    expect(Object.keys(content?.['application/json']?.examples ?? {})).toEqual(codes);
  });

  test('has an example of a refusal that the endpoint can give', () => {
    const refusalOf = (name: string) => {
      const { content } = operationOf(name).responses[400] ?? {};
      const { invalid_request: example } = content?.['application/json']?.examples ?? {};
      return Object.values(example?.value ?? {})[1];
    };
    expect(refusalOf('put-vote')).toBe('vote must be true or false');
    expect(refusalOf('list-users')).toMatch(/^limit must be an integer/);
    expect(refusalOf('delete-review')).toMatch(/^If-Match must be/);
    expect(refusalOf('create-token')).toBe('grant_type is required');
    expect(refusalOf('export-me')).toMatch(/^cursor must be/);
  });

  test('describes every operation, and who helps', () => {
    const bare = Object.values(document.paths).flatMap((path) =>
      Object.values(path)
        .filter(({ operationId, description }) => operationId && !description)
        .map(({ operationId }) => operationId),
    );
    expect(bare).toEqual([]);
    expect(document.info.contact.url).toBe('https://api.example/ws/help');
    const { error } = document.components.schemas.OAuthError.properties;
    expect(error).toMatchObject({
      type: 'string',
      'x-extensible-enum': expect.arrayContaining(['invalid_grant', 'invalid_client']),
    });
  });

  test('documents the headers that clients act on', () => {
    const limited = 'WWW-Authenticate Retry-After RateLimit RateLimit-Policy';
    for (const [operations, status, headers] of [
      ['list-reviews list-users', '200', 'ETag Link'],
      ['list-reviews list-users list-revisions get-entity get-user', '304', 'ETag Link'],
      ['get-review', '304', 'ETag Link'],
      ['get-revision', '200', 'ETag'],
      ['get-revision', '304', 'ETag'],
      ['get-me', '200', ''],
      ['create-review', '200', 'Idempotent-Replayed ETag'],
      ['update-review', '200', 'ETag'],
      ['put-vote', '200', 'RateLimit RateLimit-Policy'],
      ['put-vote report-review create-review update-review', '403', limited],
      ['get-me', '401', 'WWW-Authenticate'],
      ['put-vote', '429', 'Retry-After'],
      ['put-vote', '503', 'Retry-After'],
    ] as const) {
      for (const name of operations.split(' ')) {
        const found = Object.keys(operationOf(name).responses[status]?.headers ?? {});
        expect([name, status, found.join(' ')]).toEqual([name, status, headers]);
      }
    }
  });
});

describe('the messages of webhooks', () => {
  const reviews = ['published', 'edited', 'voted', 'removed'].map((kind) => `review.${kind}`);
  const chosen = ['access.revoked', 'user.deleted', 'entity.edited', 'case.opened'];
  const others = [...chosen, 'log.restarted', 'webhook.test'];
  const webhooks = Object.entries(document.webhooks);

  test('are described by type', () => {
    expect(webhooks.map(([type]) => type)).toEqual([...reviews, ...others]);
    expect([...messageTypes].toSorted()).toEqual([...reviews, ...chosen].toSorted());
  });

  test.each(webhooks)('%s has headers, answers, and an example of its schema', (type, { post }) => {
    expect(post.parameters.map(({ name }) => name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
    expect(Object.keys(post.responses).toSorted()).toEqual(['2XX', '410', 'default']);
    const { schema, example } = post.requestBody.content['application/json'];
    const name = schema.$ref.split('/').at(-1) ?? '';
    expect(
      faultsOf((presented as Record<string, v.GenericSchema>)[name] ?? v.never(), example),
    ).toEqual([]);
    expect(example.type).toBe(type);
    expect(document.components.schemas).toHaveProperty(name);
  });
});

test('the code of an error is one of a list that may grow', () => {
  const { error } = document.components.schemas.Error.properties;
  expect(error.type).toBe('string');
  expect(error).not.toHaveProperty('enum');
  const known = error['x-extensible-enum'];
  expect(known).toContain('precondition_failed');
  const documented = operations.flatMap(({ responses, path }) =>
    path.startsWith('/oauth/')
      ? []
      : Object.values(responses).flatMap(({ content }) =>
          Object.keys(content?.['application/json']?.examples ?? {}),
        ),
  );
  expect(documented.filter((code) => !known.includes(code))).toEqual([]);
});

test('patterns need no properties of Unicode, which few validators know', () => {
  const patterns = JSON.stringify(document).match(/"pattern":"[^"]*"/g) ?? [];
  expect(patterns.length).toBeGreaterThan(3);
  expect(patterns.filter((pattern) => /\\p\{/i.test(pattern))).toEqual([]);
});

/** Generators of clients make a type of each schema. Few languages have a type for any schema. */
describe('schemas are what generators of clients understand', () => {
  interface Schema {
    type?: string | string[];
    format?: string;
    properties?: object;
    minimum?: number;
    maximum?: number;
    anyOf?: Schema[];
    oneOf?: Schema[];
    const?: unknown;
    enum?: unknown[];
    examples?: unknown[];
  }

  /** Every object of the document that is no example, by its place. */
  const schemas = new Map<string, Schema>();
  function collect(value: unknown, place: string): void {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) schemas.set(place, value);
    for (const [name, part] of Object.entries(value)) {
      if (!['example', 'examples'].includes(name)) collect(part, `${place}/${name}`);
    }
  }
  collect(document, '');

  /** Returns the places of schemas for which something is true. */
  const placesOf = (is: (schema: Schema, place: string) => boolean) =>
    [...schemas].filter(([place, schema]) => is(schema, place)).map(([place]) => place);

  const isNull = ({ type }: Schema) => type === 'null';
  const typesOf = ({ type }: Schema) => [type ?? []].flat();

  test('they are many', () => {
    expect(placesOf((schema) => typesOf(schema).includes('string')).length).toBeGreaterThan(200);
    expect(placesOf((schema) => schema.anyOf !== undefined).length).toBeGreaterThan(5);
  });

  test('a schema has one type, or one and null', () => {
    const isMixed = (schema: Schema) =>
      typesOf(schema).filter((type) => type !== 'null').length > 1 ||
      (schema.anyOf !== undefined && !(schema.anyOf.length === 2 && schema.anyOf.some(isNull)));
    expect(placesOf(isMixed)).toEqual([]);
  });

  test('only the type of a user is a text or an object, as the specification has it', () => {
    expect(placesOf((schema) => schema.oneOf !== undefined)).toEqual([
      '/components/schemas/OwnProfileIncluding/properties/user_type',
    ]);
  });

  test('no properties depend on alternatives beside them', () => {
    const hasBoth = (schema: Schema) =>
      schema.properties !== undefined &&
      ['anyOf', 'oneOf', 'allOf', 'not', 'if'].some((name) => name in schema);
    expect(placesOf(hasBoth)).toEqual([]);
  });

  test('a list of values has a type', () => {
    const hasValues = (schema: Schema) => 'const' in schema || Array.isArray(schema.enum);
    expect(placesOf((each) => hasValues(each) && typesOf(each).length === 0)).toEqual([]);
  });

  test('an integer that may exceed 32 bits has 64', () => {
    const isLong = ({ maximum = 0, examples = [] }: Schema) =>
      [maximum, ...examples].some((number) => Number(number) > 2_147_483_647);
    const long = placesOf((schema) => typesOf(schema).includes('integer') && isLong(schema));
    expect(long.length).toBeGreaterThan(5);
    const named = placesOf(
      (schema, place) => /\/(version|offset)$/.test(place) && schema.type === 'integer',
    );
    expect(named.length).toBeGreaterThan(5);
    const of64 = placesOf(({ format }) => format === 'int64');
    expect(of64).toEqual(expect.arrayContaining([...long, ...named]));
    for (const { post } of Object.values(document.webhooks)) {
      const time = post.parameters.find(({ name }) => name === 'webhook-timestamp');
      expect(time?.schema).toEqual({ type: 'integer', format: 'int64' });
    }
  });

  test('only an average is no integer', () => {
    expect(placesOf((schema) => typesOf(schema).includes('number'))).toEqual([
      '/components/schemas/AverageRating/properties/rating',
    ]);
  });

  test('an integer in a request has a range', () => {
    const sent = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.map(({ name, schema }) => ({ name: `${operationId} ${name}`, schema })),
    );
    const integers = sent.filter(({ schema }) => schema.type === 'integer');
    expect(integers.length).toBeGreaterThan(8);
    for (const { name, schema } of integers) {
      expect([name, typeof schema.minimum, typeof schema.maximum]).toEqual([
        name,
        'number',
        'number',
      ]);
    }
  });

  test('no scheme of security has the name of what generators make', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['oauth2', 'bearer', 'basic']);
  });
});

describe('GET /openapi.json', () => {
  test('contains the address of the service, and is cacheable for an hour', async () => {
    process.env.AUTH_URL = 'http://localhost:4000/ws';
    const { status, headers, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['cache-control']).toBe('public, max-age=3600');
    expect(body.servers[0].url).toBe('http://localhost:4000/ws/1');
    expect(body.components.securitySchemes.oauth2.flows.authorizationCode).toEqual({
      authorizationUrl: 'http://localhost:4000/ws/oauth/authorize',
      tokenUrl: 'http://localhost:4000/ws/1/oauth/token',
      refreshUrl: 'http://localhost:4000/ws/1/oauth/token',
      scopes: { review: expect.any(String), vote: expect.any(String), user: expect.any(String) },
    });
    const { servers } = body.paths['/.well-known/oauth-authorization-server'];
    expect(servers).toEqual([{ url: 'http://localhost:4000/ws' }]);
    expect(JSON.stringify(body)).not.toContain('api.example');
  });

  test('returns 304 to a client that has it', async () => {
    const { headers } = await invoke(handler);
    const again = await invoke(handler, { headers: { 'If-None-Match': `${headers.etag}` } });
    expect(again).toHaveStatus(304);
    expect(again.body).toBe('');
  });
});
