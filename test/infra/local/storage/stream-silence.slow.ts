import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../../../infra/local/storage/dynamodb.ts';
import { streamOf } from '../../../../infra/local/storage/record-source.ts';
import { createTable } from '../../../../infra/local/storage/table.ts';
import { startEmulator } from '../../../helpers/emulator.ts';
import { newFolder } from '../../../helpers/folder.ts';
import { follow, noteIn, stopFollowing } from '../../../helpers/followed-stream.ts';
import { listen } from '../../../helpers/listen.ts';

test('the stream of a DynamoDB survives requests that are never answered', async () => {
  const emulator = await startEmulator(join(newFolder(), 'emulator.sqlite'));
  const { streamArn } = await createTable(emulator.endpoint, 'reviews');
  let isHanging = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const { hostname, port } = new URL(emulator.endpoint);
    const onward = connect(Number(port), hostname);
    socket.on('data', (bytes) => isHanging || onward.write(bytes));
    onward.on('data', (bytes) => socket.write(bytes));
    for (const each of [socket, onward]) sockets.add(each.on('error', () => {}));
  });
  const endpoint = await listen(proxy);
  const client = new DynamoDBClient(clientOptions(emulator.endpoint));
  try {
    const seen: string[] = [];
    const { idle } = await follow(noteIn(seen), streamOf(endpoint, streamArn));
    await idle();
    const asked = new Promise((resolve) => {
      for (const socket of sockets) socket.once('data', resolve);
    });
    isHanging = true;
    const Item = { pk: 'a', sk: 'REVIEW' };
    await DynamoDBDocumentClient.from(client).send(new PutCommand({ TableName: 'reviews', Item }));
    await asked;
    isHanging = false;
    await idle();
    expect(seen).toEqual(['a']);
  } finally {
    await stopFollowing();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    client.destroy();
    await emulator.stop();
  }
});
