import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { dataDir, dataFolder, dataFolderOn, root, spawnAdmin } from '../helpers/admin.ts';
import { listen } from '../helpers/listen.ts';
import { name } from '../helpers/table.ts';
import { makeUsers } from '../helpers/world.ts';

/** Returns the environment of an account at AWS whose CloudFormation answers so. */
async function accountWith(status: number, answer: () => string): Promise<Record<string, string>> {
  const server = createServer((_, response) =>
    response.writeHead(status, { 'Content-Type': 'text/xml' }).end(answer()),
  );
  const AWS_ENDPOINT_URL_CLOUDFORMATION = await listen(server.unref());
  const credentials = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
  return { AWS_REGION: 'us-east-1', ...credentials, AWS_ENDPOINT_URL_CLOUDFORMATION };
}

/** Runs a command in a process of its own, which must fail. */
async function fails(args: string[], said: RegExp, { env = {}, code = 1, folder = dataDir } = {}) {
  const stderr = expect.stringMatching(said);
  expect(await spawnAdmin(args, folder, env)).toEqual({ code, stdout: '', stderr });
}

describe('npm run admin, as a process', () => {
  test('seeds a stack on AWS only if that is for development', async () => {
    let environment = '';
    const env = await accountWith(200, () => {
      const outputs = [
        'TableName',
        'SigningKeysArn',
        'SessionKeysArn',
        'WebhookKeysArn',
        'AuthUrl',
      ].map(
        (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>x</OutputValue></member>`,
      );
      const parameter = `<member><ParameterKey>Environment</ParameterKey><ParameterValue>${environment}</ParameterValue></member>`;
      return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
        <StackName>x</StackName><CreationTime>2026-11-20T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
        <Outputs>${outputs.join('')}</Outputs><Parameters>${environment && parameter}</Parameters>
      </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
    });
    // A request that passes the check ends here.
    env.AWS_ENDPOINT_URL = 'http://127.0.0.1:9';
    const seed = ['--stack', 'reviews', 'seed', '--reviews', '1', '--users', '2'];
    const refused = /^Error: the stack reviews was not deployed with environment=development; /;
    for (const kind of ['', 'production', 'development']) {
      environment = kind;
      await fails(seed, kind === 'development' ? /^Error: (?!the stack)/ : refused, { env });
    }
  });

  test('says what is wrong with the stack that it was told', async () => {
    const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
    const region = { ...nowhere, AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' };
    const away = dataFolder({ dynamodb_endpoint: 'http://127.0.0.1:9' });
    const stack = ['--stack', 'nope', 'report', 'list'];
    const cloudFormation = await accountWith(
      400,
      () => `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>
        <Message>Stack with id nope does not exist</Message></Error><RequestId>x</RequestId></ErrorResponse>`,
    );
    const account = { ...region, ...cloudFormation };
    for (const [args, env, said, code] of [
      [stack, nowhere, /^Error: no region is configured: set AWS_REGION, such as .+\n$/, 1],
      [stack, region, /^Error: there are no credentials for AWS .+\n$/, 1],
      [stack, account, /^Error: Stack with id nope does not exist in us-east-1: .+\n$/, 1],
      [['report', 'list'], {}, /^Error: the database of the stack on .+ does not answer: .+\n$/, 1],
      [
        [...stack, '--data-dir', 'x'],
        account,
        /^error: option '--stack <name>' cannot be used with option '--data-dir <folder>'\n$/,
        2,
      ],
    ] as const) {
      await fails([...args], said, { env, code, folder: away });
    }
  });

  test('ends as a process does: its status, and whoever reads it may stop', async () => {
    expect(await spawnAdmin(['nonsense'])).toMatchObject({ code: 2, stdout: '' });
    expect(await spawnAdmin(['--help'])).toMatchObject({ code: 0, stderr: '' });
    await makeUsers(200);
    const pipe = `"$0" bin/admin.ts user list | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', pipe, process.execPath], {
      cwd: root,
      env: { ...process.env, DATA_DIR: dataFolderOn(name) },
      encoding: 'utf8',
    });
    expect(stdout).toBe('{\n0\n');
    expect(stderr).toBe('');
  });
});
