import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  alarms,
  functions,
  only,
  propertiesOf,
  resources,
  type Template,
  textOf,
  variables,
} from '../../helpers/aws/checks.ts';
import { definitionIn } from '../../helpers/aws/definition.ts';
import { deployed, settingsFile, siteFolders, type Templates } from '../../helpers/aws/deployed.ts';
import { ownDomain, synthesized } from '../../helpers/aws/synthesized.ts';

const { plain, everything } = await synthesized();
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

/** CloudFront in front of an own domain. */
const behind = deployed({
  ...ownDomain,
  certificateArn: ownDomain.certificateArn.replace('eu-central-1', 'us-east-1'),
  cdn: 'true',
});

const withFiles = deployed({ settings: settingsFile('SITE_FOLDER=infra/site/starter') });

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
    const { Parameters, Rules } = everything.data;
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
  const identity = `arn:\${AWS::Partition}:ses:\${AWS::Region}:\${AWS::AccountId}:identity`;

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
    expect(textOf(mail.SourceArn)).toBe(`${identity}/reviews@example.org`);
    expect(only(plain.data, 'AWS::Cognito::UserPool').EmailConfiguration).toBeUndefined();
  });
  test('names the verified domain as identity where the address itself is not verified', () => {
    const mail = only(sender.data, 'AWS::Cognito::UserPool').EmailConfiguration;
    expect(mail.From).toBe('no-reply@example.org');
    expect(textOf(mail.SourceArn)).toBe(`${identity}/example.org`);
  });
  test('signs people out at an address that leads back to the pages', () => {
    const logoutUrl = ({ service }: Templates) =>
      textOf(variables(service, 'sign-out').OIDC_LOGOUT_URL);
    const leadsTo = (host: string) =>
      new RegExp(
        String.raw`^https://\$\{.*UserPoolDomain.*\}\.auth\.\$\{AWS::Region\}\.amazoncognito\.com/logout\?client_id=\$\{SignInClient\w+\}&logout_uri=https%3A%2F%2F${host}%2Fws%2Faccount%2Fsign-out$`,
      );
    expect(logoutUrl(chosen)).toMatch(leadsTo(String.raw`reviews\.example\.org`));
    expect(logoutUrl(plain)).toMatch(
      leadsTo(
        String.raw`\$\{ApiRestApi\w+\}\.execute-api\.\$\{AWS::Region\}\.\$\{AWS::URLSuffix\}`,
      ),
    );
    const { LogoutURLs, CallbackURLs } = only(chosen.service, 'AWS::Cognito::UserPoolClient');
    expect(LogoutURLs).toEqual(['https://reviews.example.org/ws/account/sign-out']);
    expect(CallbackURLs).toEqual(['https://reviews.example.org/ws/account/callback']);
  });
});

test('notices are sent by a job, which exists only if they are chosen', () => {
  const isSending = ({ service }: Templates) =>
    functions(service).some(([name]) => name === 'send-notices');
  expect([chosen, sender, plain].map(isSending)).toEqual([true, false, false]);
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
  test('of options exist only with these', () => {
    const ofOptions = ['Spend', 'SignUpMails', 'CertificateExpiry', 'LateMails', 'Unanswered'];
    const among = (template: Template) =>
      Object.keys(alarms(template)).filter((name) => ofOptions.includes(name));
    expect(among(plain.service)).toEqual(['SignUpMails']);
    expect(among(chosen.service).sort()).toEqual(
      ['CertificateExpiry', 'LateMails', 'Spend', 'Unanswered'].sort(),
    );
    // The certificate of CloudFront is in us-east-1.
    const { service, health = { region: '', Resources: {} } } = behind;
    expect(among(service)).not.toContain('CertificateExpiry');
    expect(among(health)).toEqual(['CertificateExpiry']);
    expect(health.region).toBe('us-east-1');
  });
});

describe('costs', () => {
  test('of the table and its indexes stop at the chosen units, of which they serve some at once', () => {
    const throughputs = ({ data }: Templates) => {
      const table = only(data, 'AWS::DynamoDB::Table');
      return [table, ...table.GlobalSecondaryIndexes].map(
        ({ OnDemandThroughput, WarmThroughput }) => [OnDemandThroughput, WarmThroughput],
      );
    };
    const most = { MaxReadRequestUnits: 1000, MaxWriteRequestUnits: 2000 };
    const atOnce = { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 8000 };
    expect(throughputs(chosen)).toEqual(Array(11).fill([most, atOnce]));
    expect(throughputs(plain)).toEqual(Array(11).fill([undefined, undefined]));
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

test('the files of the site lie beside the code of the functions that send them', () => {
  expect(withFiles.findings).toBe('');
  expect([...siteFolders.keys()].sort()).toEqual(['pages-none-open', 'pages-public']);
  for (const directory of siteFolders.values()) {
    const { pages } = JSON.parse(readFileSync(join(directory, 'site.json'), 'utf8'));
    expect(pages.length).toBeGreaterThan(0);
  }
});

test('the APIs are regional, so that the domain and the firewall work', () => {
  for (const { service } of [plain, chosen]) {
    for (const api of propertiesOf(service, 'AWS::ApiGateway::RestApi')) {
      expect(api.EndpointConfiguration.Types).toEqual(['REGIONAL']);
    }
  }
});

test('the consumers wait as long as chosen for a fuller batch', () => {
  const windowsOf = ({ service }: Templates) =>
    propertiesOf(service, 'AWS::Lambda::EventSourceMapping').map(
      (mapping) => mapping.MaximumBatchingWindowInSeconds,
    );
  expect(windowsOf(chosen)).toEqual([60, 60]);
  expect(windowsOf(plain)).toEqual([5, 5]);
});
