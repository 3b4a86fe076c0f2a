import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Commits, watchCommits } from '../../../infra/local/commits.ts';
import { settlesWithin } from '../../helpers/clock.ts';
import { newFolder } from '../../helpers/folder.ts';

let folder: string;
let file: string;
/** The connection of the engine, and the one that looks. */
let engine: DatabaseSync;
let own: DatabaseSync;
let commits: Commits | undefined;
let looks = 0;
/** In milliseconds: the clock is calm two seconds after a commit. */
const calm = 2_500;

beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'database');
  engine = new DatabaseSync(file);
  engine.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n)');
  own = new DatabaseSync(file);
  looks = 0;
});
afterEach(() => {
  commits?.stop();
  for (const each of [engine, own]) each.close();
});

function start(watched?: string) {
  const pragma = own.prepare('PRAGMA data_version');
  const version = () => {
    looks += 1;
    return pragma.get()?.data_version;
  };
  commits = watchCommits(version, watched);
  return commits;
}

/** Commits. Returns whether the clock tells it within so many milliseconds. */
function isNoticed({ look, next }: Commits, milliseconds = 500) {
  const { version } = look();
  engine.exec('INSERT INTO t VALUES (1)');
  const told = async () => {
    for (let i = 0; i < 100 && (await next()).version === version; i++);
  };
  return settlesWithin(milliseconds, told());
}

test('a commit is noticed soon, also after a time without any, and each of several', async () => {
  const clock = start(file);
  expect(await isNoticed(clock)).toBe(true);
  await sleep(calm);
  const before = looks;
  await sleep(2_000);
  // One look in five seconds instead of 20 a second, although others read.
  engine.prepare('SELECT * FROM t').all();
  expect(looks - before).toBeLessThanOrEqual(1);
  for (let i = 0; i < 5; i++) expect(await isNoticed(clock)).toBe(true);
});

test('a commit is noticed at any time after another one', async () => {
  const clock = start(file);
  for (const pause of [100, 350, 600, 1_000, 1_900, 2_100]) {
    await isNoticed(clock);
    await sleep(pause);
    expect({ pause, isSoon: await isNoticed(clock, 100) }).toEqual({ pause, isSoon: true });
  }
});

test('a commit is noticed without a log to watch, too', async () => {
  const clock = start(join(folder, 'other'));
  await sleep(calm);
  const before = looks;
  await sleep(1_000);
  expect(looks - before).toBeGreaterThan(3);
  expect(await isNoticed(clock)).toBe(true);
});

test('a hurried look comes at once while nothing is written', async () => {
  const clock = start(file);
  await sleep(calm);
  const next = clock.next();
  clock.hurry();
  expect(await settlesWithin(100, next)).toBe(true);
});
