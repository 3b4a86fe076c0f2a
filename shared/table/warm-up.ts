import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';

/** An answer of DynamoDB, so that the code for answers runs too. */
const answer = JSON.stringify({ Count: 1, Items: [{ pk: { S: 'none' } }], ScannedCount: 1 });

/**
 * Does the work of a process's first request before there is one: credentials, endpoint, signature,
 * the SDK's code for requests and answers, and a connection. Sends a query that never leaves the
 * process, and asks DynamoDB for `/ping`, which needs no right and costs nothing. Never rejects.
 */
export async function warmUp(client: DynamoDBClient): Promise<void> {
  const query = new QueryCommand({
    TableName: 'none',
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: 'none' } },
  });
  query.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as object;
      const ping = { ...request, method: 'GET', path: '/ping', headers: {}, body: undefined };
      void drain(next({ ...args, request: ping }));
      return { response: { statusCode: 200, headers: {}, body: Buffer.from(answer) } } as never;
    },
    // The last before the network.
    { step: 'deserialize', priority: 'low' },
  );
  try {
    await client.send(query);
  } catch {
    // The first request then does all of it, and reports what is wrong.
  }
}

/** Reads a response to its end, so that its connection is free. */
async function drain(sent: Promise<{ response: unknown }>): Promise<void> {
  try {
    const { body } = (await sent).response as { body: NodeJS.ReadableStream };
    body.on('error', () => {}).resume();
  } catch {
    // The first request then opens a connection.
  }
}
