import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { signerFor } from './sign.ts';
import { speakDirectly } from './wire.ts';

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

// What logs copies every request and answer, value by value, for nobody to read: a fifth of the CPU of a list. What says in many words which
// SDK this is takes a twelfth of the CPU of a small read.
for (const name of ['loggerMiddleware', 'getUserAgentMiddleware'])
  client.middlewareStack.remove(name);
const signer = signerFor(client.config);
client.config.signer = async () => signer;

/**
 * The one client, made once per process. A request that DynamoDB does not answer within two seconds is tried
 * again by the SDK, with the same idempotency token. Numbers beyond 2^53 (ranks) come back as bigint.
 */
export const table = DynamoDBDocumentClient.from(client);
speakDirectly(table);
