import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { newFolder } from '../helpers/folder.ts';
import { listen } from '../helpers/listen.ts';
import { root as cwd } from '../helpers/service.ts';

const home = newFolder();
writeFileSync(
  join(home, 'credentials'),
  '[known]\naws_access_key_id = AKIAKNOWN\naws_secret_access_key = y\n',
);

/** Answers of CloudFormation, and the clients that asked. Lambda lets 10 functions run. */
let code = '';
let message = 'no';
const asked: string[] = [];
const subscriptions = `<ListSubscriptionsResponse><ListSubscriptionsResult><Subscriptions><member>
  <TopicArn>arn:aws:sns:eu-north-1:123456789012:review-service-MonitoringPage1A2B-X</TopicArn>
  <SubscriptionArn>PendingConfirmation</SubscriptionArn><Endpoint>ops@example.org</Endpoint>
</member></Subscriptions></ListSubscriptionsResult></ListSubscriptionsResponse>`;
const server = createServer((request, response) => {
  if (request.url?.startsWith('/lambda/')) {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ AccountLimit: { ConcurrentExecutions: 10 } }));
    return;
  }
  if (request.url?.startsWith('/sns/')) {
    response.writeHead(200, { 'Content-Type': 'text/xml' });
    response.end(subscriptions);
    return;
  }
  asked.push(/Credential=(\w+)/.exec(request.headers.authorization ?? '')?.[1] ?? '');
  response.writeHead(400, { 'Content-Type': 'text/xml' });
  response.end(
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  );
});
const AWS_ENDPOINT_URL_CLOUDFORMATION = await listen(server);
const { PATH, NODE_COMPILE_CACHE } = process.env;

beforeEach(() => {
  asked.length = 0;
});
afterAll(() => {
  server.close();
});

writeFileSync(join(home, 'config'), '[profile known]\nregion = eu-north-1\n');

async function deploy(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['bin/deploy.ts', ...args], {
    cwd,
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      HOME: home,
      AWS_SHARED_CREDENTIALS_FILE: join(home, 'credentials'),
      AWS_CONFIG_FILE: join(home, 'config'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ENDPOINT_URL_CLOUDFORMATION,
      AWS_ENDPOINT_URL_LAMBDA: `${AWS_ENDPOINT_URL_CLOUDFORMATION}/lambda`,
      AWS_ENDPOINT_URL_SNS: `${AWS_ENDPOINT_URL_CLOUDFORMATION}/sns`,
      ...env,
    },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, 'exit');
  return { status: child.exitCode, stdout, stderr };
}

test('says in one sentence that there are no credentials', async () => {
  const { status, stdout, stderr } = await deploy([]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^Error: there are no AWS credentials \(.*\)\. Sign in as for the .*\n$/);
  expect(asked).toEqual([]);
});

const faults = ['ExpiredToken', 'InvalidClientTokenId', 'SignatureDoesNotMatch'];
test.each(faults)('says that AWS does not take them: %s', async (name) => {
  code = name;
  const { status, stderr } = await deploy(['--profile', 'known']);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Error: AWS does not accept these credentials .*\. Sign in as .*\n$/);
  expect(stderr).toContain(`(${name})`);
  expect(asked).toEqual(['AKIAKNOWN']);
});

test.each(['ValidationError', 'AccessDenied'])('leaves %s to the CDK', async (name) => {
  code = name;
  const { status, stdout, stderr } = await deploy(['--help'], { AWS_PROFILE: 'known' });
  expect(status).toBe(0);
  expect(stderr).toMatch(/^Quota: The account may run 10 functions at once in eu-north-1\./);
  expect(stdout).toContain('cdk deploy [STACKS..]');
  // About the credentials, and about the format of the data that is deployed.
  expect(asked).toEqual(['AKIAKNOWN', 'AKIAKNOWN']);
});

describe('options that make a stack in us-east-1', () => {
  beforeEach(() => {
    code = 'ValidationError';
  });
  afterEach(() => {
    message = 'no';
  });
  const choose = (...options: string[]) =>
    deploy(['--help', ...options.flatMap((each) => ['--context', each])], { AWS_PROFILE: 'known' });

  test.each([
    ['healthCheck=reviews.example.org'],
    ['cdn=true', 'domain=reviews.example.org'],
    ['cdn=open', 'domain=reviews.example.org'],
    ['cdn=true', 'firewall=true'],
  ])('need that region to be bootstrapped: %s %s', async (...options) => {
    message = 'Stack with id CDKToolkit does not exist';
    const { status, stderr } = await choose(...options);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: .* npx cdk bootstrap aws:\/\/<account>\/us-east-1\n$/);
    message = 'no';
    expect(await choose(...options)).toMatchObject({ status: 0 });
  });
  test('are no others', async () => {
    message = 'Stack with id CDKToolkit does not exist';
    expect(await choose('cdn=true')).toMatchObject({ status: 0 });
    expect(await choose('domain=reviews.example.org')).toMatchObject({ status: 0 });
  });
});

test('quotas are those of the region that the CDK deploys to: that of the profile', async () => {
  code = 'ValidationError';
  const { stderr } = await deploy(['--profile', 'known', '--help']);
  expect(stderr).toContain('may run 10 functions at once in eu-north-1.');
});

test('a region of the environment comes first, as for the CDK', async () => {
  code = 'ValidationError';
  const { stderr } = await deploy(['--profile', 'known', '--help'], { AWS_REGION: 'eu-west-3' });
  expect(stderr).toContain('may run 10 functions at once in eu-west-3.');
});

test('names after a deployment the addresses that have not confirmed', async () => {
  code = 'ValidationError';
  const mailed = ['--help', '--context', 'alarmMail=ops@example.org'];
  const { stdout } = await deploy(mailed, { AWS_PROFILE: 'known' });
  expect(stdout).toMatch(/^ops@example\.org has not confirmed a mail of AWS/m);
  const unmailed = await deploy(['--help'], { AWS_PROFILE: 'known' });
  expect(unmailed.stdout).not.toContain('has not confirmed');
});
