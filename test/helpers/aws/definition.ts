import { type Route, routes } from '../../../shared/base/routes.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import { functionNameOf, isOf, resources, statements, type Template, textOf } from './checks.ts';
import { isLike } from './roles.ts';

/** The parts of an API definition that the checks read. Expressions of the template are texts. */
export interface Definition {
  openapi: string;
  info: { title: string; version: string };
  servers: Record<string, unknown>[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, Scheme> };
  'x-amazon-apigateway-gateway-responses': Record<string, GatewayResponse>;
  'x-amazon-apigateway-minimum-compression-size': number;
}

export interface Operation {
  parameters?: { name: string; in: string; required: boolean; schema: unknown }[];
  security?: Record<string, unknown[]>[];
  responses: Record<string, { description: string; headers?: Record<string, unknown> }>;
  'x-amazon-apigateway-integration': Integration;
}

interface Integration {
  type: string;
  httpMethod?: string;
  uri?: string;
  credentials?: string;
  requestTemplates?: Record<string, string>;
  passthroughBehavior?: string;
  responses?: Record<string, { statusCode: string; responseParameters: Record<string, string> }>;
}

interface Scheme {
  type: string;
  name: string;
  in: string;
  'x-amazon-apigateway-authtype'?: string;
  'x-amazon-apigateway-authorizer'?: {
    type: string;
    authorizerUri: string;
    authorizerCredentials: string;
    identityValidationExpression: string;
    authorizerResultTtlInSeconds: number;
  };
}

interface GatewayResponse {
  statusCode?: string;
  responseParameters: Record<string, string>;
  responseTemplates: Record<string, string>;
}

/** Returns the API of the service: the one with a definition. */
export function apiOf(template: Template) {
  const found = resources(template, 'AWS::ApiGateway::RestApi').filter(
    ([, { Properties }]) => Properties.Body !== undefined,
  );
  const [[id, { Properties }] = ['', { Properties: undefined }], ...others] = found;
  if (!Properties || others.length > 0) throw new Error('One API with a definition is expected');
  return { id, Properties };
}

/** Returns the definition of the API, as API Gateway imports it. */
export function definitionIn(template: Template): Definition {
  return plain(apiOf(template).Properties.Body) as Definition;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && /^(Ref|Fn::\w+)$/.test(`${keys}`)) return textOf(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** A method of the API. */
export interface Method {
  /** Method and path, such as `GET /1/review`. */
  name: string;
  /** Name of the Lambda, or undefined if API Gateway answers by itself. */
  calls: string | undefined;
  /** Security schemes that API Gateway demands, all of them. */
  guards: string[];
  operation: Operation;
}

/** Returns all methods of a definition. */
export function methodsIn({ paths }: Definition): Method[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([key, operation]) => {
      const method = key === 'x-amazon-apigateway-any-method' ? 'ANY' : key.toUpperCase();
      return {
        name: `${method} ${path}`,
        calls: calledBy(operation['x-amazon-apigateway-integration'].uri),
        guards: (operation.security ?? []).flatMap((each) => Object.keys(each)),
        operation,
      };
    }),
  );
}

/** A variable of CloudFormation in a text. */
const variable = (name: string) => `\${AWS::${name}}`;
const here = `${variable('Region')}:${variable('AccountId')}`;
const lambdas = `arn:${variable('Partition')}:lambda:${here}:function:`;
const invocations = `arn:${variable('Partition')}:apigateway:${variable('Region')}:lambda:path/2015-03-31/functions/`;

/** Returns the name of the Lambda that a URI calls. Any other URI is returned as it is. */
function calledBy(uri: string | undefined) {
  if (!uri?.startsWith(invocations + lambdas) || !uri.endsWith('/invocations')) return uri;
  return uri.slice((invocations + lambdas).length, -'/invocations'.length);
}

/** Lists missing routes, those with a wrong authorizer or function, and other methods. */
export function wrongMethods(template: Template): string[] {
  const definition = definitionIn(template);
  const scheme = definition.components.securitySchemes.accessToken;
  const settings = scheme?.['x-amazon-apigateway-authorizer'];
  const isFresh = settings?.type === 'token' && settings.authorizerResultTtlInSeconds === 0;
  const isRead = scheme?.in === 'header' && scheme.name === 'Authorization';
  const problems = isFresh && isRead ? [] : ['the authorizer caches, or reads no header'];
  if (functionOf(template, calledBy(settings?.authorizerUri)) !== 'authorizer') {
    problems.push('the authorizer is another function');
  }
  const expected = new Map<string, Pick<Route, 'operation' | 'access'>>();
  for (const route of routes) {
    const hasHead = route.method === 'GET' && route.access === 'public';
    for (const method of hasHead ? ['GET', 'HEAD'] : [route.method]) {
      expected.set(`${method} ${resourceOf(route)}`, route);
    }
  }
  for (const path of ['/', '/{proxy+}']) {
    expected.set(`ANY ${path}`, { operation: 'no-route', access: 'public' });
  }
  for (const { name, calls, guards } of methodsIn(definition)) {
    if (name.startsWith('OPTIONS ')) continue;
    const route = expected.get(name);
    expected.delete(name);
    if (!route) {
      problems.push(`${name} is no route`);
      continue;
    }
    const isGuarded = guards.includes('accessToken');
    if (isGuarded === (route.access === 'public')) {
      problems.push(`${name} is ${isGuarded ? 'guarded' : 'open'}, but for ${route.access}`);
    }
    const own = functionNameOf(route.operation);
    if (functionOf(template, calls) !== own) {
      problems.push(`${name} does not lead to ${own}`);
    }
  }
  return [...problems, ...[...expected.keys()].map((name) => `${name} is missing`)];
}

/** Returns the name, without that of the service, of the Lambda with a name. */
function functionOf(template: Template, name: string | undefined): string | undefined {
  const [id] =
    resources(template, 'AWS::Lambda::Function').find(
      ([, { Properties }]) => name !== undefined && Properties.FunctionName === name,
    ) ?? [];
  const all = ['authorizer', 'no-route', ...routes.map((route) => functionNameOf(route.operation))];
  return all.find((own) => id !== undefined && isOf(own, id));
}

/** Lists paths without a preflight, and gateway responses that another origin cannot read. */
export function withoutCors(template: Template): string[] {
  const definition = definitionIn(template);
  const isPreflight = (operation: Operation | undefined) => {
    const { type, responses = {} } = operation?.['x-amazon-apigateway-integration'] ?? {};
    const header = (name: string) =>
      responses.default?.responseParameters[
        `method.response.header.Access-Control-Allow-${name}`
      ] ?? '';
    return (
      type === 'mock' &&
      operation?.security === undefined &&
      header('Origin') === "'*'" &&
      /\bAuthorization, Content-Type\b/.test(header('Headers'))
    );
  };
  const parents = Object.keys(definition.paths).flatMap((path) => {
    const names = path.split('/').slice(1);
    return names.map((_, i) => `/${names.slice(0, i + 1).join('/')}`);
  });
  const origin = 'gatewayresponse.header.Access-Control-Allow-Origin';
  const answers = Object.entries(definition['x-amazon-apigateway-gateway-responses']);
  return [
    ...[...new Set(parents)].filter((path) => !isPreflight(definition.paths[path]?.options)),
    ...answers.flatMap(([type, { responseParameters }]) =>
      responseParameters[origin] === "'*'" ? [] : [type],
    ),
  ];
}

/**
 * Lists functions that API Gateway calls without the right to, and rights to call others than those
 * of this service. API Gateway calls all of them as one role, which nobody else may take on.
 */
export function wrongCalls(template: Template): string[] {
  const definition = definitionIn(template);
  const { accessToken } = definition.components.securitySchemes;
  const authorizer = accessToken?.['x-amazon-apigateway-authorizer'];
  const methods = methodsIn(definition).filter(({ calls }) => calls !== undefined);
  const roles = new Set([
    authorizer?.authorizerCredentials,
    ...methods.map(({ operation }) => operation['x-amazon-apigateway-integration'].credentials),
  ]);
  const called = new Set([
    calledBy(authorizer?.authorizerUri),
    ...methods.map(({ calls }) => calls),
  ]);
  const [role = ''] = [...roles].map((arn) => /^\${(\w+)\.Arn}$/.exec(`${arn}`)?.[1]);
  const principals = template.Resources[role]?.Properties.AssumeRolePolicyDocument.Statement.map(
    ({ Principal }: { Principal: unknown }) => JSON.stringify(Principal),
  );
  const allowed = statements(template)
    .filter(({ id }) => id === role)
    .flatMap(({ Action, Resource }) =>
      [Resource].flat().map((each) => {
        const arn = textOf(each);
        const isCall = Action === 'lambda:InvokeFunction' && arn.startsWith(lambdas);
        return isCall ? arn.slice(lambdas.length) : `${Action} of ${arn}`;
      }),
    );
  return [
    ...(roles.size === 1 ? [] : ['there are several roles, or none']),
    ...(`${principals}` === '{"Service":"apigateway.amazonaws.com"}' ? [] : [`for ${principals}`]),
    ...Array.from(called)
      .filter((name) => !allowed.some((pattern) => isLike(`${name}`, pattern)))
      .map((name) => `${name}: refused`),
    ...allowed
      .filter((pattern) => pattern !== `${definition.info.title}-*`)
      .map((pattern) => `${pattern}: of others`),
  ];
}
