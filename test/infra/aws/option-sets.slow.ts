import { tableRights } from '../../../infra/aws/table-rights.ts';
import {
  declarations,
  functionNameOf,
  functions,
  policiesOn,
  propertiesOf,
  resourceIn,
  resources,
  rolesOf,
  type Statement,
  statements,
  type Template,
  textOf,
  theOne,
  toldBy,
} from '../../helpers/aws/checks.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { optionSets } from '../../helpers/aws/option-sets.ts';
import { waitsFor } from '../../helpers/aws/order.ts';

const sets = optionSets().map((options) => [JSON.stringify(options), options] as const);

test('the sets name every option, and few are enough', () => {
  const named = new Set(sets.flatMap(([, options]) => Object.keys(options)));
  expect(named.size).toBe(25);
  expect(sets.length).toBeLessThan(20);
});

/** Lists nested stacks, and the right to call functions, that come after the API goes live. */
function lateParts(service: Template): string[] {
  const [stage = ''] =
    resources(service, 'AWS::ApiGateway::Stage').find(
      ([, { Properties }]) => Properties.StageName === 'ws',
    ) ?? [];
  const before = waitsFor(service, stage);
  const ids = Object.keys(service.Resources);
  const needed = ids.filter((id) => /^Api(Functions|Pages|Forms)Nested|^ApiCaller/.test(id));
  expect(needed).toHaveLength(4);
  return needed.filter((id) => !before.has(id));
}

/** Returns rights as texts: each action on each resource, with its condition. */
function textsOf(statements: readonly Pick<Statement, 'Action' | 'Resource' | 'Condition'>[]) {
  const texts = statements.flatMap(({ Action, Resource, Condition }) =>
    [Action].flat().flatMap((action) =>
      [Resource].flat().map((of) => {
        const condition = Condition ? ` if ${JSON.stringify(Condition)}` : '';
        return `${action} of ${resourceIn(of)}${condition}`;
      }),
    ),
  );
  return texts.sort();
}

/** Mails may go to all, from one address. */
const sending = (from = '') => ({
  Action: ['ses:SendEmail', 'ses:SendRawEmail'],
  Resource: ['identity', 'configuration-set'].map(
    (kind) => `arn:\${AWS::Partition}:ses:\${AWS::Region}:\${AWS::AccountId}:${kind}/*`,
  ),
  Condition: { StringEquals: { 'ses:FromAddress': from } },
});
const streaming = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
const following = { Action: streaming.map((name) => `dynamodb:${name}`), Resource: 'stream' };
const tracing = { Action: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], Resource: '*' };

describe.each(sets)('the deployment with %s', (_, options) => {
  const { findings, parts, data, service, health, firewall } = deployed(options);
  const isProduction = options.environment === undefined;
  const made = [data, ...Object.values(parts), health, firewall];
  const all = made.filter((each) => each !== undefined);

  test('has no finding of cdk-nag', () => {
    expect(findings).toBe('');
  });
  test('gives each function the rights and the secrets that it declares, and no other', () => {
    const queue = `\${${theOne(service, 'AWS::SQS::Queue')[0]}.Arn}`;
    const toQueue = { Action: 'sqs:SendMessage', Resource: queue };
    const more: Record<string, { Action: string | string[]; Resource: string | string[] }[]> = {
      'update-aggregates': [following, toQueue],
      eraser: [following, toQueue],
      'expire-vote-counters': [toQueue],
      'send-notices': [sending(options.mailFrom)],
    };
    const ownTypes = options.settings ? ['film'] : [];
    const roles = rolesOf(service);
    const declared = functions(service).map(([name, { Properties }]) => {
      const use = declarations.find(({ operation }) => functionNameOf(operation) === name);
      if (!use) throw new Error(`${name} has no declaration`);
      const { secrets = [] } = use;
      const { LoggingConfig } = Properties;
      const rights = textsOf([
        {
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: { 'Fn::GetAtt': [LoggingConfig.LogGroup.Ref, 'Arn'] },
        },
        ...tableRights('table', use, ownTypes).map((statement) => statement.toStatementJson()),
        ...secrets.map((Resource) => ({ Action: 'secretsmanager:GetSecretValue', Resource })),
        ...(options.tracing ? [tracing] : []),
        ...(more[name] ?? []),
      ]);
      return { name, rights, arns: secrets.map((secret) => [`${secret}_ARN`, secret]) };
    });
    const given = functions(service).map(([name, { Properties }]) => ({
      name,
      rights: textsOf(roles.get(name) ?? []),
      arns: Object.entries(Properties.Environment.Variables)
        .filter(([key]) => key.endsWith('_ARN'))
        .map(([key, arn]) => [key, resourceIn(arn)]),
    }));
    expect(given).toEqual(declared);
  });
  test('lets API Gateway alone call its functions, by one role, and the clock some', () => {
    const ofFunctions = functions(service).map(([, { Properties }]) => Properties.Role);
    const owners = new Set(ofFunctions.map((role) => role['Fn::GetAtt'][0]));
    const [calling, ...others] = statements(service).filter(({ id }) => !owners.has(id));
    expect(others).toEqual([]);
    expect(calling?.Action).toBe('lambda:InvokeFunction');
    const name = options.name ?? 'review-service';
    expect(textOf(calling?.Resource)).toBe(
      `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${name}-*`,
    );
    const { Statement } =
      service.Resources[`${calling?.id}`]?.Properties.AssumeRolePolicyDocument ?? {};
    expect(Statement).toMatchObject([{ Principal: { Service: 'apigateway.amazonaws.com' } }]);
    const callers = propertiesOf(service, 'AWS::Lambda::Permission').map((each) => each.Principal);
    expect(new Set(callers)).toEqual(new Set(['events.amazonaws.com']));
  });
  test('depends on nothing in a circle, and refuses nobody while the API goes live', () => {
    const circles = all.flatMap((each) =>
      Object.keys(each.Resources).filter((id) => waitsFor(each, id).has(id)),
    );
    expect(circles).toEqual([]);
    expect(lateParts(parts.service)).toEqual([]);
  });
  test('tells a topic of each alarm and its end, over TLS, and takes no alarm of others', () => {
    const tls = { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
    const ofAlarms = {
      Effect: 'Allow',
      Action: 'sns:Publish',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    };
    const topics = all.flatMap((each) => policiesOn(each, 'AWS::SNS::Topic'));
    expect(topics.length).toBeGreaterThan(1);
    for (const policy of topics) expect(policy).toMatchObject([tls, ofAlarms]);
    const ofRules = { Effect: 'Allow', Principal: { Service: 'events.amazonaws.com' } };
    expect(policiesOn(service, 'AWS::SQS::Queue')).toMatchObject([[tls, ofRules]]);
    const silent = all
      .flatMap((each) => propertiesOf(each, 'AWS::CloudWatch::Alarm'))
      .filter((alarm) => toldBy(alarm).tells === undefined);
    expect(silent).toEqual([]);
  });
  test('keeps the data in production, and only there', () => {
    const policies = Object.values(data.Resources).flatMap(
      ({ Type, DeletionPolicy, UpdateReplacePolicy }) =>
        /DynamoDB::Table|UserPool$|Secret$/.test(Type)
          ? [`${Type}: ${DeletionPolicy} ${UpdateReplacePolicy}`]
          : [],
    );
    // The keys of a first deployment that fails go, because nothing has used them yet.
    const [kept, ofKeys] = isProduction
      ? ['Retain Retain', 'RetainExceptOnCreate Retain']
      : ['Delete Delete', 'Delete Delete'];
    expect(policies).toEqual([
      `AWS::DynamoDB::Table: ${kept}`,
      ...Array(3).fill(`AWS::SecretsManager::Secret: ${ofKeys}`),
      ...(options.oidcIssuer ? [] : [`AWS::Cognito::UserPool: ${kept}`]),
    ]);
  });
});
