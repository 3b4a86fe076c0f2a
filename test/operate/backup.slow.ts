import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { admin, fresh, makeToken, missing, publish, start } from '../helpers/service.ts';

/** Returns the access mode of each file in a folder, such as `600`. */
function modes(folder: string) {
  const names = readdirSync(folder);
  return Object.fromEntries(
    names.map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
}

test('backups under load are private, and contain every acknowledged write', async () => {
  const dataDir = fresh('data');
  const options = ['--quiet', '--publications-per-day', '0'];
  const service = await start(dataDir, { options });
  const token = await makeToken(dataDir);
  const published: string[] = [];
  let isOver = false;
  const writers = Array.from({ length: 4 }, async () => {
    while (!isOver) published.push(await publish(service.url, token));
  });
  const backups = [];
  for (let i = 0; i < 3; i++) {
    const folder = fresh('backup');
    const before = [...published];
    const answer = await admin(dataDir, ['backup', folder]);
    const files = ['reviews.sqlite', 'session-key', 'signing-key', 'version.json', 'webhook-key'];
    expect(answer.files.toSorted()).toEqual(files);
    expect(answer.database_bytes).toBe(statSync(join(folder, 'reviews.sqlite')).size);
    expect(modes(folder)).toEqual(Object.fromEntries(files.map((name) => [name, '600'])));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    backups.push({ folder, before });
  }
  const health = await fetch(new URL('/ws/health', service.url));
  expect(health).toHaveStatus(200);
  const { backup_age_seconds } = (await health.json()) as { backup_age_seconds: number };
  expect(backup_age_seconds).toBeGreaterThanOrEqual(0);
  expect(backup_age_seconds).toBeLessThan(60);
  isOver = true;
  await Promise.all(writers);
  expect(backups.at(-1)?.before.length).toBeGreaterThan(5);
  // The machine is lost.
  await service.end('SIGKILL');
  rmSync(dataDir, { recursive: true });

  for (const { folder, before } of backups) {
    const elsewhere = fresh('data');
    await admin(elsewhere, ['restore', folder]);
    const restored = await start(elsewhere, { options: ['--quiet'] });
    expect(await missing(restored.url, before)).toEqual([]);
    // The token is still valid, because the backup includes the keys.
    await publish(restored.url, token);
    expect(await admin(elsewhere, ['audit'])).toMatchObject({ differences: 0 });
    expect(await restored.end('SIGTERM')).toBe(0);
  }
});

test('a stopped service can be backed up, too', async () => {
  const dataDir = fresh('data');
  const folder = fresh('backup');
  const elsewhere = fresh('data');
  const service = await start(dataDir);
  const id = await publish(service.url, await makeToken(dataDir));
  await service.end('SIGTERM');
  await admin(dataDir, ['backup', folder]);
  await admin(elsewhere, ['restore', folder]);
  const restored = await start(elsewhere);
  expect(await missing(restored.url, [id])).toEqual([]);
  await restored.end('SIGTERM');
});

describe('refused, without any change:', () => {
  const dataDir = fresh('data');
  const folder = fresh('backup');

  test('a backup of an empty folder, or to a folder that is not empty', async () => {
    await expect(admin(dataDir, ['backup', folder])).rejects.toThrow(
      /^Error: there is no database in the data folder /,
    );
    const service = await start(dataDir);
    await service.end('SIGTERM');
    await admin(dataDir, ['backup', folder]);
    const before = modes(folder);
    await expect(admin(dataDir, ['backup', folder])).rejects.toThrow(
      /^Error: .* is not empty: choose a new folder for the backup\n$/,
    );
    expect(modes(folder)).toEqual(before);
  });

  test('a restore over data, or over the keys of another folder', async () => {
    await expect(admin(dataDir, ['restore', folder])).rejects.toThrow(
      /^Error: the data folder .* already contains reviews\.sqlite: move these files away/,
    );
    const keys = fresh('data');
    mkdirSync(keys);
    writeFileSync(join(keys, 'signing-key'), 'precious');
    await expect(admin(keys, ['restore', folder])).rejects.toThrow(/ already contains signing-key/);
    expect(readFileSync(join(keys, 'signing-key'), 'utf8')).toBe('precious');
  });

  test('a restore while a service runs on the folder', async () => {
    const service = await start(dataDir);
    await expect(admin(dataDir, ['restore', folder])).rejects.toThrow(/ is in use by process \d+/);
    await service.end('SIGTERM');
  });

  test('a start after a restore that was killed, which can be repeated', async () => {
    const half = fresh('data');
    mkdirSync(half);
    writeFileSync(join(half, 'reviews.sqlite.new'), 'half of a database');
    await expect(start(half)).rejects.toThrow(
      /^Error: a restore to the data folder .* was interrupted: repeat it \(npm run admin -- --data-dir .* restore <backup>\), or delete .*reviews\.sqlite\.new to start with an empty database$/,
    );
    expect(readdirSync(half)).not.toContain('reviews.sqlite');
    await admin(half, ['restore', folder]);
    expect(readdirSync(half)).not.toContain('reviews.sqlite.new');
    const restored = await start(half);
    expect(await restored.end('SIGTERM')).toBe(0);
  });

  test('a restore from a damaged backup, whose copy does not stay', async () => {
    const damaged = fresh('backup');
    const target = fresh('data');
    cpSync(folder, damaged, { recursive: true });
    const file = join(damaged, 'reviews.sqlite');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(1, 4096, bytes.length / 2));
    await expect(admin(target, ['restore', damaged])).rejects.toThrow(
      /^Error: the database .*backup.reviews\.sqlite cannot be read \(.*\): choose another backup\. The data folder is unchanged\n$/,
    );
    expect(readdirSync(target).filter((name) => name !== 'lock')).toEqual([]);
  });

  test('a restore from a folder that is no backup', async () => {
    await expect(admin(fresh('data'), ['restore', fresh('nothing')])).rejects.toThrow(
      /^Error: .* is not a backup: it contains no reviews\.sqlite\n$/,
    );
  });

  test('data of a newer version, at start-up and at a restore', async () => {
    const newer = '{"data_version":99,"service_version":"9.0.0"}';
    for (const place of [dataDir, folder]) writeFileSync(join(place, 'version.json'), newer);
    const sentence =
      /^Error: the data in .* has format 99, and this code reads formats up to \d+: run the newer code that wrote it \(version 9\.0\.0\)/;
    await expect(start(dataDir)).rejects.toThrow(sentence);
    await expect(admin(fresh('data'), ['restore', folder])).rejects.toThrow(sentence);
    expect(readFileSync(join(dataDir, 'version.json'), 'utf8')).toBe(newer);
  });
});
