import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseEnvironment } from '../../../../infra/local/storage/dynamodb.ts';
import { createTable } from '../../../../infra/local/storage/table.ts';
import { callerOf } from '../../../helpers/api.ts';
import { startEmulator } from '../../../helpers/emulator.ts';
import { newFolder } from '../../../helpers/folder.ts';
import { admin, root, start } from '../../../helpers/service.ts';

// A data folder of the releases 1.0 to 1.2 has the file of the emulator, and its tables.

const { SIGNING_KEYS, KILLS = '20' } = process.env;
const env = { SIGNING_KEYS };
const kills = Number(KILLS);

/** A folder as release 1.2 has left it, and a copy of its data. */
const former = newFolder();
const file = join(former, 'dynamodb.sqlite');
const emulator = await startEmulator(file);
await createTable(emulator.endpoint, 'reviews');
Object.assign(process.env, databaseEnvironment(emulator.endpoint, 'reviews'));
const { exportAll } = await import('../../../../bin/export.ts');
const { live } = await import('../../../helpers/transfer-commands.ts');
const { makeUsers } = await import('../../../helpers/world.ts');
const { applyStream } = await import('../../../helpers/stream.ts');
const { seed } = await import('../../../../bin/seed.ts');
const { eraseLeftovers, findLeftovers } = await import(
  '../../../../shared/features/account/erase-leftovers.ts'
);
await seed({ reviews: 300, users: 40, seed: 1 });
const { tokens, review } = await live();
await applyStream();
// The counts of a thing whose one review was hidden.
await eraseLeftovers(await findLeftovers());
// What the consumers have not followed yet: reviews, votes and the deletion of an account.
const [ann, ben, leaver] = await makeUsers(3);
for (const each of [await ann.publishes(), await leaver.publishes()]) await ben.votes(each);
await leaver.votes(review);
await leaver.leaves();
const before = join(newFolder(), 'before.jsonl');
await exportAll(before, 'before');
await emulator.stop();
// As at the first start of that release.
writeFileSync(join(former, 'version.json'), '{"data_version":3,"service_version":"1.1.0"}\n');
const bytes = readFileSync(file);

/** Returns a copy of the former folder. */
function copyFormer(): string {
  const folder = join(newFolder(), 'data');
  cpSync(former, folder, { recursive: true });
  return folder;
}

/** Starts the service, waits until the move begins and then `until`, and kills it. */
async function killMove(folder: string, until: () => Promise<unknown>): Promise<void> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const args = ['--require', './bin/ready.cjs', 'bin/start.ts', '--port', '0', '--quiet'];
  const child = spawn(process.execPath, [...args, '--data-dir', folder], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const gone = once(child, 'exit');
  for await (const chunk of child.stderr) if (`${chunk}`.includes('is moved')) break;
  await until();
  child.kill('SIGKILL');
  await gone;
}

/** Returns the milliseconds that a whole move takes on this machine. */
async function timeMove(): Promise<number> {
  const folder = copyFormer();
  let begin = 0;
  await killMove(folder, async () => {
    begin = performance.now();
    while (!existsSync(join(folder, 'reviews.sqlite'))) await sleep(5);
  });
  return performance.now() - begin;
}

/** Expects the data of the former folder in a service, with all numbers and no remains. */
async function expectAll(folder: string, url: string): Promise<void> {
  const after = join(newFolder(), 'after.jsonl');
  await admin(folder, ['export', '--out', after]);
  expect(readFileSync(after, 'utf8')).toBe(readFileSync(before, 'utf8'));
  // The consumers follow what the former release has left to them.
  const audit = () => admin(folder, ['audit']).catch(() => undefined);
  const deadline = Date.now() + 30_000;
  while ((await audit())?.differences !== 0 && Date.now() < deadline) await sleep(200);
  expect(await audit()).toMatchObject({ differences: 0, changing: 0 });
  const nothing = { users: 0, reviews: 0, applications: 0, entities: 0, hiding: 0 };
  expect(await admin(folder, ['erase'])).toMatchObject(nothing);
  const statuses = await Promise.all(
    tokens.map(async (token) => (await callerOf(url, token)('GET', '/user/me')).status),
  );
  expect(statuses).not.toContain(401);
}

test('is moved once, with progress, and stays until the operator deletes it', async () => {
  const folder = copyFormer();
  const service = await start(folder, { options: ['--quiet'], env });
  expect(service.err).toEqual([
    expect.stringMatching(/^The data is moved to a new file: \d{4,} items, at about/),
    expect.stringMatching(/^The data is in reviews\.sqlite now\. Keep \S+dynamodb\.sqlite until/),
    expect.stringMatching(/^Upgrade from version 1\.1\.0 to /),
    expect.stringMatching(
      /^Upgrade of the data from format 3 to 4\. Code that reads formats up to 3/,
    ),
  ]);
  await expectAll(folder, service.url);
  expect(readFileSync(join(folder, 'dynamodb.sqlite')).equals(bytes)).toBe(true);
  expect(statSync(join(folder, 'reviews.sqlite')).mode & 0o777).toBe(0o600);
  expect(await service.end('SIGTERM')).toBe(0);

  rmSync(join(folder, 'dynamodb.sqlite'));
  const again = await start(folder, { options: ['--quiet'], env });
  expect(again.err).toEqual([]);
  await expectAll(folder, again.url);
  await again.end('SIGTERM');
  expect(readdirSync(folder).filter((name) => /sqlite/.test(name))).toEqual(['reviews.sqlite']);
}, 120_000);

test(
  `is moved although ${kills} moves are killed`,
  async () => {
    const whole = await timeMove();
    let folder = copyFormer();
    let partial = 0;
    for (let kill = 0; kill < kills; kill++) {
      await killMove(folder, () => sleep(whole * Math.random()));
      if (existsSync(join(folder, 'reviews.sqlite.moving'))) partial++;
      expect(readFileSync(join(folder, 'dynamodb.sqlite')).equals(bytes)).toBe(true);
      const isLast = kill === kills - 1;
      if (!existsSync(join(folder, 'reviews.sqlite')) && !isLast) continue;
      const service = await start(folder, { options: ['--quiet'], env });
      await expectAll(folder, service.url);
      await service.end('SIGTERM');
      expect(readdirSync(folder).filter((name) => name.includes('moving'))).toEqual([]);
      folder = copyFormer();
    }
    expect(partial).toBeGreaterThan(kills / 4);
    process.stderr.write(`${partial} of ${kills} moves were killed in the middle\n`);
  },
  60_000 + 30_000 * kills,
);

test('is moved from a log that was not yet copied to the file, and from a backup', async () => {
  const killed = copyFormer();
  const name = join(killed, 'dynamodb.sqlite');
  const writer = new DatabaseSync(name);
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  writer.exec('CREATE TEMP TABLE kept AS SELECT rowid AS place, item_json FROM reviews');
  writer.exec(`UPDATE reviews SET item_json = '{}'; PRAGMA wal_checkpoint(TRUNCATE)`);
  writer.exec(
    'UPDATE reviews SET item_json = (SELECT item_json FROM kept WHERE place = reviews.rowid)',
  );
  // As it lies on the disk while it is open.
  const folder = join(newFolder(), 'data');
  cpSync(killed, folder, { recursive: true });
  expect(statSync(join(folder, 'dynamodb.sqlite-wal')).size).toBeGreaterThan(100_000);
  writer.close();
  const service = await start(folder, { options: ['--quiet'], env });
  await expectAll(folder, service.url);
  await service.end('SIGTERM');

  const restored = join(newFolder(), 'data');
  await admin(restored, ['restore', former]);
  const second = await start(restored, { options: ['--quiet'], env });
  await expectAll(restored, second.url);
  await second.end('SIGTERM');
}, 120_000);

test('is empty if that release was stopped before it had made its table', async () => {
  const folder = join(newFolder(), 'data');
  mkdirSync(folder);
  const { stop } = await startEmulator(join(folder, 'dynamodb.sqlite'));
  await stop();
  const service = await start(folder, { options: ['--quiet'], env });
  expect((await callerOf(service.url)('GET', '/review/')).body.count).toBe(0);
  await service.end('SIGTERM');
});

test('stays where the service looks for another table, with a sentence', async () => {
  const folder = copyFormer();
  const other = start(folder, { options: ['--quiet'], env: { ...env, TABLE_NAME: 'other' } });
  await expect(other).rejects.toThrow(
    /^Error: the database \S+dynamodb\.sqlite has no table other, but reviews: set TABLE_NAME to the one with your data\. The data is unchanged$/,
  );
  expect(readFileSync(join(folder, 'dynamodb.sqlite')).equals(bytes)).toBe(true);
  expect(readFileSync(join(folder, 'version.json'), 'utf8')).toContain('"data_version":3,');
});

const isRoot = process.getuid?.() === 0;

// A file system of its own, which only root can mount.
(isRoot ? test : test.skip)('is left alone on a disk without room, with a sentence', async () => {
  const folder = newFolder();
  const size = Math.ceil((1.5 * bytes.length) / 4096) * 4096;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  expect(`${mounted.stderr}`).toBe('');
  try {
    cpSync(former, folder, { recursive: true });
    const files = readdirSync(folder).sort();
    const child = spawn(process.execPath, ['bin/start.ts', '--port', '0', '--data-dir', folder], {
      cwd: root,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([readAll(child.stderr), once(child, 'exit')]);
    expect(stderr).toMatch(
      /^Error: the data is moved to a new file, which needs \d+ MB in \S+, and the disk has \d+ MB left: make room and start again\. The data is unchanged\n$/,
    );
    expect(code).toBe(1);
    expect(readFileSync(join(folder, 'dynamodb.sqlite')).equals(bytes)).toBe(true);
    // The former release could still start there.
    expect(readFileSync(join(folder, 'version.json'), 'utf8')).toContain('"data_version":3,');
    expect(
      readdirSync(folder)
        .filter((name) => name !== 'lock')
        .sort(),
    ).toEqual(files);
  } finally {
    spawnSync('umount', ['-l', folder]);
  }
});
