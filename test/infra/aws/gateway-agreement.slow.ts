import { GatewayError, render } from '../../../infra/local/gateway-response.ts';
import { resourceOf } from '../../../shared/http/match-route.ts';
import { routes } from '../../../shared/routes.ts';
import { functionNameOf } from '../../helpers/aws/checks.ts';
import { type Definition, definitionIn, type Operation } from '../../helpers/aws/definition.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import {
  allow,
  authorizerEvents,
  events,
  handlers,
  origin,
  policy,
  review,
} from '../../helpers/gateway.ts';

const definition = definitionIn((await synthesized()).plain.service);

/**
 * Returns the methods that API Gateway may take for a request: that of the most fixed path, if it
 * has one, and otherwise that of all other paths. AWS does not say whether a path with a parameter
 * comes in between.
 */
function methodsFor(method: string, path: string): (Operation | undefined)[] {
  const segments = path.split('/').filter(Boolean);
  const [first = {}, ...others] = Object.entries(definition.paths)
    .filter(([template]) => matches(template.split('/').filter(Boolean), segments))
    .sort(([a], [b]) => looseness(a) - looseness(b))
    .map(([, item]) => item);
  const own = (item: Record<string, Operation>) =>
    item[method.toLowerCase()] ?? item['x-amazon-apigateway-any-method'];
  return own(first) ? [own(first)] : others.map(own).filter((found) => found !== undefined);
}

const methodFor = (method: string, path: string) => methodsFor(method, path).at(-1);

function matches(template: string[], segments: string[]) {
  if (template[0] === '{proxy+}') return segments.length > 0;
  if (template.length !== segments.length) return false;
  return template.every((name, i) => name.startsWith('{') || name === segments[i]);
}

function looseness(template: string) {
  if (template === '/{proxy+}') return 100;
  return template.split('{').length;
}

/** Returns the function that a method calls, by the name of its Lambda. */
function operationOf(method: Operation | undefined) {
  const { uri = '' } = method?.['x-amazon-apigateway-integration'] ?? {};
  return /:function:review-service-([\w-]+)\/invocations$/.exec(uri)?.[1];
}

const paths = [
  ...new Set([
    ...routes.flatMap((route) => {
      const path = resourceOf(route).replaceAll(/{\w+}/g, review);
      return [path, `${path.replace(/\/$/, '')}/`];
    }),
    ...Object.keys(definition.paths).map((path) => path.replaceAll(/{\w+\+?}/g, review)),
    '/1/review/languages/more',
    '/1/nothing',
    '/nothing/at/all',
  ]),
];
/** Requests that a path with a parameter takes, if API Gateway asks it. It is 404 or 405. */
const undocumented: Record<string, string[]> = {
  HEAD: ['/1/user/me'],
  POST: ['/1/review/languages'],
  DELETE: ['/1/review/languages'],
};
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

describe('the local gateway and the definition agree', () => {
  test.each(methods)(
    'on the function of %s, and on its authorizer, for each path',
    async (method) => {
      const differences: unknown[] = [];
      const uncertain: string[] = [];
      for (const path of paths) {
        const [expected, ...others] = methodsFor(method, path);
        if (others.length > 0) {
          uncertain.push(path);
          continue;
        }
        const isGuarded = (expected?.security ?? []).some((each) => 'accessToken' in each);
        const asked: string[] = [];
        handlers.authorizer = allow;
        for (const { operation } of [...routes, { operation: 'no-route' }]) {
          handlers[operation] = () => {
            asked.push(functionNameOf(operation));
            return { statusCode: 200, body: '' };
          };
        }
        authorizerEvents.length = 0;
        const headers = { Authorization: 'Bearer t' };
        const { status } = await fetch(`${origin}/ws${path}`, { method, headers });
        const called = operationOf(expected);
        const seen = { path, asked, isGuarded: authorizerEvents.length === 1, status };
        const wanted = {
          path,
          asked: called === undefined ? [] : [called],
          isGuarded,
          status: called === undefined ? 204 : 200,
        };
        if (JSON.stringify(seen) !== JSON.stringify(wanted)) differences.push({ seen, wanted });
      }
      expect(differences).toEqual([]);
      expect(uncertain.filter((path) => !path.endsWith('/'))).toEqual(undocumented[method] ?? []);
      expect(paths.length).toBeGreaterThan(150);
    },
  );

  test('on who is refused without a token', async () => {
    for (const { path, ...route } of routes) {
      const url = `${origin}/ws${resourceOf({ ...route, path }).replaceAll(/{\w+}/g, review)}`;
      const { status } = await fetch(url, { method: route.method });
      const guards = methodFor(route.method, new URL(url).pathname.slice(3))?.security;
      expect([url, status]).toEqual([url, guards === undefined ? 200 : 401]);
    }
  });

  test('on the answer to a preflight', async () => {
    const response = await fetch(`${origin}/ws/1/review`, { method: 'OPTIONS' });
    const { responses = {} } =
      definition.paths['/1/review']?.options?.['x-amazon-apigateway-integration'] ?? {};
    const [{ statusCode, responseParameters } = { statusCode: '', responseParameters: {} }] =
      Object.values(responses);
    expect(`${response.status}`).toBe(statusCode);
    for (const [name, value] of Object.entries(responseParameters)) {
      const header = name.replace('method.response.header.', '');
      expect([header, response.headers.get(header)]).toEqual([header, value.slice(1, -1)]);
    }
  });

  const answers = definition['x-amazon-apigateway-gateway-responses'];

  test.each([
    ['text/plain', false],
    ['application/json', true],
    ['application/json; charset=utf-8', true],
  ])('on a preflight with %s, which has no template for other content', async (type, isRead) => {
    const headers = { 'Content-Type': type };
    const { status } = await fetch(`${origin}/ws/1/review`, { method: 'OPTIONS', headers });
    const mock = definition.paths['/1/review']?.options?.['x-amazon-apigateway-integration'];
    expect(mock?.passthroughBehavior).toBe('never');
    expect(Object.keys(mock?.requestTemplates ?? {})).toEqual(['application/json']);
    expect(status).toBe(isRead ? 204 : Number(answers.UNSUPPORTED_MEDIA_TYPE?.statusCode));
  });

  test.each(Object.entries(answers))('on the error %s', (type, answer) => {
    process.env.AUTH_URL = 'https://reviews.example.org/ws';
    const authorizer = { description: 'The scope is missing', challenge: 'unused' };
    const given = render(new GatewayError(type, { authorizer, status: 418 }), 'r-1');
    const wanted = rendered(answer, { requestId: 'r-1', authorizer });
    // The local gateway names the scope in a header, which is an option on AWS.
    const named = type === 'ACCESS_DENIED' ? { 'WWW-Authenticate': authorizer.challenge } : {};
    expect(given).toEqual({ ...wanted, headers: { ...wanted.headers, ...named } });
    expect(given.statusCode).toBe(Number(answer.statusCode ?? 418));
  });

  test('on the errors of a request that they refuse', async () => {
    const url = `${origin}/ws/1/review/${review}/vote`;
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(url, { method: 'PUT', headers });
      return { status: response.status, body: await response.json() };
    };
    const answerOf = (type: string) => {
      const { statusCode, responseTemplates } = answers[type] ?? {};
      return {
        status: Number(statusCode),
        body: JSON.parse(`${responseTemplates?.['application/json']}`),
      };
    };
    expect(await ask({})).toEqual(answerOf('UNAUTHORIZED'));
    const description = '$context.authorizer.description';
    handlers.authorizer = () => policy('Deny', '*', { description, challenge: 'x' });
    expect(await ask({ Authorization: 'Bearer t' })).toEqual(answerOf('ACCESS_DENIED'));
    handlers.authorizer = () => Promise.reject(new Error('broken'));
    const { status, body } = await ask({ Authorization: 'Bearer t' });
    const failure = answerOf('AUTHORIZER_FAILURE');
    const request_id = expect.any(String);
    expect({ status, body }).toEqual({ ...failure, body: { ...failure.body, request_id } });
    expect(events).toEqual([]);
  });
});

/** Renders a response as API Gateway does, which replaces variables by their values alone. */
function rendered(
  answer: Definition['x-amazon-apigateway-gateway-responses'][string],
  context: { requestId: string; authorizer: Record<string, string> },
) {
  const mapped = Object.entries(answer.responseParameters).map(([name, value]) => [
    name.replace('gatewayresponse.header.', ''),
    value.slice(1, -1),
  ]);
  return {
    statusCode: Number(answer.statusCode ?? 418),
    headers: Object.fromEntries(mapped),
    body: `${answer.responseTemplates['application/json']}`
      .replace('$context.requestId', context.requestId)
      .replace('$context.authorizer.description', `${context.authorizer.description}`),
  };
}
