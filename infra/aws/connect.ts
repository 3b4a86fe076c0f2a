import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { keySecrets } from '../rotate-keys.ts';
import { type DataSettings, refuseNewerFormat, refuseOthers } from '../settings.ts';

/** Name of the output with the settings that change how data is read, as JSON. */
export const settingsOutput = 'Settings';
/** Name of the output with the number of the format of the data. */
export const formatOutput = 'DataFormat';

/**
 * Sets the environment variables that shared/ reads to those of a deployed service; `name` is its
 * service stack. The caller must be signed in to AWS as for its command line. Returns the data
 * stack's environment, if it has that parameter. Throws a sentence if there is no such stack.
 */
export async function connect(name: string): Promise<{ environment: string | undefined }> {
  const [data, service] = await describeBoth(name);
  refuseNewerFormat(formatIn(data));
  const settings = settingsIn(service);
  if (settings) refuseOthers(settings);
  // Values set for a local stack would take precedence.
  for (const variable of ['AWS_ENDPOINT_URL_DYNAMODB', 'OIDC_CLIENT_SECRET', ...keySecrets]) {
    delete process.env[variable];
  }
  Object.assign(process.env, {
    TABLE_NAME: output(data, 'TableName'),
    SIGNING_KEYS_ARN: output(data, 'SigningKeysArn'),
    SESSION_KEYS_ARN: output(data, 'SessionKeysArn'),
    WEBHOOK_KEYS_ARN: output(data, 'WebhookKeysArn'),
    AUTH_URL: output(service, 'AuthUrl'),
    // An older version does not say these.
    OIDC_ISSUER: findOutput(service, 'OidcIssuer') ?? '',
    OIDC_CLIENT_ID: findOutput(service, 'OidcClientId') ?? '',
    OIDC_CLIENT_SECRET_ARN: findOutput(service, 'OidcClientSecretArn') ?? '',
  });
  // An older version has no such output.
  const parameter = data.Parameters?.find(({ ParameterKey }) => ParameterKey === 'Environment');
  return { environment: parameter?.ParameterValue };
}

/** Returns what a deployed service was started with. An older version does not say it. */
export async function settingsOf(name: string): Promise<DataSettings | undefined> {
  const [, service] = await describeBoth(name);
  return settingsIn(service);
}

function settingsIn(service: Stack): DataSettings | undefined {
  const text = findOutput(service, settingsOutput);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Returns the number of the format of a stack's data. An older version does not say it: 0. */
export function formatIn(data: Stack): number {
  return Number(findOutput(data, formatOutput) ?? 0);
}

async function describeBoth(name: string) {
  const client = new CloudFormationClient({ maxAttempts: 3 });
  try {
    return await Promise.all([describe(client, `${name}-data`), describe(client, name)]);
  } catch (cause) {
    const { name: kind, message } = cause as Error;
    let why: string | undefined;
    if (message === 'Region is missing') {
      why = 'no region is configured: set AWS_REGION, such as AWS_REGION=us-east-1';
    } else if (kind === 'CredentialsProviderError') {
      why = `there are no credentials for AWS (${message}): sign in as for the AWS command line, or set AWS_PROFILE`;
    } else if (kind === 'ValidationError' && message.includes('does not exist')) {
      why = `${message} in ${await client.config.region()}: check the name, the region and the account`;
    }
    throw why === undefined ? cause : new Error(why, { cause });
  }
}

async function describe(client: CloudFormationClient, StackName: string) {
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  if (!stack) throw new Error(`there is no stack ${StackName}`);
  return stack;
}

function findOutput({ Outputs = [] }: Stack, name: string) {
  return Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
}

function output(stack: Stack, name: string) {
  const value = findOutput(stack, name);
  if (!value) {
    throw new Error(
      `the stack ${stack.StackName} has no output ${name}: check that it is a stack of this service`,
    );
  }
  return value;
}
