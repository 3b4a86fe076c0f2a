import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../infra/local/storage/dynamodb.ts';
import { callerOf } from '../helpers/api.ts';
import { startEmulator } from '../helpers/emulator.ts';
import { newFolder } from '../helpers/folder.ts';
import { admin, fresh, makeToken, missing, publish, review, start } from '../helpers/service.ts';

/** Connects until it is refused: on a busy machine the port stays open for up to four seconds. */
async function refusalAt(port: number) {
  for (;;) {
    const late = connect(port, 'localhost');
    try {
      await once(late, 'connect');
      late.destroy();
      await sleep(50);
    } catch (error) {
      const { errors = [error] } = error as { errors?: unknown[] };
      return errors.map((each) => (each as NodeJS.ErrnoException).code);
    }
  }
}

test('SIGTERM finishes the current request, refuses new connections, and exits within ten seconds', async () => {
  const dataDir = fresh('data');
  const service = await start(dataDir);
  const token = await makeToken(dataDir);
  const body = review();
  const type = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const headers = { Authorization: `Bearer ${token}`, ...type };
  const sent = request(`${service.url}/review/`, { method: 'POST', headers });
  sent.write(body.slice(0, 20));
  const answered = once(sent, 'response');
  await sleep(300);
  const began = Date.now();
  const ended = service.end('SIGTERM');
  expect(await refusalAt(Number(new URL(service.url).port))).toContain('ECONNREFUSED');
  await sleep(1_500);
  sent.end(body.slice(20));
  const [response] = await answered;
  expect(response.statusCode).toBe(200);
  expect(response.headers.connection).toBe('close');
  const { id } = JSON.parse(await text(response));
  expect(await ended).toBe(0);
  expect(Date.now() - began).toBeLessThan(10_000);

  const next = await start(dataDir);
  expect(await missing(next.url, [id])).toEqual([]);
  await next.end('SIGTERM');
});

test('SIGTERM waits under ten seconds for a request that never ends', async () => {
  const service = await start(fresh('data'));
  const headers = { 'Content-Length': 20 };
  const sent = request(`${service.url}/oauth/token`, { method: 'POST', headers });
  sent.write('half');
  const cut = once(sent, 'error');
  await sleep(300);
  const began = Date.now();
  expect(await service.end('SIGTERM')).toBe(0);
  expect(Date.now() - began).toBeLessThan(10_000);
  expect((await cut)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test('--log json writes a line per request, without person, token or other input', async () => {
  const dataDir = fresh('data');
  const service = await start(dataDir, { options: ['--log', 'json'] });
  const token = await makeToken(dataDir);
  const id = await publish(service.url, token);
  const { users } = await admin(dataDir, ['user', 'list']);
  await fetch(`${service.url}/user/${users[0].id}?inc=stats&access_token=${token}`);
  await callerOf(service.url, token)('GET', `/review/${id}/vote`);
  await fetch(new URL(`/ws/account/callback?code=${token}`, service.url), { redirect: 'manual' });
  await fetch(`${service.url}/nowhere/${users[0].id}`);
  await service.end('SIGTERM');

  const lines = service.out.map((line) => JSON.parse(line));
  expect(lines[0]).toEqual({ time: expect.any(String), message: 'started', url: service.url });
  expect(lines.slice(1).map(({ method, route, status }) => [method, route, status])).toEqual([
    ['POST', '/ws/1/review', 200],
    ['GET', '/ws/1/user/{user_id}', 200],
    ['GET', '/ws/1/review/{review_id}/vote', 403],
    ['GET', '/ws/account/callback', expect.any(Number)],
    ['GET', null, 404],
  ]);
  for (const line of lines.slice(1)) {
    expect(Object.keys(line)).toEqual(['time', 'method', 'route', 'status', 'ms', 'request_id']);
    expect(Math.abs(Date.parse(line.time) - Date.now())).toBeLessThan(600_000);
    expect(line.ms).toBeGreaterThan(0);
    expect(line.request_id).toMatch(/^[\da-f-]{36}$/);
  }
  for (const secret of [token, users[0].id, id])
    expect(service.out.join('\n')).not.toContain(secret);
});

test('an upgrade reports once what it changes in the data folder', async () => {
  const dataDir = fresh('data');
  const first = await start(dataDir);
  expect(first.err).toEqual([]);
  const mark = JSON.parse(readFileSync(join(dataDir, 'version.json'), 'utf8'));
  await first.end('SIGTERM');

  const older = { ...mark, service_version: '0.9.0' };
  writeFileSync(join(dataDir, 'version.json'), JSON.stringify(older));
  const upgraded = await start(dataDir);
  expect(upgraded.err).toEqual([
    `Upgrade from version 0.9.0 to ${mark.service_version}.`,
    `The data keeps format ${mark.data_version}.`,
  ]);
  await upgraded.end('SIGKILL');

  // The same version of the product may read another format.
  writeFileSync(join(dataDir, 'version.json'), JSON.stringify({ ...mark, data_version: 1 }));
  const reformatted = await start(dataDir);
  expect(reformatted.err).toEqual([
    `Upgrade of the data from format 1 to ${mark.data_version}. Code that reads formats up to 1 can no longer start on it.`,
  ]);
  await reformatted.end('SIGKILL');
  const again = await start(dataDir);
  expect(again.err).toEqual([]);
  await again.end('SIGTERM');
});

test('a start on a DynamoDB brings rank trees of older code to their keys', async () => {
  const emulator = await startEmulator(join(newFolder(), 'emulator.sqlite'));
  const { endpoint } = emulator;
  const table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(endpoint)));
  const dataDir = fresh('data');
  const env = { DYNAMODB_ENDPOINT: endpoint };
  const first = await start(dataDir, { env });
  // Format 2 kept a node of the tree of all users so.
  const Item = { pk: 'TREE#users', sk: 'date#900', '3u': 1 };
  await table.send(new PutCommand({ TableName: 'reviews', Item }));
  await first.end('SIGTERM');
  const upgraded = await start(dataDir, { env });
  expect(upgraded.err).toEqual([expect.stringMatching(/^Upgrading the data/)]);
  const Key = { pk: Item.pk, sk: Item.sk };
  const found = await table.send(new GetCommand({ TableName: 'reviews', Key }));
  expect(found.Item).toBeUndefined();
  await upgraded.end('SIGTERM');
  const again = await start(dataDir, { env });
  expect(again.err).toEqual([]);
  await again.end('SIGTERM');
  table.destroy();
  await emulator.stop();
});
