import { type ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isMetered, use } from './budget.ts';
import { warmUp } from './warm-up.ts';

/** Returns the name of the table, which the deployment sets. */
export function tableName(): string {
  return process.env.TABLE_NAME ?? 'reviews';
}

/** The client beneath `table`. */
const rawTable = new DynamoDBClient({
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
});

// The logger middleware copies every request and answer for a log that nobody reads. The user agent
// middleware builds the name of the SDK each time. Without both, a list page takes four fifths of
// the CPU.
rawTable.middlewareStack.remove('loggerMiddleware');
rawTable.middlewareStack.remove('getUserAgentMiddleware');

/** Names the caller in CloudTrail. */
const userAgent = 'review-service';
rawTable.middlewareStack.add(
  (next) => (args) => {
    const { headers } = args.request as { headers: Record<string, string> };
    headers['user-agent'] = userAgent;
    return next(args);
  },
  { name: 'nameCaller', step: 'build' },
);

// A command is counted before it is sent, and its units after. Only requests have a budget.
rawTable.middlewareStack.add(
  (next, { commandName = '' }) =>
    async (args) => {
      if (!isMetered()) return next(args);
      use({ commands: 1 });
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' as const };
      const answer = await next({ ...args, input });
      use({ [isWrite(commandName) ? 'write' : 'read']: unitsOf(answer.output as Output) });
      return answer;
    },
  { name: 'countUnits', step: 'initialize', priority: 'high' },
);
rawTable.middlewareStack.add(
  (next) => async (args) => {
    const answer = await next(args);
    const { headers } = answer.response as { headers: Record<string, string | undefined> };
    use({ bytes: Number(headers['content-length'] ?? 0) });
    return answer;
  },
  { name: 'countBytes', step: 'deserialize', priority: 'low' },
);

/**
 * The one client. The SDK retries a request without an answer after 2 s, with the same idempotency
 * token. Numbers beyond 2^53 (ranks) are read as bigint. Undefined values are left out.
 */
export const table = DynamoDBDocumentClient.from(rawTable, {
  marshallOptions: { removeUndefinedValues: true },
});

// The one thing that happens at import. Lambda runs the import of a function at full speed, and a
// request at the share of a CPU that its memory buys. On a server the process stays warm anyway.
if (process.env.AWS_LAMBDA_FUNCTION_NAME !== undefined) void warmUp(rawTable);

/** The commands that write here are transactions, batches and updates of an item. */
const isWrite = (commandName: string) => /Write|Update/.test(commandName);

/** The part of an answer that tells its cost. Batches and transactions have a list. */
interface Output {
  ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
}

function unitsOf({ ConsumedCapacity = [] }: Output): number {
  const consumed = [ConsumedCapacity].flat();
  return consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
}
