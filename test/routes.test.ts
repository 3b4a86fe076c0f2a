import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { handler as noRoute } from '../functions/api/no-route.ts';
import { importFunction } from '../infra/functions.ts';
import { type Route, routes } from '../shared/base/routes.ts';
import { matchRoute, resourceOf } from '../shared/core/http/match-route.ts';
import { consumers, schedules } from '../shared/features/background.ts';
import { invoke } from './helpers/invoke.ts';

const operations = routes.map(({ operation }) => operation);
const background = [...consumers, ...schedules].map(({ operation }) => operation);

/** Paths beside the versioned API that programs read. All others are pages for people. */
const forPrograms = [
  '/health',
  '/oembed',
  '/sitemap.xml',
  '/.well-known/oauth-authorization-server',
];

function isForPrograms(route: Route): boolean {
  const resource = resourceOf(route);
  return resource.startsWith('/1/') || forPrograms.includes(resource);
}

const inFolder = (folder: string, names: readonly string[]) =>
  names.map((name) => `${folder}/${name}.ts`);

test('every operation has a file under functions/, in the folder of its kind, and every file is one', () => {
  const folder = new URL('../functions', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const namesOf = (some: readonly Route[]) => some.map(({ operation }) => operation);
  const expected = [
    ...inFolder('api', namesOf(routes.filter(isForPrograms))),
    ...inFolder('api', ['authorizer', 'no-route']),
    ...inFolder('background', background),
    ...inFolder('pages', namesOf(routes.filter((route) => !isForPrograms(route)))),
  ];
  expect(files.toSorted()).toEqual([...expected, 'api', 'background', 'pages'].toSorted());
});

/**
 * Method, path, access and table right of the whole API, and who asks other databases. They are
 * section 4 of the specification, revocation (RFC 7009), the description, and everything beside the
 * version. Typed by hand, because a table that is derived from the routes would prove nothing.
 */
const contract = `
  GET    /1/review/languages                                public  none
  GET    /1/review                                          public  public
  POST   /1/review                                          review  write
  GET    /1/review/{review_id}/revisions/{rev}              public  public
  GET    /1/review/{review_id}/revisions                    public  public
  POST   /1/review/{review_id}/report                       vote    write
  GET    /1/review/{review_id}/vote                         vote    read
  PUT    /1/review/{review_id}/vote                         vote    write
  DELETE /1/review/{review_id}/vote                         vote    write
  GET    /1/review/{review_id}                              public  public
  DELETE /1/review/{review_id}                              review  write
  POST   /1/review/{review_id}                              review  write
  GET    /1/changes                                         public  public
  GET    /1/reviews                                         public  public
  GET    /1/reviews.atom                                    public  public
  GET    /1/entity                                          public  public
  POST   /1/entity                                          review  write
  GET    /1/entity/{entity_id}                              public  public
  GET    /1/entity/{entity_id}/reviews.atom                 public  public
  GET    /1/entities                                        public  public
  GET    /1/user/me/applications                            token   read
  GET    /1/user/me/reviews                                 token   read
  GET    /1/user/me/tokens                                  token   read
  GET    /1/user/me/export                                  user    read
  GET    /1/user/me                                         token   read
  POST   /1/user/me                                         user    write
  DELETE /1/user/me                                         user    write
  GET    /1/user                                            public  public
  GET    /1/user/{user_id}                                  public  public
  GET    /1/user/{user_id}/reviews.atom                     public  public
  POST   /1/oauth/token                                     public  write
  POST   /1/oauth/revoke                                    public  write
  GET    /1/openapi.json                                    public  none

  GET    /review/new                                        public  read+asks
  POST   /review/new                                        public  write
  GET    /reviews                                           public  public
  GET    /things                                            public  public
  GET    /find                                              public  public+asks
  GET    /sitemap.xml                                       public  public
  GET    /review/{review_id}                                public  public
  GET    /review/{review_id}/edit                           public  read
  POST   /review/{review_id}/edit                           public  write
  GET    /review/{review_id}/delete                         public  read
  POST   /review/{review_id}/delete                         public  write
  GET    /review/{review_id}/revisions                      public  public
  GET    /review/{review_id}/report                         public  read
  POST   /review/{review_id}/report                         public  write
  GET    /review/{review_id}/vote                           public  read
  POST   /review/{review_id}/vote                           public  write
  GET    /entity/new                                        public  read
  POST   /entity/new                                        public  write
  GET    /entity/{entity_id}/name                           public  read+asks
  POST   /entity/{entity_id}/name                           public  write
  GET    /entity/{entity_id}                                public  public
  GET    /account/moderation/names/{entity_id}              public  read
  POST   /account/moderation/names/{entity_id}              public  write
  GET    /account/moderation/things/{entity_id}             public  read
  POST   /account/moderation/things/{entity_id}             public  write
  GET    /entity/{entity_id}/embed                          public  public
  GET    /oembed                                            public  public
  GET    /user/{user_id}                                    public  public
  GET    /health                                            public  public
  GET    /.well-known/oauth-authorization-server            public  none
  GET    /docs                                              public  public
  GET    /docs/api                                          public  public
  GET    /docs/api/{group}                                  public  public
  GET    /docs/{guide}                                      public  public
  GET    /help                                              public  public
  GET    /pages/{slug}                                      public  public
  GET    /logo                                              public  none
  GET    /join/{invitation}                                 public  read
  GET    /mails/{token}                                     public  public
  POST   /mails/{token}                                     public  write
  GET    /oauth/authorize                                   public  write
  POST   /oauth/authorize                                   public  write
  GET    /account/sign-in                                   public  none
  GET    /account/callback                                  public  write
  GET    /account/sign-out                                  public  read
  POST   /account/sign-out                                  public  write
  GET    /account                                           public  write
  POST   /account                                           public  write
  GET    /account/names                                     public  read
  GET    /account/reviews                                   public  read
  GET    /account/votes                                     public  read
  GET    /account/data                                      public  read
  GET    /account/files                                     public  read
  POST   /account/files                                     public  write
  GET    /account/files/{slot}                              public  read
  POST   /account/files/{slot}                              public  write
  GET    /account/address                                   public  read
  POST   /account/address                                   public  read
  GET    /account/address/{move}                            public  public
  POST   /account/address/{move}                            public  write
  GET    /account/delete                                    public  read
  POST   /account/delete                                    public  write
  GET    /account/applications                              public  read
  POST   /account/applications                              public  write
  GET    /account/applications/{client_id}                  public  read
  POST   /account/applications/{client_id}                  public  write
  POST   /account/applications/{client_id}/secret           public  write
  POST   /account/applications/{client_id}/revoke           public  write
  POST   /account/applications/{client_id}/delete           public  write
  POST   /account/applications/{client_id}/webhooks         public  write
  GET    /account/applications/{client_id}/webhooks/{webhook_id} public  read
  POST   /account/applications/{client_id}/webhooks/{webhook_id} public  write
  GET    /                                                  public  public
  GET    /account/connections                               public  read
  POST   /account/connections/{client_id}/revoke            public  write
  GET    /account/tokens                                    public  read
  POST   /account/tokens                                    public  write
  POST   /account/tokens/{token_id}/revoke                  public  write
  GET    /account/moderation                                public  read
  GET    /account/moderation/invitations                    public  read
  POST   /account/moderation/invitations                    public  write
  POST   /account/moderation/invitations/{invitation_id}/revoke public  write
  GET    /account/moderation/log                            public  read
  POST   /account/moderation/log                            public  write
  GET    /account/moderation/reviews/{review_id}            public  read
  POST   /account/moderation/reviews/{review_id}            public  write
  GET    /account/moderation/users/{user_id}                public  read
  POST   /account/moderation/users/{user_id}                public  write
  POST   /account/reviews/{review_id}/appeal                public  write
`;

test('every route is in the contract, with who may call it and what it may do to the table, and nothing of the contract is missing', () => {
  const lines = contract.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
  const found = routes.map((route) => {
    const rights = route.table + (route.asks ? '+asks' : '');
    return `${route.method} ${resourceOf(route)} ${route.access} ${rights}`;
  });
  expect(found.toSorted()).toEqual(lines.filter((line) => line !== '').toSorted());
});

test('no operation, and no method of a path, is there twice', () => {
  const names = [...operations, ...background];
  expect(new Set(names).size).toBe(names.length);
  const resources = routes.map((route) => `${route.method} ${resourceOf(route)}`);
  expect(new Set(resources).size).toBe(resources.length);
});

test.each(routes.map((route) => [`${route.method} ${resourceOf(route)}`, route] as const))(
  '%s leads to its own operation',
  (_, route) => {
    // No templated path before it takes its place; and the slash at the end makes no difference.
    for (const path of [resourceOf(route), `${resourceOf(route)}/`, `/${resourceOf(route)}`]) {
      expect(matchRoute(route.method, path)?.route.operation).toBe(route.operation);
    }
    expect(resourceOf(route)).toMatch(/^(\/|(\/[a-z0-9.-]+|\/\{[a-z_]+\})+)$/);
  },
);

test.each(routes)(
  'functions/$operation.ts has a handler, and says what it reads',
  async (route) => {
    const module = await importFunction(route.operation);
    expect(typeof module.handler).toBe('function');
    // Pages and the endpoints that take a form read theirs by themselves.
    const isJson = route.base === undefined && !route.path.startsWith('/oauth/');
    if (isJson) expect(module.request).toHaveProperty('entries');
    const isDescribed = route.base === undefined || route.operation === 'get-server-metadata';
    expect(module.response?.kind).toBe(isDescribed ? 'schema' : undefined);
  },
);

describe('a path parameter that cannot name anything is 404, and the answer says what is not there', () => {
  const valid = { review_id: randomUUID(), user_id: randomUUID(), rev: '1' };
  const nouns = { entity_id: 'Entity', review_id: 'Review', user_id: 'User', rev: 'Revision' };
  const caller = { user_id: randomUUID(), client_id: '0'.repeat(32), scope: '' };
  const parameters = routes
    .filter(({ base }) => base === undefined)
    .flatMap((route) =>
      [...route.path.matchAll(/\{(\w+)\}/g)].map(
        ([, name]) => [`${route.method} ${route.path}`, name as keyof typeof nouns, route] as const,
      ),
    );

  test.each(parameters)('%s: %s', async (_, name, { operation, method }) => {
    const { handler } = await importFunction(operation);
    for (const sent of ['x', '']) {
      const path = { ...valid, [name]: sent };
      const { status, body } = await invoke(handler, { method, path, caller });
      const error = { error: 'not_found', description: `${nouns[name]} not found` };
      expect([status, body]).toEqual([404, error]);
    }
  });
});

const guarded = routes.filter(({ access }) => access !== 'public');

test.each(guarded)('$method $path refuses a request without a caller: 401', async (route) => {
  const { handler } = await importFunction(route.operation);
  const path = { review_id: randomUUID() };
  expect(await invoke(handler, { method: route.method, path, body: {} })).toMatchObject({
    status: 401,
    body: { error: 'not_authorized' },
    headers: { 'www-authenticate': expect.stringMatching(/^Bearer /) },
  });
});

describe('what is no route', () => {
  test.each(['11', '1/nothing', '1/review/x/y', 'review', '1/Review', '2/review'])(
    '%j: 404',
    async (proxy) => {
      const { status, body } = await invoke(noRoute, { path: { proxy } });
      const error = { error: 'not_found', description: 'Path not found' };
      expect([status, body]).toEqual([404, error]);
    },
  );

  test.each([
    ['release-group', 'release_group'],
    ['artist', 'artist'],
    ['author', 'bk_author'],
    ['edition-group', 'bk_edition_group'],
    ['literary-work', 'bk_literary_work'],
  ])('an address of CritiqueBrainz leads on: /%s/{id}', async (type, entity_type) => {
    const id = randomUUID();
    for (const proxy of [`${type}/${id}`, `${type}/${id}/`]) {
      const { status, headers } = await invoke(noRoute, { path: { proxy } });
      const location = `https://api.example/ws/entity/${id}?entity_type=${entity_type}`;
      expect([status, headers.location]).toEqual([302, location]);
    }
    const others = [`${type}/x`, `${type}/${id}/more`, `${type}s/${id}`, `1/${type}/${id}`];
    for (const proxy of others) {
      expect(await invoke(noRoute, { path: { proxy } })).toHaveStatus(404);
    }
    const post = await invoke(noRoute, { method: 'POST', path: { proxy: `${type}/${id}` } });
    expect(post).toHaveStatus(404);
  });

  test.each([
    ['1/review', 'GET, HEAD, POST'],
    ['1/review/', 'GET, HEAD, POST'],
    ['1/reviews', 'GET, HEAD'],
    ['1/review/x/vote', 'GET, PUT, DELETE'],
    ['1/review/languages', 'GET, HEAD'],
    ['1/user/me', 'GET, POST, DELETE'],
    ['1/user/x', 'GET, HEAD'],
    ['1/oauth/token', 'POST'],
    ['oauth/authorize', 'GET, HEAD, POST'],
  ])('a known path with another method, %s: 405', async (proxy, allow) => {
    const { status, headers, body } = await invoke(noRoute, { path: { proxy }, method: 'PATCH' });
    expect([status, body.error]).toEqual([405, 'method_not_allowed']);
    expect(headers.allow).toBe(allow);
  });

  // What API Gateway takes for no route, and hands over decoded: `%72eview`.
  test.each(['1/review', '1/review/languages'])(
    'a known path that was sent with needless escapes, %s: 404',
    async (proxy) => {
      for (const method of ['GET', 'HEAD']) {
        const { status } = await invoke(noRoute, { path: { proxy }, method });
        expect(status).toBe(404);
      }
    },
  );

  const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

  test.each<[string, string, number, string]>([
    ['account/typo', 'GET', 404, ''],
    ['account/applications/x/y', 'GET', 404, ''],
    ['/oauth', 'GET', 404, ''],
    ['oauth/typo/', 'POST', 404, ''],
    ['accounts', 'GET', 404, ''],
    ['x/account', 'GET', 404, ''],
    ['10/review', 'GET', 404, ''],
    ['account/connections/x/revoke', 'GET', 405, 'POST'],
    ['account/connections/x/revoke', 'PUT', 405, 'POST'],
  ])('%s below the pages, %s: %i on a page for a browser', async (proxy, method, status, allow) => {
    const asked = await invoke(noRoute, { path: { proxy }, method, headers: browser });
    expect(asked).toHaveStatus(status);
    expect(asked.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
      'x-frame-options': 'DENY',
    });
    expect(asked.headers.allow ?? '').toBe(allow);
    expect(asked.body).toContain('<h1>Page not found</h1>');
    expect(asked.body).toContain('href="https://api.example/ws/account"');
    // Others say nothing of HTML.
    const rest: Record<string, string>[] = [{}, { Accept: '*/*' }, { accept: 'application/json' }];
    for (const headers of rest) {
      const { body, ...answer } = await invoke(noRoute, { path: { proxy }, method, headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json']);
      expect(body.error).toBe(status === 404 ? 'not_found' : 'method_not_allowed');
    }
  });

  test.each(['1', '1/', '/1//'])('the base URL leads to the reference, as %j', async (proxy) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await invoke(noRoute, { path: { proxy }, method });
      expect([status, headers.location]).toEqual([302, 'https://api.example/ws/docs']);
    }
    const { status } = await invoke(noRoute, { path: { proxy }, method: 'POST' });
    expect(status).toBe(404);
  });

  test.each(['1/typo', '/1/account', '1/oauth/typo'])(
    '%j: 404 in JSON for a browser as well',
    async (proxy) => {
      const { status, body } = await invoke(noRoute, { path: { proxy }, headers: browser });
      expect([status, body.error]).toEqual([404, 'not_found']);
    },
  );

  test('the root with another method: 405', async () => {
    const { status, headers } = await invoke(noRoute, { method: 'POST' });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
