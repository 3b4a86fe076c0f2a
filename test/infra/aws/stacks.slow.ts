import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';
import { consumers, schedules } from '../../../shared/background.ts';
import { gatewayResponses, tokenExpression } from '../../../shared/http/gateway-responses.ts';
import { routes } from '../../../shared/routes.ts';
import { tableDefinition } from '../../../shared/table/definition.ts';
import { permissionsIn, wrongCalls } from '../../helpers/aws/calls.ts';
import {
  circles,
  excessRights,
  functions,
  missingRights,
  missingVariables,
  resources,
  type Template,
  textOf,
  unretained,
  wildcardRights,
  withoutCors,
  withoutTls,
  wrongMethods,
} from '../../helpers/aws/checks.ts';
import { runApp, synthesized } from '../../helpers/aws/synthesized.ts';

const { said, plain, everything } = await synthesized();
const { data, service, code, isProtected } = plain;

/** Returns a copy of the template with one mistake. */
function broken(mistake: (template: Template) => void): Template {
  const copy = structuredClone(service);
  mistake(copy);
  return copy;
}

function only({ Resources }: Template, type: string) {
  const found = Object.values(Resources).filter(({ Type }) => Type === type);
  expect(found).toHaveLength(1);
  return found[0]?.Properties;
}

function variables(template: Template, operation: string): Record<string, unknown> {
  const found = functions(template).find(([name]) => name === operation)?.[1];
  return found?.Properties.Environment.Variables;
}

function voteMethod(template: Template, method: 'PUT' | 'DELETE') {
  const found = resources(template, 'AWS::ApiGateway::Method').find(([id]) =>
    id.includes(`vote${method}`),
  );
  return found?.[1].Properties;
}

describe.each([
  ['with its defaults', plain],
  ['with every option', everything],
])('the deployment %s', (_, { data, service, parts, code, nag }) => {
  test('has exactly the routes of the route table, with their authorizers', () => {
    expect(wrongMethods(service)).toEqual([]);
  });
  test('answers preflights on every path, and sends CORS headers with gateway responses', () => {
    expect(withoutCors(service)).toEqual([]);
  });
  test('limits each function to the table and secrets that the route table gives', () => {
    expect(excessRights(service)).toEqual([]);
  });
  test('gives each function the rights that its code and event sources need', () => {
    expect(missingRights(service, code)).toEqual([]);
  });
  test('accepts no message without TLS', () => {
    expect(withoutTls(service)).toEqual([]);
  });
  test('sets every environment variable that the code of a function reads', () => {
    expect(missingVariables(service, code)).toEqual([]);
  });
  test('lets API Gateway call only the functions that it routes to', () => {
    expect(wrongCalls(service)).toEqual([]);
    const callers = resources(service, 'AWS::Lambda::Permission').map(
      ([, { Properties }]) => Properties.Principal,
    );
    expect([...new Set(callers)].sort()).toEqual([
      'apigateway.amazonaws.com',
      'events.amazonaws.com',
    ]);
  });
  test.each([
    ['put-vote', 'ws/PUT/1/review/*/vote*'],
    ['list-reviews', 'ws/*/1/review*'],
    ['sign-in', 'ws/*/account/sign-in*'],
    ['authorizer', 'authorizers/*'],
    ['no-route', 'ws/*/*'],
  ])('lets API Gateway call %s for %s', (operation, source) => {
    const found = permissionsIn(service).filter(({ function: id }) =>
      id.startsWith(`${operation.replaceAll('-', '')}Function`),
    );
    expect(found.map((each) => each.source.split('}/').pop())).toEqual([source]);
  });
  test('has no circular dependency', () => {
    for (const part of [data, service, ...Object.values(parts)]) expect(circles(part)).toEqual([]);
  });
  test('has room for twenty more endpoints on paths of their own', () => {
    // A route with a public GET takes most resources, because it has a HEAD.
    const count = (all: object | undefined, name: RegExp) =>
      Object.keys(all ?? {}).filter((id) => name.test(id)).length;
    const outside = count(parts.service.Resources, /reviewlanguages/);
    const inside = count(parts.functions.Resources, /^listlanguages/);
    expect([outside, inside]).toEqual([4, 4]);

    // CloudFormation allows 500 resources and 200 outputs a stack. One alarm watches ten endpoints.
    expect(count(parts.service.Resources, /./) + 20 * outside + 4).toBeLessThan(500);
    expect(count(parts.functions.Resources, /./) + 20 * inside).toBeLessThan(500);
    expect(count(parts.functions.Outputs, /./) + 20 * 2).toBeLessThan(200);
  });
  test('has no findings of cdk-nag', () => {
    expect(nag).toEqual([]);
  });
});

test('no right has a wildcard', () => {
  expect(wildcardRights(service)).toEqual([]);
});

test('only X-Ray needs a wildcard right, if it is chosen', () => {
  const rights = wildcardRights(everything.service);
  expect(rights).toHaveLength(functions(everything.service).length);
  for (const right of rights) {
    expect(right).toMatch(/: xray:PutTelemetryRecords,xray:PutTraceSegments$/);
  }
});

/** Makes a mistake in the source that a permission allows. */
function replaced(part: string, by: string) {
  return ({ Resources }: Template, id: string) => {
    const parts: unknown[] = Resources[id]?.Properties.SourceArn['Fn::Join'][1];
    parts.push(`${parts.pop()}`.replace(part, by));
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[*.{}$]/g, '\\$&');
}

describe('the checks find', () => {
  test('a route without an authorizer', () => {
    const template = broken((copy) => {
      voteMethod(copy, 'PUT').AuthorizationType = 'NONE';
      delete voteMethod(copy, 'PUT').AuthorizerId;
    });
    expect(wrongMethods(template)).toEqual([
      'PUT /1/review/{review_id}/vote is open, but for vote',
    ]);
  });
  test('a missing route', () => {
    const template = broken((copy) => {
      voteMethod(copy, 'PUT').HttpMethod = 'PATCH';
    });
    expect(wrongMethods(template)).toEqual([
      expect.stringContaining('PATCH /1/review/{review_id}/vote'),
      'PUT /1/review/{review_id}/vote is missing',
    ]);
  });
  test('a route that leads to another function', () => {
    const template = broken((copy) => {
      voteMethod(copy, 'PUT').Integration = voteMethod(copy, 'DELETE').Integration;
    });
    expect(wrongMethods(template)).toEqual([
      'PUT /1/review/{review_id}/vote does not lead to put-vote',
    ]);
  });
  test('an authorizer that caches', () => {
    const template = broken((copy) => {
      only(copy, 'AWS::ApiGateway::Authorizer').AuthorizerResultTtlInSeconds = 300;
    });
    expect(wrongMethods(template)).toEqual(['the authorizer caches']);
  });
  test.each([
    [
      'no permission',
      (copy: Template, id: string) => delete copy.Resources[id],
      ['refuses /PUT/1/review/0b1f-x/vote', 'refuses /PUT/1/review/0b1f-x/vote/'],
    ],
    [
      'a permission without the slash at the end',
      replaced('vote*', 'vote'),
      ['refuses /PUT/1/review/0b1f-x/vote/'],
    ],
    [
      'a permission for another method',
      replaced('PUT', 'GET'),
      [
        'refuses /PUT/1/review/0b1f-x/vote',
        'refuses /PUT/1/review/0b1f-x/vote/',
        'takes ws/GET/1/review/*/vote*',
      ],
    ],
    [
      'a permission for every API of the account',
      (copy: Template, id: string) => {
        const { Properties } = copy.Resources[id] ?? {};
        Properties.SourceArn['Fn::Join'][1] = ['arn:aws:execute-api:*'];
      },
      [
        'refuses /PUT/1/review/0b1f-x/vote',
        'refuses /PUT/1/review/0b1f-x/vote/',
        'takes arn:aws:execute-api:*',
      ],
    ],
  ])('a function with %s', (_, mistake, expected) => {
    const template = broken((copy) => {
      const found = resources(copy, 'AWS::Lambda::Permission').find(([id]) =>
        id.startsWith('putvoteFunction'),
      );
      mistake(copy, found?.[0] ?? '');
    });
    expect(wrongCalls(template)).toEqual(
      expected.map((end) =>
        expect.stringMatching(new RegExp(`^putvoteFunction\\w+ ${escaped(end)}$`)),
      ),
    );
  });
  test('a missing environment variable', () => {
    const template = broken((copy) => {
      delete variables(copy, 'put-vote').TABLE_NAME;
      delete variables(copy, 'create-token').SIGNING_KEYS_ARN;
      delete variables(copy, 'sign-in').OIDC_ISSUER;
    });
    expect(missingVariables(template, code).sort()).toEqual([
      'create-token: SIGNING_KEYS_ARN',
      'put-vote: TABLE_NAME',
      'sign-in: OIDC_ISSUER',
    ]);
  });
  test('a new variable that nothing sets', () => {
    const more = (operation: string) =>
      operation === 'get-review' ? `${code(operation)};process.env.NEW_FLAG` : code(operation);
    expect(missingVariables(service, more)).toEqual(['get-review: NEW_FLAG']);
  });
  test.each([
    ['resource', { Action: 'dynamodb:GetItem', Resource: '*' }],
    ['index', { Action: 'dynamodb:Query', Resource: { 'Fn::Join': ['', ['x', '/index/*']] } }],
    ['action', { Action: 'dynamodb:*', Resource: 'arn:aws:dynamodb:::table/x' }],
  ])('a wildcard right: %s', (_, statement) => {
    const template = broken((copy) => {
      const role = Object.entries(copy.Resources).find(([id]) => /^putvote.*Role/.test(id));
      role?.[1].Properties.Policies[0].PolicyDocument.Statement.push(statement);
    });
    expect(wildcardRights(template)).toEqual([expect.stringMatching(/^putvote/)]);
  });
  test('a right beyond the route table', () => {
    const template = broken((copy) => {
      const rights = (name: string) =>
        Object.entries(copy.Resources).find(([id]) => id.startsWith(`${name}Role`))?.[1].Properties
          .Policies[0].PolicyDocument.Statement;
      const writes = rights('putvote').find(({ Action }: { Action: string[] }) =>
        Action.includes('dynamodb:PutItem'),
      );
      const secret = rights('createtoken').find(
        ({ Action }: { Action: string }) => Action === 'secretsmanager:GetSecretValue',
      );
      rights('getreview').push({ ...writes, Action: ['dynamodb:DeleteItem'] }, secret);
      rights('putvote').push({ ...writes, Action: 'dynamodb:Scan' });
    });
    expect(excessRights(template).sort()).toEqual([
      'get-review: SIGNING_KEYS',
      'get-review: dynamodb:DeleteItem',
      'put-vote: dynamodb:Scan',
    ]);
  });
  test.each([
    ['put-vote', 'logs:PutLogEvents'],
    ['put-vote', 'dynamodb:PutItem'],
    ['put-vote', 'dynamodb:ConditionCheckItem'],
    ['get-user', 'dynamodb:GetItem'],
    ['batch-get-reviews', 'dynamodb:BatchGetItem'],
    ['list-reviews', 'dynamodb:Query'],
    ['create-token', 'secretsmanager:GetSecretValue'],
    ['update-aggregates', 'dynamodb:GetRecords'],
    ['update-aggregates', 'sqs:SendMessage'],
    ['expire-vote-counters', 'sqs:SendMessage'],
    ['expire-vote-counters', 'dynamodb:BatchWriteItem'],
  ])('a missing right: %s, %s', (operation, action) => {
    const template = broken((copy) => {
      const role = functions(copy).find(([name]) => name === operation)?.[1].Properties.Role;
      const { Policies } = copy.Resources[role['Fn::GetAtt'][0]]?.Properties ?? {};
      for (const statement of Policies[0].PolicyDocument.Statement) {
        const actions: string[] = [statement.Action].flat();
        // Query on the table remains allowed, but on no index.
        const isLeft = action === 'dynamodb:Query' && !/index/.test(JSON.stringify(statement));
        if (!isLeft) statement.Action = actions.filter((name) => name !== action);
      }
    });
    expect(missingRights(template, code)).toEqual([`${operation}: ${action}`]);
  });
  test('a function that reads the table without any right', () => {
    const more = (operation: string) =>
      operation === 'list-languages'
        ? `${code(operation)};new GetCommand("GetItem")`
        : code(operation);
    expect(missingRights(service, more)).toEqual(['list-languages: dynamodb:GetItem']);
  });
  test('a queue and a topic without TLS', () => {
    const template = structuredClone(everything.service);
    for (const type of ['AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy']) {
      const { Statement } = only(template, type).PolicyDocument;
      Statement.splice(
        Statement.findIndex(({ Effect }: { Effect: string }) => Effect === 'Deny'),
        1,
      );
    }
    expect(withoutTls(template)).toEqual([
      expect.stringMatching(/^BackgroundDeadLetters/),
      expect.stringMatching(/^MonitoringTopic/),
    ]);
  });
  test('a preflight that forbids the header of the token', () => {
    const template = broken((copy) => {
      const found = Object.entries(copy.Resources).find(([id]) => /1usermeOPTIONS/.test(id));
      const headers = found?.[1].Properties.Integration.IntegrationResponses[0].ResponseParameters;
      headers['method.response.header.Access-Control-Allow-Headers'] = "'Content-Type'";
    });
    expect(withoutCors(template)).toEqual(['/1/user/me']);
  });
  test('a gateway response without CORS, and a path without preflight', () => {
    const template = broken((copy) => {
      const answer = Object.values(copy.Resources).find(
        ({ Properties }) => Properties.ResponseType === 'THROTTLED',
      );
      delete answer?.Properties.ResponseParameters[
        'gatewayresponse.header.Access-Control-Allow-Origin'
      ];
      const preflight = Object.keys(copy.Resources).find((id) => /1usermeOPTIONS/.test(id));
      delete copy.Resources[preflight ?? ''];
    });
    expect(withoutCors(template)).toEqual(['/1/user/me', 'THROTTLED']);
  });
  test('data that is deleted with its stack', () => {
    expect(unretained(everything.data).length).toBeGreaterThan(0);
  });
  test('a circular dependency', () => {
    const a = { Type: 'A', Properties: { of: { Ref: 'b' } } };
    const b = { Type: 'B', Properties: { of: { 'Fn::GetAtt': ['a', 'Arn'] } } };
    expect(circles({ Resources: { a, b } })).toEqual(['a → b → a']);
  });
});

describe('the data', () => {
  test('outlives its stack in production', () => {
    expect(unretained(data)).toEqual([]);
    expect(only(data, 'AWS::DynamoDB::Table').DeletionProtectionEnabled).toBe(true);
    expect(only(data, 'AWS::Cognito::UserPool').DeletionProtection).toBe('ACTIVE');
    expect(isProtected('review-service-data')).toBe(true);
    expect(everything.isProtected('reviews-data')).toBe(false);
  });
  test('has a table like the local stack’s, with point-in-time recovery', () => {
    const table = only(data, 'AWS::DynamoDB::Table');
    expect(table).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: tableDefinition.timeToLive, Enabled: true },
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    });
    expect(
      Object.fromEntries(
        table.AttributeDefinitions.map(
          ({ AttributeName, AttributeType }: Record<string, string>) => [
            AttributeName,
            AttributeType,
          ],
        ),
      ),
    ).toEqual(tableDefinition.attributeTypes);
    expect(table.GlobalSecondaryIndexes).toEqual(
      tableDefinition.indexes.map(({ name, partitionKey, sortKey, projection }) => ({
        IndexName: name,
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: projection },
      })),
    );
  });
  test('has keys that decode to at least 32 bytes', () => {
    for (const [, { Properties }] of resources(data, 'AWS::SecretsManager::Secret')) {
      const { PasswordLength, ExcludePunctuation } = Properties.GenerateSecretString;
      expect(ExcludePunctuation).toBe(true);
      expect(Buffer.from('a'.repeat(PasswordLength), 'base64url').length).toBeGreaterThan(32);
    }
  });
});

describe('the API', () => {
  test('calls the authorizer only for values that look like tokens', () => {
    expect(only(service, 'AWS::ApiGateway::Authorizer')).toMatchObject({
      IdentityValidationExpression: tokenExpression,
      IdentitySource: 'method.request.header.Authorization',
    });
  });
  test('returns our error shape in all its own responses', () => {
    const answers = resources(service, 'AWS::ApiGateway::GatewayResponse').map(
      ([, { Properties }]) => Properties,
    );
    expect(answers.map(({ ResponseType }) => ResponseType).sort()).toEqual(
      gatewayResponses.map(({ type }) => type).sort(),
    );
    for (const { ResponseTemplates } of answers) {
      expect(JSON.parse(ResponseTemplates['application/json'])).toMatchObject({
        error: expect.any(String),
        description: expect.any(String),
      });
    }
  });
  test('challenges requests with a missing or bad token (RFC 6750)', () => {
    const answers = resources(service, 'AWS::ApiGateway::GatewayResponse').map(
      ([, { Properties }]) => Properties,
    );
    expect(answers.find(({ ResponseType }) => ResponseType === 'UNAUTHORIZED')).toMatchObject({
      StatusCode: '401',
      ResponseParameters: {
        'gatewayresponse.header.WWW-Authenticate': `'Bearer realm="review", error="invalid_token"'`,
      },
    });
    expect(answers.find(({ ResponseType }) => ResponseType === 'ACCESS_DENIED')).toMatchObject({
      StatusCode: '403',
      ResponseParameters: {
        'gatewayresponse.header.WWW-Authenticate': `'Bearer realm="review", error="insufficient_scope"'`,
      },
    });
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
    const client = only(service, 'AWS::Cognito::UserPoolClient');
    expect(client.CallbackURLs.map(textOf)).toEqual([callback]);
    expect(client).toMatchObject({
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      GenerateSecret: true,
    });
    const [[id] = []] = resources(service, 'AWS::Cognito::UserPoolClient');
    expect(only(service, 'AWS::Cognito::ManagedLoginBranding')).toMatchObject({
      ClientId: { Ref: id },
      UseCognitoProvidedValues: true,
    });
    expect(only(data, 'AWS::Cognito::UserPoolDomain').ManagedLoginVersion).toBe(2);
  });
  test('is throttled and logged, without address, path or token', () => {
    const { MethodSettings, AccessLogSetting, StageName } = only(service, 'AWS::ApiGateway::Stage');
    expect(StageName).toBe('ws');
    expect(MethodSettings[0]).toMatchObject({
      ResourcePath: '/*',
      HttpMethod: '*',
      ThrottlingRateLimit: 500,
      ThrottlingBurstLimit: 1000,
    });
    const line = AccessLogSetting.Format.replace(/\$context\.(status|response\w+)/g, '1');
    expect(Object.keys(JSON.parse(line))).toContain('requestId');
    expect(AccessLogSetting.Format).not.toMatch(/identity|\.path\b|[Aa]uthorization|user_id/);
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
  test('gives metadata settings only to functions that ask for metadata', () => {
    const having = functions(everything.service).filter(
      ([, { Properties }]) => Properties.Environment?.Variables.MUSICDB_API,
    );
    const operations = having.map(([operation]) => operation);
    // The pages of moderators and of an account show names that other functions store.
    expect(operations.toSorted()).toEqual([
      'decide-review',
      'decide-user',
      'get-entity',
      'get-entity-feed',
      'get-oembed',
      'get-user-feed',
      'list-reviews',
      'show-author',
      'show-case',
      'show-cases',
      'show-entity',
      'show-entity-embed',
      'show-home',
      'show-my-reviews',
      'show-my-votes',
      'show-review',
      'show-user',
    ]);
  });
});

describe('the functions', () => {
  test('are one per operation', () => {
    const expected = [
      ...routes.map(({ operation }) => operation),
      ...consumers.map(({ operation }) => operation),
      ...schedules.map(({ operation }) => operation),
      'authorizer',
      'no-route',
    ];
    expect(
      functions(service)
        .map(([operation]) => operation)
        .sort(),
    ).toEqual(expected.sort());
  });
  test('run on Node 24 and arm64, and log JSON with limited retention', () => {
    for (const [, { Properties }] of functions(service)) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } },
      });
    }
    for (const [, { Properties }] of resources(service, 'AWS::Logs::LogGroup')) {
      expect(Properties.RetentionInDays).toBe(30);
    }
  });
  test('have the memory and the timeout that they were measured with', () => {
    const longer: Record<string, number> = {
      'update-aggregates': 300,
      eraser: 300,
      'expire-vote-counters': 900,
    };
    for (const [operation, { Properties }] of functions(service)) {
      const { MemorySize, Timeout } = Properties;
      const expected = { MemorySize: 1024, Timeout: longer[operation] ?? 15 };
      expect([operation, { MemorySize, Timeout }]).toEqual([operation, expected]);
    }
  });
  test('carry source maps only where the maps are used', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
    const files = (hasSourceMaps: boolean) => {
      bundleFunctions(folder, hasSourceMaps, ['get-review']);
      return readdirSync(join(folder, 'get-review'));
    };
    expect(files(false)).toEqual(['index.cjs']);
    expect(files(true)).toEqual(['index.cjs', 'index.cjs.map']);
    rmSync(folder, { recursive: true });
    expect(variables(everything.service, 'get-review').NODE_OPTIONS).toBe('--enable-source-maps');
    expect(variables(service, 'get-review')).not.toHaveProperty('NODE_OPTIONS');
  });
  test('hold no secret in their environment', () => {
    for (const [, { Properties }] of functions(service)) {
      const names = Object.keys(Properties.Environment?.Variables ?? {});
      expect(names.filter((name) => /KEYS$|SECRET$/.test(name))).toEqual([]);
    }
  });
});

describe('the background', () => {
  const [[queueId] = []] = resources(service, 'AWS::SQS::Queue');
  const queue = { 'Fn::GetAtt': [queueId, 'Arn'] };

  test('subscribes to filtered stream records, within bounds and two readers', () => {
    const mappings = resources(service, 'AWS::Lambda::EventSourceMapping');
    expect(mappings.length).toBeLessThanOrEqual(2);
    expect(
      mappings.map(([, { Properties }]) =>
        Properties.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) =>
          JSON.parse(Pattern),
        ),
      ),
    ).toEqual([
      [
        { dynamodb: { Keys: { sk: { S: ['REVIEW'] } } } },
        { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: ['USER'] } } } },
        { eventName: ['REMOVE'], dynamodb: { Keys: { sk: { S: ['USER'] } } } },
        {
          dynamodb: {
            Keys: { sk: { S: ['USER'] } },
            NewImage: { deleted_at: { S: [{ exists: true }] } },
          },
        },
      ],
      [
        { eventName: ['REMOVE'], dynamodb: { Keys: { sk: { S: ['REVIEW'] } } } },
        { dynamodb: { Keys: { sk: { S: ['APP'] } } } },
        { eventName: ['REMOVE'], dynamodb: { Keys: { sk: { S: ['USER'] } } } },
        ...['USER', 'REVIEW'].map((sortKey) => ({
          dynamodb: {
            Keys: { sk: { S: [sortKey] } },
            NewImage: { deleted_at: { S: [{ exists: true }] } },
          },
        })),
      ],
    ]);
    expect(mappings.map(([, { Properties }]) => Properties.BatchSize)).toEqual([1000, 100]);
    for (const [, { Properties }] of mappings) {
      // AWS allows five filters; more require a raised quota.
      expect(Properties.FilterCriteria.Filters.length).toBeLessThanOrEqual(5);
      expect(Properties).toMatchObject({
        StartingPosition: 'TRIM_HORIZON',
        MaximumBatchingWindowInSeconds: 5,
        MaximumRecordAgeInSeconds: 6 * 3600,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 10_000,
        DestinationConfig: { OnFailure: { Destination: queue } },
      });
      expect(Properties.Enabled).not.toBe(false);
    }
  });
  test('runs its jobs on schedule, and sends failures to the queue', () => {
    const id = Object.keys(service.Resources).find((id) =>
      /^BackgroundexpirevotecountersFunction[0-9A-F]{8}$/.test(id),
    );
    expect(only(service, 'AWS::Events::Rule')).toMatchObject({
      ScheduleExpression: 'cron(15 0 * * ? *)',
      State: 'ENABLED',
      Targets: [{ Arn: { 'Fn::GetAtt': [id, 'Arn'] }, DeadLetterConfig: { Arn: queue } }],
    });
    expect(only(service, 'AWS::Lambda::EventInvokeConfig')).toMatchObject({
      FunctionName: { Ref: id },
      DestinationConfig: { OnFailure: { Destination: queue } },
    });
  });
});

test('synthesis prints no warning', () => {
  expect(said).toBe('');
});

test('reports an invalid option', async () => {
  expect(await runApp({ environment: 'staging' })).toEqual({
    failed: true,
    said: expect.stringContaining('environment must be production or development'),
  });
});
