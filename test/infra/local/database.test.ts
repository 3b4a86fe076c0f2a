import { once } from 'node:events';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { startDatabase } from '../../../infra/local/database.ts';
import { announce } from '../../../infra/local/discovery.ts';
import { createTable } from '../../../infra/local/table.ts';
import { newFolder } from '../../helpers/folder.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** Starts an engine that stops after the test. */
async function start(options: Parameters<typeof startDatabase>[0] = {}) {
  const database = await startDatabase(options);
  stops.push(database.stop);
  return new URL(database.endpoint);
}

function makeFolder() {
  const folder = newFolder();
  return folder;
}

test('only this user can read the files of the embedded database', async () => {
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  const { origin } = await start({ file: join(folder, 'dynamodb.sqlite') });
  await createTable(origin, 'reviews');
  announce(folder, {
    pid: process.pid,
    engine_pid: null,
    url: null,
    identity_provider: null,
    dynamodb_endpoint: origin,
    table_name: 'reviews',
  });
  const files = readdirSync(folder);
  const modes = files.map((file) => [file, statSync(join(folder, file)).mode & 0o777]);
  expect(files).toEqual(expect.arrayContaining(['dynamodb.sqlite', 'stack.json']));
  expect(modes).toEqual(files.map((file) => [file, 0o600]));
});

test('listens on another address of this machine at each start, and on no other', async () => {
  const urls = await Promise.all(Array.from({ length: 4 }, () => start()));
  const hosts = urls.map(({ hostname }) => hostname);
  for (const host of hosts) expect(host).toMatch(/^127\.\d+\.\d+\.\d+$/);
  // Two of four random addresses are alike once in three million runs, also in their first bytes.
  expect(new Set(hosts).size).toBe(4);
  expect(new Set(hosts.map((host) => host.split('.')[1])).size).toBeGreaterThan(1);
  expect(hosts).not.toContain('127.0.0.1');
  for (const { port, origin } of urls) {
    expect(await fetch(origin)).toHaveStatus(200);
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed');
  }
});

test('listens on a chosen port, or says that it is in use', async () => {
  const other = createServer().listen(0, '0.0.0.0');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const sentence = `port ${port} of the database is in use: choose another with --engine-port`;
  await expect(start({ port })).rejects.toThrow(sentence);
  other.close();
  await once(other, 'close');
  expect((await start({ port })).port).toBe(`${port}`);
});
