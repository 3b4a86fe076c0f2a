import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Route } from '../../../shared/base/routes.ts';
import { propertiesOf, resources, type Template } from '../../helpers/aws/checks.ts';
import { type Definition, definitionIn, methodsIn } from '../../helpers/aws/definition.ts';
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

/** A literal in quotes, or a value of the authorizer. */
const Mapped = v.pipe(v.string(), v.regex(/^('[^']*'|context\.authorizer\.\w+)$/));
const Text = v.string();
const Role = v.pipe(Text, v.regex(/^\${\w+\.Arn}$/));
const Uri = v.pipe(
  Text,
  v.regex(
    /^arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path\/2015-03-31\/functions\/arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:[\w-]{1,64}\/invocations$/,
  ),
);

// The objects of API Gateway's documentation of its extensions, with the properties used here.
const Integration = v.variant('type', [
  v.strictObject({
    type: v.literal('aws_proxy'),
    httpMethod: v.literal('POST'),
    uri: Uri,
    credentials: Role,
  }),
  v.strictObject({
    type: v.literal('mock'),
    passthroughBehavior: v.picklist(['when_no_match', 'when_no_templates', 'never']),
    requestTemplates: v.strictObject({ 'application/json': v.literal('{"statusCode": 200}') }),
    responses: v.strictObject({
      default: v.strictObject({
        statusCode: v.literal('204'),
        responseParameters: v.record(
          v.pipe(Text, v.regex(/^method\.response\.header\.[\w-]+$/)),
          Mapped,
        ),
      }),
    }),
  }),
]);
const Operation = v.strictObject({
  parameters: v.optional(
    v.array(
      v.strictObject({
        name: v.pipe(Text, v.regex(/^\w+$/)),
        in: v.literal('path'),
        required: v.literal(true),
        schema: v.strictObject({ type: v.literal('string') }),
      }),
    ),
  ),
  security: v.optional(
    v.array(
      v.union([
        v.strictObject({ accessToken: v.tuple([]) }),
        v.strictObject({ apiKey: v.tuple([]) }),
      ]),
    ),
  ),
  responses: v.record(v.picklist(['200', '204']), v.unknown()),
  'x-amazon-apigateway-integration': Integration,
});
const methods = ['get', 'head', 'post', 'put', 'delete', 'options'] as const;
const Methods = v.strictObject({
  ...Object.fromEntries(methods.map((method) => [method, v.optional(Operation)])),
  'x-amazon-apigateway-any-method': v.optional(Operation),
});
// Types of gateway responses that can be customised, by the documentation.
const responseTypes =
  'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED'.split(
    ' ',
  );
const Document = v.strictObject({
  openapi: v.literal('3.0.1'),
  info: v.strictObject({ title: Text, version: Text }),
  servers: v.tuple([
    v.strictObject({
      url: v.literal('/'),
      'x-amazon-apigateway-endpoint-configuration': v.strictObject({
        disableExecuteApiEndpoint: v.boolean(),
      }),
    }),
  ]),
  paths: v.record(
    // Path segments have letters, digits and some signs. A parameter is a segment of its own.
    v.pipe(Text, v.regex(/^(\/|(\/([\w.,:-]+|{\w+}))+|\/{proxy\+})$/)),
    Methods,
  ),
  components: v.strictObject({
    securitySchemes: v.strictObject({
      accessToken: v.strictObject({
        type: v.literal('apiKey'),
        name: v.literal('Authorization'),
        in: v.literal('header'),
        'x-amazon-apigateway-authtype': v.literal('custom'),
        'x-amazon-apigateway-authorizer': v.strictObject({
          type: v.literal('token'),
          authorizerUri: Uri,
          authorizerCredentials: Role,
          identityValidationExpression: Text,
          authorizerResultTtlInSeconds: v.literal(0),
        }),
      }),
      apiKey: v.optional(
        v.strictObject({
          type: v.literal('apiKey'),
          name: v.literal('x-api-key'),
          in: v.literal('header'),
        }),
      ),
    }),
  }),
  'x-amazon-apigateway-gateway-responses': v.record(
    v.picklist(responseTypes),
    v.strictObject({
      statusCode: v.optional(v.pipe(Text, v.regex(/^[45]\d\d$/))),
      responseParameters: v.record(
        v.pipe(Text, v.regex(/^gatewayresponse\.header\.[\w-]+$/)),
        Mapped,
      ),
      responseTemplates: v.strictObject({ 'application/json': Text }),
    }),
  ),
  'x-amazon-apigateway-minimum-compression-size': v.pipe(v.number(), v.maxValue(10_485_760)),
});

describe.each(Object.entries(everyWay))('the definition %s', (_, { service }) => {
  const definition = definitionIn(service);

  test('is valid OpenAPI 3.0', () => {
    expect(faultsOf(definition)).toEqual([]);
  });
  test('has what API Gateway documents of its extensions, and nothing else', () => {
    const { issues = [] } = v.safeParse(Document, definition);
    expect(issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toEqual([]);
  });
  test('answers a preflight with the headers that the API promises', () => {
    const preflights = methodsIn(definition).filter(({ name }) => name.startsWith('OPTIONS '));
    expect(preflights.length).toBe(Object.keys(definition.paths).length);
    for (const { operation, guards } of preflights) {
      const { responses, passthroughBehavior } = operation['x-amazon-apigateway-integration'];
      expect(guards).toEqual([]);
      // With text/plain, API Gateway would pass the body on to the mock, and answer 500.
      expect(passthroughBehavior).toBe('never');
      expect(responses).toEqual({
        default: {
          statusCode: '204',
          responseParameters: {
            'method.response.header.Access-Control-Allow-Origin': "'*'",
            'method.response.header.Access-Control-Allow-Headers':
              "'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Requested-With, traceparent, tracestate'",
            'method.response.header.Access-Control-Allow-Methods':
              "'GET, POST, PUT, DELETE, OPTIONS'",
            'method.response.header.Access-Control-Max-Age': "'86400'",
          },
        },
      });
      // A header that the method does not declare is not sent.
      const mapped = Object.keys(responses?.default?.responseParameters ?? {});
      const declared = Object.keys(operation.responses['204']?.headers ?? {});
      expect(mapped).toEqual(declared.map((name) => `method.response.header.${name}`));
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

test('the challenge of a 403 is a literal', () => {
  const { ACCESS_DENIED: denied } = definitionIn(everyWay['with its defaults'].service)[
    'x-amazon-apigateway-gateway-responses'
  ];
  expect(denied?.responseParameters['gatewayresponse.header.WWW-Authenticate']).toBe(
    `'Bearer realm="review", error="insufficient_scope"'`,
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
