import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { formatIn } from '../infra/aws/connect.ts';
import { findQuotaProblem } from '../infra/aws/quotas.ts';
import { findUnconfirmed } from '../infra/aws/subscriptions.ts';
import { dataFormat } from '../shared/base/table/format.ts';
import { overFormerTrees } from './over-former-trees.ts';

/**
 * Runs `cdk deploy --all`. Checks the credentials first, because synthesis takes a while, and then
 * the quotas.
 */
const { values } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: {
    profile: { type: 'string' },
    context: { type: 'string', short: 'c', multiple: true },
  },
});
/** The oldest format whose rank trees this code brings to its keys. */
const oldestMoved = 2;

const { profile } = values;
if (typeof profile === 'string') process.env.AWS_PROFILE = profile;
const region = await regionOf();

const { name, ...plan } = planOf();
const problem = await credentialsProblem();
if (problem) {
  console.error(
    `Error: ${problem}. Sign in as for the AWS command line: "aws configure", "aws sso login", or the variables AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  );
  process.exit(1);
}
const unready = plan.isAlsoInVirginia ? await bootstrapProblem() : undefined;
if (unready) {
  console.error(`Error: ${unready}`);
  process.exit(1);
}
const format = await formatOf(`${name}-data`);
if (format > dataFormat) {
  console.error(
    `Error: the data of ${name} has format ${format}, and this code reads formats up to ${dataFormat}: deploy the newer code`,
  );
  process.exit(1);
}
const quota = await findQuotaProblem({ region, ...plan });
if (quota) console.error(`Quota: ${quota}`);
const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));
const args = [cdk, 'deploy', '--all', ...process.argv.slice(2)];
process.env.AWS_REGION ??= region;
process.exitCode = await (format < oldestMoved
  ? deploy()
  : overFormerTrees(name, format, deploy).catch(explained));
if (process.exitCode === 0 && plan.hasAlarmMail) {
  for (const sentence of await findUnconfirmed({ region, name, ...plan })) console.log(sentence);
}

/** Runs the CDK, and returns its exit status. */
async function deploy(): Promise<number> {
  const [status] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
  return status ?? 1;
}

/** Prints what an error says, and returns the exit status. */
function explained({ message }: Error): number {
  console.error(`Error: ${message}`);
  return 1;
}

/** Returns the region that the CDK deploys to: of the environment or the profile. */
async function regionOf(): Promise<string> {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  if (AWS_REGION || AWS_DEFAULT_REGION) return `${AWS_REGION || AWS_DEFAULT_REGION}`;
  try {
    return await new CloudFormationClient({}).config.region();
  } catch {
    return 'us-east-1';
  }
}

/** Returns the options that quotas depend on, of cdk.json and the command line. */
function planOf() {
  const { context = {} } = JSON.parse(
    readFileSync(new URL('../cdk.json', import.meta.url), 'utf8'),
  ) as { context?: Record<string, unknown> };
  const given = [values.context ?? []].flat().map((each) => `${each}`.split('=', 2));
  const options: Record<string, unknown> = { ...context, ...Object.fromEntries(given) };
  const cdn = ['open', 'true'].includes(`${options.cdn}`);
  const hasHealth = Boolean(options.healthCheck) || (cdn && !!options.domain);
  return {
    name: `${options.name ?? 'review-service'}`,
    hasAlarmMail: Boolean(options.alarmMail),
    hasHealth,
    /** These options make a stack in us-east-1 as well. */
    isAlsoInVirginia: hasHealth || (cdn && `${options.firewall}` === 'true'),
    // Six functions sign people in, or make tokens.
    reserved: 6 * Number(options.signInConcurrency || 0),
  };
}

/** Returns the number of the format of a stack's data, or 0 if there is no such stack. */
async function formatOf(StackName: string): Promise<number> {
  const client = new CloudFormationClient({ region, maxAttempts: 2 });
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    return stack ? formatIn(stack) : 0;
  } catch {
    return 0;
  }
}

/** Returns a sentence if the CDK cannot make stacks in us-east-1. It would say so at the end. */
async function bootstrapProblem(): Promise<string | undefined> {
  const client = new CloudFormationClient({ region: 'us-east-1', maxAttempts: 2 });
  try {
    await client.send(new DescribeStacksCommand({ StackName: 'CDKToolkit' }));
  } catch (error) {
    if (!/does not exist/.test((error as Error).message)) return undefined;
    return 'healthCheck, and cdn with a domain or a firewall, make a stack in us-east-1 too. Prepare that region: npx cdk bootstrap aws://<account>/us-east-1';
  }
  return undefined;
}

/** Describes why AWS rejects the credentials. The CDK explains other problems better. */
async function credentialsProblem(): Promise<string | undefined> {
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
