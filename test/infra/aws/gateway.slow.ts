import { gatewayResponses, tokenExpression } from '../../../infra/gateway-responses.ts';
import { GatewayError, render } from '../../../infra/local/gateway/gateway-response.ts';
import { routes } from '../../../shared/base/routes.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import {
  functionNameOf,
  only,
  resources,
  textOf,
  theOne,
  variables,
} from '../../helpers/aws/checks.ts';
import {
  apiOf,
  calledBy,
  type Definition,
  definitionIn,
  type Operation,
} from '../../helpers/aws/definition.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { allow, authorizerEvents, handlers, origin, review } from '../../helpers/gateway.ts';

const { plain, everything } = await synthesized();
const { data, service } = plain;
const definition = definitionIn(service);

describe('the API', () => {
  const answers = Object.entries(definition['x-amazon-apigateway-gateway-responses']);

  test('keeps the id under which it was deployed first, which its address begins with', () => {
    expect(apiOf(service).id).toBe('ApiRestApiE35FEAFE');
  });
  test('is replaced as a whole, or not at all if API Gateway does not understand a part', () => {
    expect(apiOf(service).Properties).toMatchObject({ Mode: 'overwrite', FailOnWarnings: true });
  });
  test('goes live after its functions, and after the right to call them', () => {
    const [, { DependsOn }] = theOne(plain.parts.service, 'AWS::ApiGateway::Deployment');
    const ids = (type: string) => resources(plain.parts.service, type).map(([id]) => id);
    const caller = ids('AWS::IAM::Role').filter((id) => id.startsWith('ApiCaller'));
    const before = [...ids('AWS::CloudFormation::Stack'), ...caller];
    expect(DependsOn).toEqual(expect.arrayContaining(before));
    expect(before).toHaveLength(4);
  });
  test('compresses responses from one kilobyte on, and treats nothing as binary', () => {
    expect(apiOf(service).Properties.MinimumCompressionSize).toBe(1024);
    expect(definition['x-amazon-apigateway-minimum-compression-size']).toBe(1024);
    expect(apiOf(service).Properties.BinaryMediaTypes).toBeUndefined();
    expect(Object.keys(definition)).not.toContain('x-amazon-apigateway-binary-media-types');
  });
  test('calls the authorizer only for values that look like tokens', () => {
    const { accessToken } = definition.components.securitySchemes;
    expect(accessToken).toMatchObject({
      name: 'Authorization',
      'x-amazon-apigateway-authorizer': { identityValidationExpression: tokenExpression },
    });
  });
  test('makes browsers use HTTPS alone, and lets any origin read, in all its own responses', () => {
    for (const [, { responseParameters }] of answers) {
      expect(responseParameters).toMatchObject({
        'gatewayresponse.header.Strict-Transport-Security': "'max-age=31536000'",
        'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
      });
    }
  });
  test('returns our error shape in all its own responses', () => {
    expect(answers.map(([type]) => type).sort()).toEqual(
      gatewayResponses.map(({ type }) => type).sort(),
    );
    for (const [, { responseTemplates }] of answers) {
      expect(JSON.parse(`${responseTemplates['application/json']}`)).toMatchObject({
        error: expect.any(String),
        description: expect.any(String),
      });
    }
  });
  test('challenges requests with a missing or bad token (RFC 6750)', () => {
    for (const [type, statusCode, error] of [
      ['UNAUTHORIZED', '401', 'invalid_token'],
      ['ACCESS_DENIED', '403', 'insufficient_scope'],
    ]) {
      expect(Object.fromEntries(answers)[`${type}`]).toMatchObject({
        statusCode,
        responseParameters: {
          'gatewayresponse.header.WWW-Authenticate': `'Bearer realm="review", error="${error}"'`,
        },
      });
    }
  });
  test('may write its log', () => {
    const { CloudWatchRoleArn } = only(service, 'AWS::ApiGateway::Account');
    const [role] = CloudWatchRoleArn['Fn::GetAtt'];
    expect(JSON.stringify(service.Resources[role]?.Properties.ManagedPolicyArns)).toContain(
      'AmazonAPIGatewayPushToCloudWatchLogs',
    );
  });
  test('has a user pool that redirects only to our pages', () => {
    const callback = `${textOf(variables(service, 'sign-in').AUTH_URL)}/account/callback`;
    const [id, { Properties: client }] = theOne(service, 'AWS::Cognito::UserPoolClient');
    expect(client.CallbackURLs.map(textOf)).toEqual([callback]);
    expect(client).toMatchObject({
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      GenerateSecret: true,
    });
    expect(only(service, 'AWS::Cognito::ManagedLoginBranding')).toMatchObject({
      ClientId: { Ref: id },
      UseCognitoProvidedValues: true,
    });
    expect(only(data, 'AWS::Cognito::UserPoolDomain').ManagedLoginVersion).toBe(2);
  });
  test('knows its own address, whatever the domain', () => {
    expect(JSON.stringify(variables(service, 'sign-in').AUTH_URL)).toContain('/ws');
    expect(variables(everything.service, 'sign-in')).toMatchObject({
      AUTH_URL: 'https://reviews.example.org/ws',
      OIDC_ISSUER: 'https://id.example.org',
    });
    expect(only(everything.service, 'AWS::ApiGateway::BasePathMapping').BasePath).toBe('ws');
    expect(resources(everything.data, 'AWS::Cognito::UserPool')).toEqual([]);
  });
});

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

/** Returns the function that a method calls, without the name of the service. */
function operationOf(method: Operation | undefined) {
  const integration = method?.['x-amazon-apigateway-integration'];
  if (integration?.type !== 'aws_proxy') return undefined;
  return calledBy(integration.uri).replace('review-service-', '');
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
    const { headers } = await fetch(`${origin}/ws/1/review`, { method: 'OPTIONS' });
    const preflight = definition.paths['/1/review']?.options?.['x-amazon-apigateway-integration'];
    if (preflight?.type !== 'mock') throw new Error('API Gateway answers a preflight itself');
    for (const [name, value] of Object.entries(preflight.responses.default.responseParameters)) {
      const header = name.replace('method.response.header.', '');
      expect([header, headers.get(header)]).toEqual([header, value.slice(1, -1)]);
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
