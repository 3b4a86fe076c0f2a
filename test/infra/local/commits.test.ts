import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Commits, watchCommits } from '../../../infra/local/commits.ts';

let folder: string;
let file: string;
/** The connection of the engine, and the one that looks. */
let engine: DatabaseSync;
let own: DatabaseSync;
let commits: Commits | undefined;
let looks = 0;
/** In milliseconds: short, so that the clock is soon calm. */
const patience = 300;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commits-'));
  file = join(folder, 'database');
  engine = new DatabaseSync(file);
  engine.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n)');
  own = new DatabaseSync(file);
  looks = 0;
});
afterEach(() => {
  commits?.stop();
  for (const each of [engine, own]) each.close();
  rmSync(folder, { recursive: true });
});

function start(watched?: string) {
  const pragma = own.prepare('PRAGMA data_version');
  const version = () => {
    looks += 1;
    return pragma.get()?.data_version;
  };
  commits = watchCommits(version, watched, patience);
  return commits;
}

/** Returns the milliseconds from a commit until the clock has told it. */
async function noticed({ look, next }: Commits): Promise<number> {
  const { version } = look();
  const begin = performance.now();
  engine.exec('INSERT INTO t VALUES (1)');
  while ((await next()).version === version);
  return performance.now() - begin;
}

test('a commit is noticed soon, also after a time without any, and each of several', async () => {
  const clock = start(file);
  expect(await noticed(clock)).toBeLessThan(500);
  await sleep(2 * patience);
  const before = looks;
  await sleep(2_000);
  // One look a second instead of 20, although others read.
  engine.prepare('SELECT * FROM t').all();
  expect(looks - before).toBeLessThanOrEqual(3);
  for (let i = 0; i < 5; i++) expect(await noticed(clock)).toBeLessThan(500);
});

test('a commit is noticed without a log to watch, too', async () => {
  const clock = start(join(folder, 'other'));
  await sleep(2 * patience);
  const before = looks;
  await sleep(1_000);
  expect(looks - before).toBeGreaterThan(3);
  expect(await noticed(clock)).toBeLessThan(500);
});

test('a hurried look comes at once while nothing is written', async () => {
  const clock = start(file);
  await sleep(2 * patience);
  const begin = performance.now();
  const next = clock.next();
  clock.hurry();
  await next;
  expect(performance.now() - begin).toBeLessThan(100);
});
