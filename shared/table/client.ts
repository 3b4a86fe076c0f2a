import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The name of the one table; set by the stack that runs us. */
export function tableName(): string {
  return process.env.TABLE_NAME ?? 'reviews';
}

const client = new DynamoDBClient({
  maxAttempts: 4,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 2_000,
    throwOnRequestTimeout: true,
  },
});

// Nobody reads what it logs; still it makes a copy of every request and answer, value by value: a third of the CPU of a list.
client.middlewareStack.remove('loggerMiddleware');

/**
 * The one client, made once per process. A request that DynamoDB does not answer within two seconds is tried
 * again by the SDK, with the same idempotency token. Numbers beyond 2^53 (ranks) come back as bigint.
 */
export const table = DynamoDBDocumentClient.from(client, {
  marshallOptions: { removeUndefinedValues: true },
  unmarshallOptions: {
    wrapNumbers: (digits) =>
      Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits),
  },
});
