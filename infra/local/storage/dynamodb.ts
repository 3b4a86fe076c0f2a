// A DynamoDB at an address of its own, in place of the database in this process.

/** Returns variables of the AWS SDK. The empty profile replaces the developer's own. */
export function databaseEnvironment(endpoint: string, tableName: string): Record<string, string> {
  return {
    TABLE_NAME: tableName,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: '',
    AWS_PROFILE: '',
  };
}

/** Returns the options of the stack's own clients for `endpoint`. */
export function clientOptions(endpoint: string) {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
}

/** In milliseconds: the longest wait of `impatientOptions` for a response. */
export const longestAnswer = 5_000;

/** Returns `clientOptions` for a client that tries once, and does not wait for ever. */
export function impatientOptions(endpoint: string) {
  return {
    ...clientOptions(endpoint),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: longestAnswer,
      throwOnRequestTimeout: true,
    },
  };
}
