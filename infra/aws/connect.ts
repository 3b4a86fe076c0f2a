import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

/**
 * Sets the environment that shared/ reads to that of a deployed service: `name` is that of its service stack. Whoever calls must be
 * signed in to AWS as for its command line. Throws when there is no such stack.
 */
export async function connect(name: string): Promise<void> {
  const client = new CloudFormationClient({ maxAttempts: 3 });
  const [data, service] = await Promise.all([
    outputsOf(client, `${name}-data`),
    outputsOf(client, name),
  ]);
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
}

interface Outputs {
  stack: string;
  values: ReadonlyMap<string, string>;
}

async function outputsOf(client: CloudFormationClient, StackName: string): Promise<Outputs> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const outputs = Stacks[0]?.Outputs ?? [];
  return {
    stack: StackName,
    values: new Map(
      outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue] as const),
    ),
  };
}

function output({ stack, values }: Outputs, name: string): string {
  const value = values.get(name);
  if (!value) throw new Error(`the stack ${stack} has no output ${name}: is it one of ours?`);
  return value;
}
