import { globSync, readFileSync } from 'node:fs';
import { routes } from '../../../shared/base/routes.ts';
import { tableDefinition } from '../../../shared/base/table/definition.ts';
import { consumers, schedulesOf } from '../../../shared/features/background.ts';
import {
  circles,
  excessRights,
  functions,
  missingRights,
  missingVariables,
  only,
  propertiesOf,
  resources,
  type Template,
  theOne,
  unretained,
  variables,
  wildcardRights,
  withoutTls,
} from '../../helpers/aws/checks.ts';
import { runApp, synthesized } from '../../helpers/aws/synthesized.ts';

const { said, plain, everything } = await synthesized();
const { data, service, isProtected } = plain;
const code = globSync('{shared,functions}/**/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('');

test.each([
  ['with its defaults', plain],
  ['with every option', everything],
])('the deployment %s has no finding of cdk-nag, as it is deployed', (_, { nag }) => {
  expect(nag).toEqual([]);
});

test('each function has every environment variable that the code reads', () => {
  expect(missingVariables(service, code)).toEqual([]);
});

describe('the checks find', () => {
  let broken: Template;
  beforeEach(() => {
    broken = structuredClone(service);
  });

  /** Returns the id and the properties of the first resource of a type with such an id. */
  function find(type: string, name: RegExp) {
    const [id = '', { Properties } = { Properties: undefined }] =
      resources(broken, type).find(([id]) => name.test(id)) ?? [];
    return { id, Properties };
  }
  const statementsOf = (name: string) =>
    find('AWS::IAM::Role', new RegExp(`^${name}Role`)).Properties.Policies[0].PolicyDocument
      .Statement;
  test('a missing environment variable', () => {
    delete variables(broken, 'put-vote').TABLE_NAME;
    delete variables(broken, 'sign-in').OIDC_ISSUER;
    expect(missingVariables(broken, code).sort()).toEqual([
      'pages-none-sign-in: OIDC_ISSUER',
      'put-vote: TABLE_NAME',
    ]);
  });
  test('a new variable that nothing sets', () => {
    const missing = missingVariables(service, `${code};process.env.NEW_FLAG`);
    expect(missing).toContain('get-review: NEW_FLAG');
  });
  test.each([
    ['resource', { Action: 'dynamodb:GetItem', Resource: '*' }],
    ['index', { Action: 'dynamodb:GetItem', Resource: { 'Fn::Join': ['', ['x', '/index/*']] } }],
    ['table', { Action: 'dynamodb:Query', Resource: 'arn:aws:dynamodb:::table/*/index/*' }],
    ['action', { Action: 'dynamodb:*', Resource: 'arn:aws:dynamodb:::table/x' }],
  ])('a wildcard right: %s', (_, statement) => {
    statementsOf('putvote').push(statement);
    expect(wildcardRights(broken)).toEqual([expect.stringMatching(/^putvote/)]);
  });
  test('a right beyond the route table', () => {
    const rightTo = (name: string, action: string) =>
      statementsOf(name).find(({ Action }: { Action: unknown }) =>
        [Action].flat().includes(action),
      );
    const writes = rightTo('putvote', 'dynamodb:PutItem');
    const secret = rightTo('createtoken', 'secretsmanager:GetSecretValue');
    statementsOf('getreview').push({ ...writes, Action: ['dynamodb:DeleteItem'] }, secret);
    statementsOf('putvote').push({ ...writes, Action: 'dynamodb:Scan' });
    expect(excessRights(broken).sort()).toEqual([
      'get-review: SIGNING_KEYS',
      'get-review: dynamodb:DeleteItem',
      'put-vote: dynamodb:Scan',
    ]);
  });
  test.each([
    ['put-vote', 'logs:PutLogEvents'],
    ['create-token', 'secretsmanager:GetSecretValue'],
    ['update-aggregates', 'dynamodb:GetRecords'],
    ['update-aggregates', 'sqs:SendMessage'],
    ['expire-vote-counters', 'sqs:SendMessage'],
  ])('a missing right: %s, %s', (operation, action) => {
    const role = functions(broken).find(([name]) => name === operation)?.[1].Properties.Role;
    const { Policies } = broken.Resources[role['Fn::GetAtt'][0]]?.Properties ?? {};
    for (const statement of Policies[0].PolicyDocument.Statement) {
      statement.Action = [statement.Action].flat().filter((name) => name !== action);
    }
    expect(missingRights(broken)).toEqual([`${operation}: ${action}`]);
  });
  test('a queue and a topic without TLS', () => {
    const template = structuredClone(everything.service);
    const policies = ['AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy'];
    for (const { PolicyDocument } of policies.flatMap((type) => propertiesOf(template, type))) {
      PolicyDocument.Statement = PolicyDocument.Statement.filter(
        ({ Effect }: { Effect: string }) => Effect !== 'Deny',
      );
    }
    expect(withoutTls(template)).toEqual([
      expect.stringMatching(/^BackgroundDeadLetters/),
      expect.stringMatching(/^MonitoringPage/),
      expect.stringMatching(/^MonitoringTicket/),
    ]);
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
    const types = table.AttributeDefinitions.map((each: Record<string, string>) => [
      each.AttributeName,
      each.AttributeType,
    ]);
    expect(Object.fromEntries(types)).toEqual(tableDefinition.attributeTypes);
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
    for (const { GenerateSecretString } of propertiesOf(data, 'AWS::SecretsManager::Secret')) {
      const { PasswordLength, ExcludePunctuation } = GenerateSecretString;
      expect(ExcludePunctuation).toBe(true);
      expect(Buffer.from('a'.repeat(PasswordLength), 'base64url').length).toBeGreaterThan(32);
    }
  });
});

describe('the functions', () => {
  test('are one for each operation, but pages with the same rights share one', () => {
    const own = routes.filter(({ isPage, path }) => !isPage || path === '/oauth/authorize');
    const all = [...own, ...consumers, ...schedulesOf({ isMailing: false })].map(
      ({ operation }) => operation,
    );
    const shared = [
      'none-open',
      'none-sign-in',
      'public',
      'public-asks',
      'public-open',
      'read',
      'read-asks',
      'read-tokens',
      'read-webhooks',
      'write',
      'write-accounts-sign-in',
      'write-grants-tokens',
      'write-hooks-webhooks',
      'write-reports',
      'write-reviews',
      'write-votes',
    ].map((rights) => `pages-${rights}`);
    const made = functions(service).map(([name]) => name);
    expect(made.sort()).toEqual([...all, ...shared, 'authorizer', 'no-route'].sort());
    // With every option, too.
    expect(functions(everything.service).length).toBeLessThanOrEqual(61);
  });
  test('logs JSON, of the code from INFO on', () => {
    for (const { LoggingConfig } of propertiesOf(service, 'AWS::Lambda::Function')) {
      expect(LoggingConfig).toMatchObject({
        LogFormat: 'JSON',
        ApplicationLogLevel: 'INFO',
        SystemLogLevel: 'WARN',
      });
    }
  });

  test('run on Node 24 and arm64, and log JSON with limited retention', () => {
    for (const each of propertiesOf(service, 'AWS::Lambda::Function')) {
      expect(each).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } },
      });
    }
    for (const { RetentionInDays } of propertiesOf(service, 'AWS::Logs::LogGroup')) {
      expect(RetentionInDays).toBe(30);
    }
  });
  test('have the memory and the timeout that they were measured with', () => {
    const longer = {
      'update-aggregates': 300,
      eraser: 300,
      'expire-vote-counters': 900,
      'send-webhooks': 75,
      'update-names': 59,
    };
    const timeouts = new Map(Object.entries(longer));
    for (const [operation, { Properties }] of functions(service)) {
      const expected = { MemorySize: 1024, Timeout: timeouts.get(operation) ?? 15 };
      expect([operation, Properties]).toMatchObject([operation, expected]);
    }
  });
  test('hold no secret in their environment', () => {
    for (const { Environment } of propertiesOf(service, 'AWS::Lambda::Function')) {
      const names = Object.keys(Environment?.Variables ?? {});
      expect(names.filter((name) => /KEYS$|SECRET$/.test(name))).toEqual([]);
    }
  });
});

describe('the background', () => {
  const queue = { 'Fn::GetAtt': [theOne(service, 'AWS::SQS::Queue')[0], 'Arn'] };

  test('subscribes to filtered stream records, within bounds and two readers', () => {
    const mappings = propertiesOf(service, 'AWS::Lambda::EventSourceMapping');
    type SortKey = string | { prefix: string };
    const of = (...sortKeys: SortKey[]) => ({ dynamodb: { Keys: { sk: { S: sortKeys } } } });
    const having = (name: string, ...sortKeys: SortKey[]) => ({
      dynamodb: { ...of(...sortKeys).dynamodb, NewImage: { [name]: { S: [{ exists: true }] } } },
    });
    const inserted = { eventName: ['INSERT'] };
    const removed = { eventName: ['REMOVE'] };
    const filters = mappings.map(({ FilterCriteria }) =>
      FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
    );
    // AWS allows five filters of a mapping; more require a raised quota.
    expect(filters).toEqual([
      [
        {
          dynamodb: {
            Keys: {
              sk: {
                S: [
                  'REVIEW',
                  'METADATA',
                  'ENTITY',
                  'CASE',
                  { prefix: 'PROPOSAL#' },
                  'DONE#heartbeat',
                ],
              },
            },
          },
        },
        { ...inserted, ...of('USER') },
        { ...removed, ...of('USER') },
        having('deleted_at', 'USER'),
        { ...removed, dynamodb: { Keys: { sk: { S: [{ prefix: 'GRANT#' }] } } } },
      ],
      [
        { ...removed, ...of('REVIEW', 'USER') },
        having('deleted_at', 'REVIEW', 'USER'),
        of('APP', 'DONE#heartbeat'),
        having('hiding', 'USER'),
        having('task', { prefix: 'FILE#' }),
      ],
    ]);
    expect(mappings.map(({ BatchSize }) => BatchSize)).toEqual([1000, 100]);
    for (const mapping of mappings) {
      expect(mapping).toMatchObject({
        StartingPosition: 'TRIM_HORIZON',
        MaximumBatchingWindowInSeconds: 5,
        MaximumRecordAgeInSeconds: 6 * 3600,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 10_000,
        DestinationConfig: { OnFailure: { Destination: queue } },
      });
      expect(mapping.Enabled).not.toBe(false);
    }
  });
  test('runs its jobs on schedule, and sends failures of the daily job to the queue', () => {
    const idOf = (pattern: RegExp) =>
      Object.keys(service.Resources).find((id) => pattern.test(id)) ?? '';
    const id = idOf(/^BackgroundexpirevotecountersFunction[0-9A-F]{8}$/);
    const heartbeat = idOf(/^BackgroundsendheartbeatFunction[0-9A-F]{8}$/);
    const webhooks = idOf(/^BackgroundsendwebhooksFunction[0-9A-F]{8}$/);
    const names = idOf(/^BackgroundupdatenamesFunction[0-9A-F]{8}$/);
    const everyMinute = (job: string) =>
      expect.objectContaining({
        ScheduleExpression: 'rate(1 minute)',
        State: 'ENABLED',
        Targets: [{ Arn: { 'Fn::GetAtt': [job, 'Arn'] }, Id: 'Target0' }],
      });
    const rules = propertiesOf(service, 'AWS::Events::Rule').filter(
      ({ ScheduleExpression }) => ScheduleExpression !== 'rate(5 minutes)',
    );
    expect(rules).toHaveLength(4);
    expect(rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ScheduleExpression: 'cron(15 0 * * ? *)',
          State: 'ENABLED',
          Targets: [
            expect.objectContaining({
              Arn: { 'Fn::GetAtt': [id, 'Arn'] },
              DeadLetterConfig: { Arn: queue },
            }),
          ],
        }),
        everyMinute(heartbeat),
        everyMinute(webhooks),
        everyMinute(names),
      ]),
    );
    const invocations = propertiesOf(service, 'AWS::Lambda::EventInvokeConfig');
    expect(invocations).toHaveLength(4);
    expect(invocations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          FunctionName: { Ref: id },
          MaximumRetryAttempts: 2,
          DestinationConfig: { OnFailure: { Destination: queue } },
        }),
        // The next minute repeats what failed.
        expect.objectContaining({
          FunctionName: { Ref: heartbeat },
          MaximumRetryAttempts: 0,
          MaximumEventAgeInSeconds: 60,
        }),
        expect.objectContaining({
          FunctionName: { Ref: webhooks },
          MaximumRetryAttempts: 0,
          MaximumEventAgeInSeconds: 60,
        }),
      ]),
    );
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
