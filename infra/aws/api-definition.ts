import { type Route, version } from '../../shared/base/routes.ts';
import { methodsOf, resourceOf } from '../../shared/core/http/match-route.ts';
import { preflightHeaders, strictTransport } from '../../shared/core/http/response.ts';
import { gatewayResponses, literals, tokenExpression } from '../gateway-responses.ts';
import { groupOf } from './function-groups.ts';
import type { Options } from './options.ts';

/** Calls of functions by API Gateway. */
export interface Calls {
  /** The role that API Gateway takes on for it. */
  credentials: string;
  /** Takes the name of a function, see `groupOf`. */
  uriOf(name: string): string;
}

/** Bytes from which on a response is compressed for a client that accepts it. */
export const minimumCompressionSize = 1024;

/**
 * The challenge of a 403. A literal, because API Gateway does not document a mapping of the missing
 * scope, and one that it rejects would fail the deployment. The body names the scope.
 */
const challenge = `'Bearer realm="review", error="insufficient_scope"'`;

/**
 * Returns the whole REST API as one OpenAPI 3.0 document with the extensions of API Gateway, which
 * imports it by one call. What is not in it, API Gateway forgets. It describes nothing for people:
 * that is /openapi.json.
 */
export function apiDefinition(
  routes: readonly Route[],
  calls: Calls,
  options: Pick<Options, 'name' | 'cdn' | 'domain' | 'openAddress'>,
) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const path of pathsOf(routes)) paths[path] = { options: preflight(path) };
  const guards = (access: Route['access']) => {
    const token = access === 'public' ? [] : [{ accessToken: [] }];
    // API Gateway demands all of these, although OpenAPI would demand one.
    return demandsKey(options) ? [...token, { apiKey: [] }] : token;
  };
  const add = (path: string, method: string, name: string, access: Route['access']) => {
    const security = guards(access);
    paths[path] = {
      ...paths[path],
      [method]: {
        ...parametersOf(path),
        ...(security.length > 0 && { security }),
        responses: { 200: { description: 'Any response of the function' } },
        'x-amazon-apigateway-integration': {
          type: 'aws_proxy',
          httpMethod: 'POST',
          uri: calls.uriOf(name),
          credentials: calls.credentials,
        },
      },
    };
  };
  for (const route of routes) {
    for (const method of methodsOf(route)) {
      add(resourceOf(route), method.toLowerCase(), groupOf(route), route.access);
    }
  }
  // Takes what no other method of a path takes.
  for (const path of others) add(path, 'x-amazon-apigateway-any-method', 'no-route', 'public');

  return {
    openapi: '3.0.1',
    info: { title: options.name, version: version.slice(1) },
    servers: [
      {
        url: '/',
        'x-amazon-apigateway-endpoint-configuration': {
          disableExecuteApiEndpoint: isOwnAddressClosed(options),
        },
      },
    ],
    paths,
    components: {
      securitySchemes: {
        accessToken: {
          type: 'apiKey',
          name: 'Authorization',
          in: 'header',
          'x-amazon-apigateway-authtype': 'custom',
          'x-amazon-apigateway-authorizer': {
            type: 'token',
            authorizerUri: calls.uriOf('authorizer'),
            authorizerCredentials: calls.credentials,
            identityValidationExpression: tokenExpression,
            // A cached policy would also apply to other routes, and outlive a revoked token.
            authorizerResultTtlInSeconds: 0,
          },
        },
        ...(demandsKey(options) && { apiKey: { type: 'apiKey', name: 'x-api-key', in: 'header' } }),
      },
    },
    'x-amazon-apigateway-gateway-responses': errors,
    'x-amazon-apigateway-minimum-compression-size': minimumCompressionSize,
  };
}

/**
 * Tests whether the API answers under its own domain only. Its default address would be a second
 * address of the service. CloudFront needs that address, and alone has the key to it.
 */
export function isOwnAddressClosed({ domain, cdn }: Pick<Options, 'domain' | 'cdn'>): boolean {
  return domain !== undefined && !cdn;
}

/** Tests whether the API demands the key that CloudFront sends. */
function demandsKey({ cdn, openAddress }: Pick<Options, 'cdn' | 'openAddress'>): boolean {
  return cdn && !openAddress;
}

/** Paths where any method that no route takes leads to `no-route`: the root, and all the others. */
const others = ['/', '/{proxy+}'];

/** Returns all paths, each with the paths above it: a preflight is answered on each. */
function pathsOf(routes: readonly Route[]): Set<string> {
  const paths = new Set(others);
  for (const route of routes) {
    const names = resourceOf(route).split('/').slice(1).filter(Boolean);
    names.forEach((_, i) => {
      paths.add(`/${names.slice(0, i + 1).join('/')}`);
    });
  }
  return paths;
}

function parametersOf(path: string) {
  const names = [...path.matchAll(/{(\w+)\+?}/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  const schema = { type: 'string' };
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, schema })) };
}

/** The answer to a preflight, which API Gateway gives by itself. */
function preflight(path: string) {
  const names = Object.keys(preflightHeaders);
  const mapped = Object.entries(literals(preflightHeaders)).map(([name, value]) => [
    `method.response.header.${name}`,
    value,
  ]);
  return {
    ...parametersOf(path),
    responses: {
      204: {
        description: 'Any origin may ask',
        headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      // Another type of content, which no browser sends, is answered 415. Otherwise it is 500.
      passthroughBehavior: 'never',
      requestTemplates: { 'application/json': '{"statusCode": 200}' },
      responses: {
        default: { statusCode: '204', responseParameters: Object.fromEntries(mapped) },
      },
    },
  };
}

/** The responses of API Gateway itself, by type. */
const errors = Object.fromEntries(
  gatewayResponses.map(({ type, status, headers, body }) => {
    const mapped = Object.entries({ ...literals(strictTransport), ...headers }).map(
      ([name, value]) => [
        `gatewayresponse.header.${name}`,
        value.startsWith('context.authorizer.') ? challenge : value,
      ],
    );
    const response = {
      ...(status !== undefined && { statusCode: `${status}` }),
      responseParameters: Object.fromEntries(mapped),
      responseTemplates: { 'application/json': body },
    };
    return [type, response];
  }),
);
