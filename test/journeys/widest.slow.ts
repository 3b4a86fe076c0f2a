import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFile, makeFolder } from '../../infra/local/storage/data-folder.ts';
import { SqliteStorage } from '../../shared/base/table/sqlite/storage.ts';
import { provideStorage } from '../../shared/base/table/storage.ts';
import { isFollowed } from '../../shared/features/background.ts';
import { callerOf } from '../helpers/api.ts';
import { admin, fresh, type Service, start } from '../helpers/service.ts';

// What an operator does with a service of the widest data that the rules allow. Each step ends with
// an audit that finds nothing.

const { SIGNING_KEYS, WEBHOOK_KEYS } = process.env;
const env = { SIGNING_KEYS, WEBHOOK_KEYS };
const dataDir = fresh('data');

// Filled while no service runs, so that the followers of the stream find a backlog.
makeFolder(dataDir);
const storage = new SqliteStorage(join(dataDir, databaseFile), { isRecorded: isFollowed });
provideStorage(storage);
const { makeWidestLists } = await import('../helpers/widest.ts');
const { makeWidestAccount } = await import('../helpers/widest-account.ts');
await makeWidestLists({ reviewsEach: 1 });
const { member } = await makeWidestAccount();
storage.close();

/** A service without faults, which has followed what was in its stream. */
async function startSettled(folder: string) {
  const service = await start(folder, { options: ['--quiet'], env });
  const call = callerOf(service.url.replace(/\/ws\/1$/, ''));
  const deadline = Date.now() + 120_000;
  for (;;) {
    const { status, body } = await call('GET', '/ws/health');
    // Nothing answers at the addresses of the account's webhooks.
    if (status === 200 || /^Most webhooks fail[^.]*\. [^.]*$/.test(body.description))
      return service;
    if (Date.now() > deadline) throw new Error(JSON.stringify(body));
    await sleep(200);
  }
}

/** Ends a service that has refused nothing for its cost, and logged no error. */
async function endWell(service: Service) {
  expect(await service.end('SIGTERM')).toBe(0);
  expect(service.err.filter((line) => !line.startsWith('Most webhooks fail'))).toEqual([]);
}

/** Expects that an audit finds no difference. */
async function expectRight(folder: string) {
  const { items, ...rest } = await admin(folder, ['audit']);
  expect(rest).toEqual({ differences: 0, repaired: 0, changing: 0 });
  expect(items).toBeGreaterThan(1_000);
}

async function exportOf(folder: string) {
  const file = fresh('everything.jsonl');
  await admin(folder, ['export', '--out', file]);
  return file;
}

async function hashOf(file: string) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

const linesIn = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);

test('the widest data in the hands of its operator', async () => {
  const service = await startSettled(dataDir);
  // Copies were not counted when they were made. Karma and lists follow the repair of votes.
  const repair = () => admin(dataDir, ['audit', '--repair']);
  await expect(repair()).rejects.toThrow('cannot be repaired');
  await repair();
  await expectRight(dataDir);
  const everything = await exportOf(dataDir);
  const hash = await hashOf(everything);

  await admin(dataDir, ['aggregates', 'rebuild']);
  await expectRight(dataDir);

  const backup = fresh('backup');
  await admin(dataDir, ['backup', backup]);
  const restored = fresh('restored');
  await admin(restored, ['restore', backup]);
  const second = await startSettled(restored);
  await expectRight(restored);
  expect(await hashOf(await exportOf(restored))).toBe(hash);
  await endWell(second);

  const empty = fresh('empty');
  const third = await startSettled(empty);
  expect(await admin(empty, ['import', everything])).toMatchObject({ refused: {}, present: {} });
  await expectRight(empty);
  expect(await hashOf(await exportOf(empty))).toBe(hash);
  await endWell(third);

  const used = fresh('used');
  const fourth = await startSettled(used);
  await admin(used, ['seed', '--reviews', '300', '--users', '50']);
  expect(await admin(used, ['import', everything])).toMatchObject({ refused: {}, present: {} });
  await expectRight(used);
  const all = new Set(linesIn(await exportOf(used)));
  expect(linesIn(everything).filter((line) => !all.has(line))).toEqual([]);
  await endWell(fourth);

  await admin(dataDir, ['user', 'delete', member.id, '--yes']);
  const deadline = Date.now() + 120_000;
  const isRight = () =>
    expectRight(dataDir).then(
      () => true,
      () => false,
    );
  while (!(await isRight()) && Date.now() < deadline);
  await expectRight(dataDir);
  // Decisions and the cases of others name who decided, and stay.
  const stays = (line: string) => ['decision', 'case'].includes(JSON.parse(line).kind);
  const left = linesIn(await exportOf(dataDir)).filter((line) => line.includes(member.id));
  expect(left.filter((line) => !stays(line))).toEqual([]);
  await endWell(service);
}, 900_000);
