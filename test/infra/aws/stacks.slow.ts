import { globSync, readFileSync } from 'node:fs';
import { tableDefinition } from '../../../shared/base/table/definition.ts';
import {
  functions,
  isOf,
  missingVariables,
  only,
  propertiesOf,
  theOne,
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

test.each([
  ['with its defaults', service],
  ['with every option', everything.service],
])('each function has every environment variable that the code reads, %s', (_, template) => {
  expect(missingVariables(template, code)).toEqual([]);
});

describe('the data', () => {
  test('is protected from deletion in production', () => {
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
  test('run on Node 24 and arm64, and log JSON with limited retention', () => {
    for (const each of propertiesOf(service, 'AWS::Lambda::Function')) {
      expect(each).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: {
          LogFormat: 'JSON',
          ApplicationLogLevel: 'INFO',
          SystemLogLevel: 'WARN',
          LogGroup: { Ref: expect.any(String) },
        },
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
    const targets = propertiesOf(service, 'AWS::Events::Rule').flatMap(
      ({ ScheduleExpression, State, Targets }) =>
        Targets.map(({ Arn, DeadLetterConfig }: Record<string, Record<string, string[]>>) => ({
          id: Arn?.['Fn::GetAtt']?.[0],
          runs: ScheduleExpression,
          State,
          DeadLetterConfig,
        })),
    );
    const everyMinute = {
      rule: { runs: 'rate(1 minute)', State: 'ENABLED' },
      // The next minute repeats what failed.
      failure: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
    };
    const jobs = {
      'expire-vote-counters': {
        rule: {
          runs: 'cron(15 0 * * ? *)',
          State: 'ENABLED',
          DeadLetterConfig: { Arn: queue },
        },
        failure: {
          MaximumRetryAttempts: 2,
          DestinationConfig: { OnFailure: { Destination: queue } },
        },
      },
      'send-heartbeat': everyMinute,
      'send-webhooks': everyMinute,
      'update-names': everyMinute,
    };
    const failures = propertiesOf(service, 'AWS::Lambda::EventInvokeConfig');
    expect(failures).toHaveLength(Object.keys(jobs).length);
    for (const [job, { rule, failure }] of Object.entries(jobs)) {
      const id = Object.keys(service.Resources).find(
        (each) => isOf(job, each) && /Function\w{8}$/.test(each),
      );
      expect(targets.filter((target) => target.id === id)).toEqual([{ id, ...rule }]);
      const own = failures.filter(({ FunctionName }) => FunctionName.Ref === id);
      expect([job, ...own]).toMatchObject([job, failure]);
    }
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
