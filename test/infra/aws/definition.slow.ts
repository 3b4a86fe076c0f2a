import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Route, routes } from '../../../shared/base/routes.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import {
  functionNameOf,
  functions,
  propertiesOf,
  resources,
  type Template,
} from '../../helpers/aws/checks.ts';
import {
  calledBy,
  type Definition,
  definitionIn,
  methodsIn,
} from '../../helpers/aws/definition.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { ownDomain } from '../../helpers/aws/synthesized.ts';
import { newFolder } from '../../helpers/folder.ts';
import { root } from '../../helpers/service.ts';

const certificateArn = ownDomain.certificateArn.replace('eu-central-1', 'us-east-1');
const everyWay = {
  'with its defaults': deployed({}),
  'with an own domain': deployed(ownDomain),
  'behind CloudFront': deployed({ ...ownDomain, certificateArn, cdn: 'true' }),
};

/** Returns what Redocly finds wrong with a document, by the rules of OpenAPI 3.0 itself. */
function faultsOf(definition: Definition): string[] {
  const folder = newFolder();
  const file = join(folder, 'definition.json');
  const config = join(folder, 'redocly.yaml');
  // API Gateway's sign for the rest of a path is no part of OpenAPI.
  writeFileSync(file, JSON.stringify(definition).replaceAll('/{proxy+}', '/{proxy}'));
  const rules = [
    'struct',
    'path-parameters-defined',
    'no-identical-paths',
    'no-path-trailing-slash',
    'path-declaration-must-exist',
    'path-not-include-query',
    'no-unresolved-refs',
  ];
  writeFileSync(
    config,
    `telemetry: off\nrules:\n${rules.map((rule) => `  ${rule}: error`).join('\n')}`,
  );
  const redocly = join(root, 'node_modules/.bin/redocly');
  const args = ['lint', file, '--config', config, '--format', 'json'];
  try {
    execFileSync(redocly, args, { stdio: 'pipe' });
    return [];
  } catch (error) {
    const { problems } = JSON.parse(`${(error as { stdout: Buffer }).stdout}`);
    return problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`);
  }
}

describe.each(Object.entries(everyWay))('the definition %s', (_, { service }) => {
  const definition = definitionIn(service);

  test('is valid OpenAPI 3.0', () => {
    expect(faultsOf(definition)).toEqual([]);
  });
  test('has a method for each route, which calls its function and demands its token', () => {
    const names = new Map(
      functions(service).map(([name, { Properties }]) => [Properties.FunctionName, name]),
    );
    const found = methodsIn(definition).flatMap(({ name, integration, guards }) =>
      integration.type === 'mock'
        ? []
        : [[name, [names.get(calledBy(integration.uri)), ...guards]] as const],
    );
    const keys = Object.keys(definition.components.securitySchemes).slice(1);
    const wanted = routes.flatMap((route) => {
      const isPublic = route.access === 'public';
      const methods = route.method === 'GET' && isPublic ? ['GET', 'HEAD'] : [route.method];
      const guards = [...(isPublic ? [] : ['accessToken']), ...keys];
      return methods.map((method) => [
        `${method} ${resourceOf(route)}`,
        [functionNameOf(route.operation), ...guards],
      ]);
    });
    const others = ['ANY /', 'ANY /{proxy+}'].map((name) => [name, ['no-route', ...keys]]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...wanted, ...others]));
    const { accessToken } = definition.components.securitySchemes;
    const authorizer = accessToken['x-amazon-apigateway-authorizer'];
    expect(names.get(calledBy(authorizer.authorizerUri))).toBe('authorizer');
  });
  test('calls functions by one role', () => {
    const { accessToken } = definition.components.securitySchemes;
    const roles = methodsIn(definition).flatMap(({ integration }) =>
      integration.type === 'mock' ? [] : integration.credentials,
    );
    const all = [...roles, accessToken['x-amazon-apigateway-authorizer'].authorizerCredentials];
    expect([...new Set(all)]).toEqual([expect.stringMatching(/^\$\{ApiCaller\w+\.Arn\}$/)]);
  });
  test('answers a preflight of each path with the headers that the API promises', () => {
    const paths = Object.keys(definition.paths);
    const above = paths.map((path) => path.replace(/\/[^/]*$/, '') || '/');
    expect(paths).toEqual(expect.arrayContaining(above));
    const preflights = paths.map((path) => definition.paths[path]?.options);
    for (const preflight of preflights) {
      expect(preflight?.security).toBeUndefined();
      expect(preflight?.['x-amazon-apigateway-integration']).toMatchObject({
        type: 'mock',
        responses: {
          default: {
            responseParameters: {
              'method.response.header.Access-Control-Allow-Origin': "'*'",
              'method.response.header.Access-Control-Allow-Headers':
                "'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Requested-With, traceparent, tracestate'",
              'method.response.header.Access-Control-Allow-Methods':
                "'GET, POST, PUT, DELETE, OPTIONS'",
              'method.response.header.Access-Control-Max-Age': "'86400'",
            },
          },
        },
      });
      // A header that the method does not declare is not sent.
      expect(Object.keys(preflight?.responses['204']?.headers ?? {})).toEqual([
        'Access-Control-Allow-Origin',
        'Access-Control-Allow-Headers',
        'Access-Control-Allow-Methods',
        'Access-Control-Max-Age',
      ]);
    }
  });
});

test('a document that is not OpenAPI 3.0 is found', () => {
  const broken = structuredClone(definitionIn(everyWay['with its defaults'].service));
  const get = broken.paths['/1/review/{review_id}']?.get;
  Object.assign(get ?? {}, { parameters: [], responses: { 200: {} } });
  expect(faultsOf(broken)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^path-parameters-defined: .*review_id/),
      expect.stringMatching(/^struct: .*description/),
    ]),
  );
});

describe('the quotas of CloudFormation, API Gateway, CloudWatch and IAM', () => {
  /** Characters of a name in use: the longest of a service, and an operation. */
  const longestName = 'r'.repeat(31);
  /** One hundred routes of one kind, on paths of their own. */
  const more = (kind: Pick<Route, 'method' | 'access' | 'base' | 'isPage'>): Route[] =>
    Array.from({ length: 100 }, (_, i) => ({
      operation: `another-route-of-one-kind-${i}`,
      path: `/another/{review_id}/path-${i}`,
      table: 'public',
      ...kind,
    }));
  const worlds = {
    'as it is': deployed({ name: longestName, alarmMail: 'ops@example.org' }),
    'with 100 more reads': deployed(
      { name: longestName },
      more({ method: 'GET', access: 'public' }),
    ),
    'with 100 more writes': deployed(
      { name: longestName },
      more({ method: 'PUT', access: 'vote' }),
    ),
    'with 100 more pages': deployed(
      { name: longestName },
      more({ method: 'GET', access: 'public', base: '', isPage: true }),
    ),
    'with 100 more forms': deployed(
      { name: longestName },
      more({ method: 'POST', access: 'public', base: '', isPage: true }),
    ),
  };
  const countOf = ({ Resources }: Template) => Object.keys(Resources).length;

  test('have much room: 150 resources of the stack, 300 of a nested one', () => {
    const { service, ...parts } = worlds['as it is'].parts;
    expect(countOf(service)).toBeLessThan(150);
    for (const part of Object.values(parts)) expect(countOf(part)).toBeLessThan(300);
  });

  test.each(Object.entries(worlds))('hold the service %s', (_, { parts, service, outdir }) => {
    expect(Object.keys(parts)).toHaveLength(4);
    for (const part of Object.values(parts)) {
      expect(countOf(part)).toBeLessThan(500);
      expect(Object.keys(part.Outputs ?? {}).length).toBeLessThan(200);
      expect(Object.keys(part.Parameters ?? {}).length).toBeLessThan(200);
    }
    for (const file of readdirSync(outdir).filter((name) => name.endsWith('.template.json'))) {
      expect(statSync(join(outdir, file)).size).toBeLessThan(1_000_000);
    }
    const definition = definitionIn(service);
    expect(Object.keys(definition.paths).length).toBeLessThan(300);
    expect(JSON.stringify(definition).length).toBeLessThan(6_000_000);
    for (const { FunctionName = '' } of propertiesOf(service, 'AWS::Lambda::Function')) {
      expect(FunctionName.length).toBeLessThanOrEqual(64);
    }
    for (const { FilterPattern } of propertiesOf(service, 'AWS::Logs::MetricFilter')) {
      expect(FilterPattern.length).toBeLessThanOrEqual(1024);
    }
    // Of a role, which has one pattern for all functions however many there are.
    expect(resources(service, 'AWS::IAM::Policy')).toEqual([]);
    expect(resources(service, 'AWS::IAM::ManagedPolicy')).toEqual([]);
    for (const { Policies = [] } of propertiesOf(service, 'AWS::IAM::Role')) {
      expect(JSON.stringify(Policies).length).toBeLessThan(10_240);
    }
  });
});
