import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../../infra/local/database.ts';
import { skipSignatures } from '../../../infra/local/unsigned.ts';
import { database, TableName } from '../../helpers/followed-stream.ts';
import { listen } from '../../helpers/listen.ts';

const clientOf = (endpoint: string) =>
  DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(endpoint)));

test('the engine answers requests without a signature', async () => {
  const client = clientOf(database.endpoint);
  skipSignatures(client);
  // A second start in one process does the same again.
  skipSignatures(client);
  const Key = { pk: 'a', sk: 'b' };
  await client.send(new PutCommand({ TableName, Item: { ...Key, rating: 5 } }));
  const { Item } = await client.send(new GetCommand({ TableName, Key }));
  expect(Item).toEqual({ ...Key, rating: 5 });
  client.destroy();
});

test('no request is signed', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.end('{}');
  });
  const client = clientOf(await listen(server));
  const get = () => client.send(new GetCommand({ TableName, Key: { pk: 'a', sk: 'b' } }));
  await get();
  skipSignatures(client);
  await get();
  const signatures = seen.map(
    ({ authorization }) => /Signature=(\w*)$/.exec(`${authorization}`)?.[1],
  );
  const { length } = createHmac('sha256', '').digest('hex');
  expect(signatures[0]).toHaveLength(length);
  expect(signatures[1]).toBe('0');
  client.destroy();
  server.close();
});
