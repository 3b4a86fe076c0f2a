import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';

/** An answer of DynamoDB, so that the code for answers runs too. */
const answer = JSON.stringify({ Count: 1, Items: [{ pk: { S: 'none' } }], ScannedCount: 1 });

/** In milliseconds. For so long the first request waits for the connection of the ping. */
const longestWait = 300;

/**
 * Does the work of a process's first request before there is one: credentials, endpoint, signature,
 * the SDK's code for requests and answers, and a connection. Sends a query that never leaves the
 * process, and asks DynamoDB for `/ping`, which needs no right and costs nothing. A request that
 * comes meanwhile waits for that connection, because a second TLS handshake would cost more. Never
 * rejects.
 */
export async function warmUp(client: DynamoDBClient): Promise<void> {
  const query = new QueryCommand({
    TableName: 'none',
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: 'none' } },
  });
  let connecting: Promise<void> | undefined;
  query.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as object;
      const ping = { ...request, method: 'GET', path: '/ping', headers: {}, body: undefined };
      const timeout = sleep(longestWait, undefined, { ref: false });
      connecting = Promise.race([drain(next({ ...args, request: ping })), timeout]);
      return { response: { statusCode: 200, headers: {}, body: Buffer.from(answer) } } as never;
    },
    // The last before the network.
    { step: 'deserialize', priority: 'low' },
  );
  const warming = client.send(query).then(
    () => connecting,
    // The first request then does all of it, and reports what is wrong.
    () => undefined,
  );
  client.middlewareStack.add(
    (next) => async (args) => {
      await warming;
      return next(args);
    },
    { name: 'awaitConnection', step: 'initialize', priority: 'high' },
  );
  await warming;
  client.middlewareStack.remove('awaitConnection');
}

/** Reads a response to its end, so that its connection is free. */
async function drain(sent: Promise<{ response: unknown }>): Promise<void> {
  try {
    const { body } = (await sent).response as { body: NodeJS.ReadableStream };
    const end = once(body, 'end');
    body.resume();
    await end;
  } catch {
    // The first request then opens a connection.
  }
}
