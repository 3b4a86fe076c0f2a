import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

/** Runs `cdk deploy --all`. Checks the credentials first, because synthesis takes a while. */
const { profile } = parseArgs({ strict: false, options: { profile: { type: 'string' } } }).values;
if (typeof profile === 'string') process.env.AWS_PROFILE = profile;

const problem = await credentialsProblem();
if (problem) {
  console.error(
    `Error: ${problem}. Sign in as for the AWS command line: "aws configure", "aws sso login", or the variables AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  );
  process.exit(1);
}
const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));
const args = [cdk, 'deploy', '--all', ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;

/** Describes why AWS rejects the credentials. The CDK explains other problems better. */
async function credentialsProblem(): Promise<string | undefined> {
  const region = process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || 'us-east-1';
  const client = new CloudFormationClient({ region, maxAttempts: 2 });
  try {
    await client.send(new DescribeStacksCommand({ StackName: 'CDKToolkit' }));
  } catch (error) {
    const { name, message } = error as Error;
    if (name === 'CredentialsProviderError') return `there are no AWS credentials (${message})`;
    if (
      /^(ExpiredToken|InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClient)/.test(name)
    ) {
      return `AWS does not accept these credentials (${name})`;
    }
  }
  return undefined;
}
