import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template as Synthesized } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { App, Stack } from 'aws-cdk-lib/core';
import { keepEnvironment } from '../../../infra/aws/environment.ts';
import { rings } from '../../helpers/aws/alarm-state.ts';
import {
  alarms,
  deafTopics,
  functions,
  only,
  propertiesOf,
  resources,
  statements,
  type Template,
  theOne,
  variables,
  withoutTls,
} from '../../helpers/aws/checks.ts';
import { definitionIn } from '../../helpers/aws/definition.ts';
import { deployed, settingsFile, siteFolders, type Templates } from '../../helpers/aws/deployed.ts';
import { rightsIn } from '../../helpers/aws/roles.ts';
import { ownDomain, synthesized } from '../../helpers/aws/synthesized.ts';

function json(stack: Stack): Template {
  return Synthesized.fromStack(stack).toJSON() as Template;
}

/** Returns an expression as text, with values that only CloudFormation knows in angle brackets. */
function text(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[name, inner] = ['', '']] = Object.entries(value as Record<string, unknown>);
  if (name === 'Fn::Join') return (inner as [string, unknown[]])[1].map(text).join('');
  return `<${inner}>`.replace(/[\w-]+:ExportsOutput/, '').replace(/[0-9A-F]{8,}(?=>)/g, '');
}

function logoutUrl(template: Template): string {
  return text(variables(template, 'sign-out').OIDC_LOGOUT_URL);
}

const { plain } = await synthesized();
const chosen = deployed({
  name: 'reviews',
  ...ownDomain,
  alarmMail: 'ops@example.org',
  pageMail: 'pager@example.org',
  budget: 50,
  mailFrom: 'reviews@example.org',
  notices: 'true',
  rateLimit: 200,
  signInConcurrency: 20,
  maxUnits: '1000/2000',
  warmUnits: '20000/8000',
  batchWindow: 60,
  settings: settingsFile('SECURITY_CONTACT=security@example.org'),
  healthCheck: 'reviews.example.org',
});

/** A sender whose domain is verified, and no notices. */
const sender = deployed({ mailFrom: 'no-reply@example.org', mailDomainVerified: 'true' });

describe('a first deployment that fails', () => {
  test('leaves no keys, and can delete protected resources', () => {
    const policies = (type: string) =>
      resources(plain.data, type).map(
        ([, { DeletionPolicy, UpdateReplacePolicy }]) => `${DeletionPolicy} ${UpdateReplacePolicy}`,
      );
    // The keys of tokens, sessions and webhooks.
    const kept = 'RetainExceptOnCreate Retain';
    expect(policies('AWS::SecretsManager::Secret')).toEqual([kept, kept, kept]);
    expect(policies('AWS::DynamoDB::Table')).toEqual(['Retain Retain']);
    expect(policies('AWS::Cognito::UserPool')).toEqual(['Retain Retain']);
  });
});

describe('the environment', () => {
  test.each([
    ['data', plain.data],
    ['service', plain.service],
  ])('of the %s stack keeps its value at an update', (_, template) => {
    expect(template.Parameters?.Environment).toMatchObject({
      Type: 'String',
      Default: 'production',
      AllowedValues: ['production'],
    });
  });
  test('of a production stack is refused by the development template, with a way out', () => {
    const stack = new Stack(new App(), 'Other');
    keepEnvironment(stack, false);
    new Topic(stack, 'Anything');
    const { Parameters, Rules } = json(stack);
    expect(Parameters?.Environment).toMatchObject({
      Default: 'development',
      AllowedValues: ['development'],
      ConstraintDescription: expect.stringContaining('--context environment=production'),
    });
    const Assert = { 'Fn::Equals': [{ Ref: 'Environment' }, 'development'] };
    const AssertDescription = expect.stringContaining('this stack is production');
    const Assertions = [{ Assert, AssertDescription }];
    expect(Rules).toMatchObject({ KeepsEnvironment: { Assertions } });
  });
});

test('dead letters are kept for two weeks', () => {
  expect(only(plain.service, 'AWS::SQS::Queue').MessageRetentionPeriod).toBe(14 * 86_400);
});

describe('the user pool', () => {
  test('lets everybody sign up, with a verified address', () => {
    const { AdminCreateUserConfig, ...pool } = only(plain.data, 'AWS::Cognito::UserPool');
    expect(AdminCreateUserConfig).toEqual({ AllowAdminCreateUserOnly: false });
    expect(pool).toMatchObject({
      AutoVerifiedAttributes: ['email'],
      UsernameAttributes: ['email'],
    });
  });
  test('sends mail from the chosen address, by Amazon SES in its region', () => {
    const mail = only(chosen.data, 'AWS::Cognito::UserPool').EmailConfiguration;
    expect(mail).toMatchObject({ From: 'reviews@example.org', EmailSendingAccount: 'DEVELOPER' });
    expect(text(mail.SourceArn)).toBe(
      'arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/reviews@example.org',
    );
    expect(only(plain.data, 'AWS::Cognito::UserPool').EmailConfiguration).toBeUndefined();
  });
  test('names the verified domain as identity where the address itself is not verified', () => {
    const mail = only(sender.data, 'AWS::Cognito::UserPool').EmailConfiguration;
    expect(mail.From).toBe('no-reply@example.org');
    expect(text(mail.SourceArn)).toBe(
      'arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/example.org',
    );
  });
  test('signs people out at an address that leads back to the pages', () => {
    const pool = 'https://<RefUserPoolDomain>.auth.<AWS::Region>.amazoncognito.com/logout';
    const leadsTo = (host: string) =>
      `${pool}?client_id=<SignInClient>&logout_uri=https%3A%2F%2F${host}%2Fws%2Faccount%2Fsign-out`;
    expect(logoutUrl(chosen.service)).toEqual(leadsTo('reviews.example.org'));
    expect(logoutUrl(plain.service)).toEqual(
      leadsTo('<ApiRestApi>.execute-api.<AWS::Region>.<AWS::URLSuffix>'),
    );
    const { LogoutURLs, CallbackURLs } = only(chosen.service, 'AWS::Cognito::UserPoolClient');
    expect(LogoutURLs).toEqual(['https://reviews.example.org/ws/account/sign-out']);
    expect(CallbackURLs).toEqual(['https://reviews.example.org/ws/account/callback']);
  });
});

describe('notices', () => {
  test('are sent by a job that may send as one sender, and only if they are chosen', () => {
    const sending = (template: Template) =>
      statements(template).filter(({ Action }) => JSON.stringify(Action).includes('ses:'));
    expect(sending(plain.service)).toEqual([]);
    const [statement, ...others] = sending(chosen.service);
    expect(others).toEqual([]);
    const ses = 'arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>';
    // SES also checks parent domains, identities of recipients and the default configuration set.
    expect([statement?.Resource].flat().map(text).toSorted()).toEqual([
      `${ses}:configuration-set/*`,
      `${ses}:identity/*`,
    ]);
    // A mail of MIME parts needs the right to send raw mails.
    expect(statement?.Action).toEqual(['ses:SendEmail', 'ses:SendRawEmail']);
    expect(statement?.Condition).toEqual({
      StringEquals: { 'ses:FromAddress': 'reviews@example.org' },
    });
    const jobs = functions(chosen.service).map(([name]) => name);
    expect(jobs).toContain('send-notices');
    expect(functions(plain.service).map(([name]) => name)).not.toContain('send-notices');
    expect(functions(sender.service).map(([name]) => name)).not.toContain('send-notices');
    expect(sending(sender.service)).toEqual([]);
  });
});

describe('the API', () => {
  test('limits sign-ins, tokens and guides to a tenth, the description to 5/s, exports to 2/s', () => {
    const stages = propertiesOf(chosen.service, 'AWS::ApiGateway::Stage');
    const { MethodSettings } = stages.find(({ StageName }) => StageName === 'ws');
    const limits = MethodSettings.map((setting: Record<string, string>) => [
      `${setting.HttpMethod} ${setting.ResourcePath?.slice(1).replaceAll('~1', '/')}`,
      setting.ThrottlingRateLimit,
      setting.ThrottlingBurstLimit,
    ]);
    const reads = (path: string, rate: number, burst: number) =>
      ['GET', 'HEAD'].map((method) => [`${method} ${path}`, rate, burst]);
    expect(limits).toEqual([
      ['* *', 200, 400],
      ['GET /1/user/me/export', 2, 4],
      ['POST /1/oauth/token', 20, 40],
      ['POST /1/oauth/revoke', 20, 40],
      ...reads('/1/openapi.json', 5, 20),
      ...reads('/docs', 20, 40),
      ...reads('/docs/api', 20, 40),
      ...reads('/docs/api/{group}', 20, 40),
      ...reads('/docs/{guide}', 20, 40),
      ...reads('/oauth/authorize', 20, 40),
      ['POST /oauth/authorize', 20, 40],
      ...reads('/account/sign-in', 20, 40),
      ...reads('/account/callback', 20, 40),
      ...reads('/account/data', 2, 4),
    ]);
  });
  test('reserves, if chosen, executions for sign-ins and tokens only', () => {
    const reserved = ({ service }: Templates) =>
      functions(service)
        .map(([operation, { Properties }]) => [operation, Properties.ReservedConcurrentExecutions])
        .filter(([, executions]) => executions !== undefined);
    expect(reserved(plain)).toEqual([]);
    const limited =
      'answer-authorization create-token pages-none-sign-in pages-write-accounts-sign-in request-authorization revoke-token';
    expect(reserved(chosen).sort()).toEqual(limited.split(' ').map((operation) => [operation, 20]));
  });
  test('answers at its own domain only, for IPv4 and IPv6', () => {
    const closed = ({ service }: Templates) =>
      propertiesOf(service, 'AWS::ApiGateway::RestApi').map((api) => api.DisableExecuteApiEndpoint);
    // The second API of the chosen deployment is that of security.txt.
    expect(closed(plain)).toEqual([false]);
    expect(closed(chosen)).toEqual([true, true]);
    const [server] = definitionIn(chosen.service).servers;
    const setting = { disableExecuteApiEndpoint: true };
    expect(server).toMatchObject({ 'x-amazon-apigateway-endpoint-configuration': setting });
    expect(only(chosen.service, 'AWS::ApiGateway::DomainName').EndpointConfiguration).toEqual({
      Types: ['REGIONAL'],
      IpAddressType: 'dualstack',
    });
    expect(propertiesOf(chosen.service, 'AWS::Route53::RecordSet')).toMatchObject([
      { Type: 'A', Name: 'reviews.example.org.' },
      { Type: 'AAAA', Name: 'reviews.example.org.' },
    ]);
  });
});

describe('security.txt', () => {
  test('is at the root of the domain, names the contact, and expires within a year', () => {
    const mappings = propertiesOf(chosen.service, 'AWS::ApiGateway::BasePathMapping');
    expect(mappings.map(({ BasePath }) => BasePath)).toEqual(['ws', '.well-known']);
    const { RestApiId } = mappings[1];
    const inIt = ({ RestApiId: { Ref } }: { RestApiId: { Ref: string } }) => Ref === RestApiId.Ref;
    const [resource, ...others] = propertiesOf(chosen.service, 'AWS::ApiGateway::Resource').filter(
      inIt,
    );
    expect(resource?.PathPart).toBe('security.txt');
    expect(others).toEqual([]);
    const methods = propertiesOf(chosen.service, 'AWS::ApiGateway::Method').filter(inIt);
    expect(methods).toMatchObject([{ HttpMethod: 'GET', AuthorizationType: 'NONE' }]);
    const { Type, IntegrationResponses } = methods[0].Integration;
    expect(Type).toBe('MOCK');
    const [{ StatusCode, ResponseTemplates }] = IntegrationResponses;
    expect(StatusCode).toBe('200');
    const answer: string = ResponseTemplates['text/plain; charset=utf-8'];
    const [, expires = ''] = /^Expires: (\S+)$/m.exec(answer) ?? [];
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(330);
    expect(days).toBeLessThan(366);
    expect(answer.replace(expires, 'TIME')).toBe(`Contact: mailto:security@example.org
Expires: TIME
Canonical: https://reviews.example.org/.well-known/security.txt
`);
    const named = JSON.stringify(plain.service);
    expect(named).not.toContain('security.txt');
  });
});

describe('the check from outside', () => {
  const { health = { region: '', Resources: {} } } = chosen;

  test('asks for the health over HTTPS, from three regions', () => {
    expect(only(health, 'AWS::Route53::HealthCheck').HealthCheckConfig).toEqual({
      Type: 'HTTPS',
      FullyQualifiedDomainName: 'reviews.example.org',
      Port: 443,
      ResourcePath: '/ws/health',
      EnableSNI: true,
      RequestInterval: 30,
      FailureThreshold: 3,
      Regions: ['us-east-1', 'eu-west-1', 'ap-southeast-1'],
    });
  });
  test('is where Route 53 writes its metrics, and exists only if chosen', () => {
    expect(health.region).toBe('us-east-1');
    expect(readdirSync(plain.outdir).filter((file) => /health/.test(file))).toEqual([]);
  });
  test('rings if the service is not well, and if nobody asks', () => {
    const [id] = theOne(health, 'AWS::Route53::HealthCheck');
    expect(only(health, 'AWS::CloudWatch::Alarm')).toMatchObject({
      Namespace: 'AWS/Route53',
      MetricName: 'HealthCheckStatus',
      Dimensions: [{ Name: 'HealthCheckId', Value: { 'Fn::GetAtt': [id, 'HealthCheckId'] } }],
      Statistic: 'Minimum',
      Period: 60,
    });
    expect(rings(health, 'Unreachable', [[0, 0, 0]])).toBe(true);
    expect(rings(health, 'Unreachable', [[undefined, undefined, undefined]])).toBe(true);
    expect(rings(health, 'Unreachable', [[0, 1, 0]])).toBe(false);
  });
  test('is told as the other alarms are, to whom gets up', () => {
    expect(alarms(health).Unreachable?.tells).toBe('Page');
    expect([...deafTopics(health), ...withoutTls(health)]).toEqual([]);
  });
});

describe('the alarms', () => {
  const mailsOf = (template: Template) =>
    propertiesOf(template, 'AWS::SNS::Subscription').map(({ Endpoint, TopicArn }) => [
      TopicArn.Ref.replace(/^Monitoring|[0-9A-F]{8}$/g, ''),
      Endpoint,
    ]);

  test('that somebody gets up for have an address of their own, if it is chosen', () => {
    const both = [
      ['Page', 'pager@example.org'],
      ['Ticket', 'ops@example.org'],
    ];
    expect(mailsOf(chosen.service)).toEqual(both);
    expect(mailsOf(chosen.health ?? { Resources: {} })).toEqual(both);
    expect(mailsOf(plain.service)).toEqual([]);
    expect(propertiesOf(plain.service, 'AWS::SNS::Topic')).toHaveLength(2);
  });
});

describe('costs', () => {
  test('of the table and its indexes stop at the chosen request units', () => {
    const limits = ({ data }: Templates) => {
      const table = only(data, 'AWS::DynamoDB::Table');
      return [table, ...table.GlobalSecondaryIndexes].map((each) => each.OnDemandThroughput);
    };
    const most = { MaxReadRequestUnits: 1000, MaxWriteRequestUnits: 2000 };
    expect(limits(chosen)).toEqual(Array(11).fill(most));
    expect(limits(plain)).toEqual(Array(11).fill(undefined));
  });
  test('the table and its indexes serve the chosen units from the beginning', () => {
    const warm = ({ data }: Templates) => {
      const table = only(data, 'AWS::DynamoDB::Table');
      return [table, ...table.GlobalSecondaryIndexes].map((each) => each.WarmThroughput);
    };
    const units = { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 8000 };
    expect(warm(chosen)).toEqual(Array(11).fill(units));
    expect(warm(plain)).toEqual(Array(11).fill(undefined));
  });
  test('are mailed at 80 % of the budget, and when the forecast exceeds it', () => {
    const { Budget, NotificationsWithSubscribers } = only(chosen.service, 'AWS::Budgets::Budget');
    expect(Budget).toEqual({
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 50, Unit: 'USD' },
    });
    const Subscribers = [{ SubscriptionType: 'EMAIL', Address: 'ops@example.org' }];
    const above = { ComparisonOperator: 'GREATER_THAN', ThresholdType: 'PERCENTAGE' };
    expect(NotificationsWithSubscribers).toMatchObject([
      { Notification: { ...above, NotificationType: 'ACTUAL', Threshold: 80 }, Subscribers },
      { Notification: { ...above, NotificationType: 'FORECASTED', Threshold: 100 }, Subscribers },
    ]);
    expect(resources(plain.service, 'AWS::Budgets::Budget')).toEqual([]);
  });
});

describe('what a deployment must not lose', () => {
  const withTypes = deployed({ settings: settingsFile('OWN_TYPES=film:Film') });
  const withFiles = deployed({ settings: settingsFile('SITE_FOLDER=infra/site/starter') });
  const withNeither = deployed({});

  test('types of things of one’s own are in the rights to lists', () => {
    const patternsOf = ({ service }: Templates) =>
      (rightsIn(service).get('list-reviews') ?? []).flatMap(({ resources: of, partitions = [] }) =>
        of.includes('index') ? [...partitions] : [],
      );
    expect(patternsOf(withTypes)).toContain('film');
    expect(patternsOf(withNeither)).not.toContain('film');
  });
  test('the files of the site lie beside the code of the functions that send them', () => {
    expect(withFiles.findings).toBe('');
    expect([...siteFolders.keys()].sort()).toEqual(['pages-none-open', 'pages-public']);
    for (const directory of siteFolders.values()) {
      const { pages } = JSON.parse(readFileSync(join(directory, 'site.json'), 'utf8'));
      expect(pages.length).toBeGreaterThan(0);
    }
  });
  test('pages promise the 35 days for which DynamoDB restores the table', () => {
    const days = propertiesOf(plain.service, 'AWS::Lambda::Function').flatMap(
      ({ Environment }) => Environment?.Variables.BACKUP_DAYS ?? [],
    );
    expect(new Set(days)).toEqual(new Set(['35']));
  });
  test('the API is regional, so that the domain and the firewall work', () => {
    for (const { service } of [plain, chosen]) {
      for (const api of propertiesOf(service, 'AWS::ApiGateway::RestApi')) {
        expect(api.EndpointConfiguration.Types).toEqual(['REGIONAL']);
      }
    }
  });
});

describe('the alarm on spend', () => {
  test('rings if the budget of a month would last for three days', () => {
    // $50 in 72 hours are 69 cents an hour: 100,000 lists of 50 cost more than that.
    const points = (requests: number, reads: number, writes: number) => ({
      requests: [requests],
      reads: [reads],
      writes: [writes],
    });
    expect(rings(chosen.service, 'Spend', points(100_000, 5_200_000, 0))).toBe(true);
    expect(rings(chosen.service, 'Spend', points(30_000, 1_560_000, 1_000))).toBe(false);
    expect(alarms(chosen.service).Spend?.tells).toBe('Ticket');
    expect(Object.keys(alarms(plain.service))).not.toContain('Spend');
  });
});

test('the alarm on mails of sign-ups is there where Cognito sends them', () => {
  expect(rings(plain.service, 'SignUpMails', [[31]])).toBe(true);
  expect(rings(plain.service, 'SignUpMails', [[30]])).toBe(false);
  expect(Object.keys(alarms(chosen.service))).not.toContain('SignUpMails');
});

describe('the alarm on the certificate', () => {
  const behind = deployed({
    ...ownDomain,
    certificateArn: ownDomain.certificateArn.replace('eu-central-1', 'us-east-1'),
    cdn: 'true',
  });

  test('is where the certificate is, and only with a domain', () => {
    expect(Object.keys(alarms(plain.service))).not.toContain('CertificateExpiry');
    expect(Object.keys(alarms(chosen.service))).toContain('CertificateExpiry');
    expect(behind.health?.region).toBe('us-east-1');
    expect(Object.keys(alarms(behind.service))).not.toContain('CertificateExpiry');
    expect(rings(behind.health ?? { Resources: {} }, 'CertificateExpiry', [[29]])).toBe(true);
    expect(rings(behind.health ?? { Resources: {} }, 'CertificateExpiry', [[31]])).toBe(false);
  });
});

test('the consumers wait as long as chosen for a fuller batch', () => {
  const windowsOf = ({ service }: Templates) =>
    propertiesOf(service, 'AWS::Lambda::EventSourceMapping').map(
      (mapping) => mapping.MaximumBatchingWindowInSeconds,
    );
  expect(windowsOf(chosen)).toEqual([60, 60]);
  expect(windowsOf(plain)).toEqual([5, 5]);
});
