import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { handler as noRoute } from '../functions/no-route.ts';
import { consumers, schedules } from '../shared/background.ts';
import { matchRoute, resourceOf } from '../shared/http/match-route.ts';
import { routes } from '../shared/routes.ts';
import { invoke } from './invoke.ts';

const background = [...consumers, ...schedules].map(({ operation }) => operation);

test('every operation has a file under functions/, and every file is one', () => {
  const files = readdirSync(new URL('../functions', import.meta.url));
  const operations = routes.map(({ operation }) => operation);
  const expected = [...operations, ...background, 'authorizer', 'no-route'];
  expect(files.toSorted()).toEqual(expected.map((operation) => `${operation}.ts`).toSorted());
});

test('no operation, and no method of a path, is there twice', () => {
  const names = [...routes.map(({ operation }) => operation), ...background];
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
    expect(resourceOf(route)).toMatch(/^(\/[a-z0-9.-]+|\/\{[a-z_]+\})+$/);
  },
);

test.each(routes)(
  'functions/$operation.ts has a handler, and says what it reads',
  async (route) => {
    const module = await import(`../functions/${route.operation}.ts`);
    expect(typeof module.handler).toBe('function');
    // Pages and the endpoints that take a form read theirs by themselves.
    const isJson = route.base === undefined && !route.path.startsWith('/oauth/');
    if (isJson) expect(module.request).toHaveProperty('entries');
  },
);

describe('what is no route', () => {
  test.each(['', '1', '1/nothing', '1/review/x/y', 'review', '1/Review', '2/review'])(
    '%j: 404',
    async (proxy) => {
      const { status, body } = await invoke(noRoute, { path: { proxy } });
      expect(status).toBe(404);
      expect(body).toEqual({ error: 'not_found', description: 'Path not found' });
    },
  );

  test.each([
    ['1/review', 'GET, HEAD, POST'],
    ['1/review/', 'GET, HEAD, POST'],
    ['1/reviews', 'GET, HEAD'],
    ['1/review/x/vote', 'GET, PUT, DELETE'],
    ['1/review/languages', 'GET, HEAD, POST, DELETE'],
    ['1/user/me', 'GET, POST, DELETE'],
    ['1/user/x', 'GET, HEAD'],
    ['1/oauth/token', 'POST'],
    ['oauth/authorize', 'GET, HEAD, POST'],
  ])('a known path with another method, %s: 405', async (proxy, allow) => {
    const { status, headers, body } = await invoke(noRoute, { path: { proxy }, method: 'PATCH' });
    expect([status, body.error]).toEqual([405, 'method_not_allowed']);
    expect(headers.allow).toBe(allow);
  });

  test('the root: 404', async () => {
    expect((await invoke(noRoute)).status).toBe(404);
  });
});
