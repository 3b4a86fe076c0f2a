import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

/**
 * Sets the environment that shared/ reads to that of a deployed service: `name` is that of its service stack. Whoever calls must be
 * signed in to AWS as for its command line. Gives what kind of environment its data is, where the stack says so. Throws when there is no
 * such stack.
 */
export async function connect(name: string): Promise<{ environment: string | undefined }> {
  const [data, service] = await describeBoth(name);
  // What is set for a local stack would be taken instead.
  for (const variable of ['AWS_ENDPOINT_URL_DYNAMODB', 'SIGNING_KEYS', 'SESSION_KEYS']) {
    delete process.env[variable];
  }
  Object.assign(process.env, {
    TABLE_NAME: output(data, 'TableName'),
    SIGNING_KEYS_ARN: output(data, 'SigningKeysArn'),
    SESSION_KEYS_ARN: output(data, 'SessionKeysArn'),
    AUTH_URL: output(service, 'AuthUrl'),
  });
  return { environment: data.parameters.get('Environment') };
}

interface Description {
  stack: string;
  outputs: ReadonlyMap<string, string>;
  parameters: ReadonlyMap<string, string>;
}

/** Throws with a sentence for the operator where the trouble is on this machine, or the name is not that of a stack. */
async function describeBoth(name: string): Promise<[Description, Description]> {
  const client = new CloudFormationClient({ maxAttempts: 3 });
  try {
    return await Promise.all([describe(client, `${name}-data`), describe(client, name)]);
  } catch (error) {
    const { name: kind, message } = error as Error;
    if (message === 'Region is missing') {
      throw new Error('no region is configured: set AWS_REGION, such as AWS_REGION=us-east-1', {
        cause: error,
      });
    }
    if (kind === 'CredentialsProviderError') {
      throw new Error(
        `there are no credentials for AWS (${message}): sign in as for its command line, or set AWS_PROFILE`,
        { cause: error },
      );
    }
    if (kind === 'ValidationError' && message.includes('does not exist')) {
      throw new Error(
        `${message} in ${await client.config.region()}: is the name, the region and the account right?`,
        { cause: error },
      );
    }
    throw error;
  }
}

async function describe(client: CloudFormationClient, stack: string): Promise<Description> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
  const { Outputs = [], Parameters = [] } = Stacks[0] ?? {};
  return {
    stack,
    outputs: new Map(
      Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue] as const),
    ),
    parameters: new Map(
      Parameters.map(
        ({ ParameterKey = '', ParameterValue = '' }) => [ParameterKey, ParameterValue] as const,
      ),
    ),
  };
}

function output({ stack, outputs }: Description, name: string): string {
  const value = outputs.get(name);
  if (!value) throw new Error(`the stack ${stack} has no output ${name}: is it one of ours?`);
  return value;
}
