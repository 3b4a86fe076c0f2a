import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteStorage } from '../../../../shared/base/table/sqlite/storage.ts';
import { newFolder } from '../../../helpers/folder.ts';

const Key = { pk: 'A', sk: 'A' };
let folder: string;
let file: string;
let storage: SqliteStorage;

beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'reviews.sqlite');
  storage = new SqliteStorage(file);
});
afterEach(() => storage.close());

const other = () => new SqliteStorage(file);
const first = { put: { ...Key, n: 1 } } as const;

/** Holds the lock for writing, as a transaction of another process does. */
function holdLock(): () => void {
  const holder = new DatabaseSync(file);
  holder.exec('BEGIN IMMEDIATE');
  return () => {
    holder.exec('ROLLBACK');
    holder.close();
  };
}

test('only the user of the service can read the files', async () => {
  await storage.write([first]);
  const names = readdirSync(folder);
  expect(names.sort()).toEqual(['reviews.sqlite', 'reviews.sqlite-shm', 'reviews.sqlite-wal']);
  for (const name of names)
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
});

test('an item is found again after the file was closed, with a rank of 38 digits', async () => {
  const ranks = [10n ** 37n, -(10n ** 37n), 0n];
  await storage.write(
    ranks.map((popularity_rank, i) => ({ put: { pk: `P${i}`, sk: 'A', popularity_rank } })),
  );
  storage.close();
  storage = other();
  const items = await storage.get(
    [0, 1, 2].map((i) => ({ pk: `P${i}`, sk: 'A' })),
    {},
  );
  expect(items.map((item) => item?.popularity_rank)).toEqual(ranks);
});

test('a scan goes on after a key alone, which can be written into a file', async () => {
  const ranked = ['A', 'B'].map((pk) => ({ put: { pk, sk: 'A', popularity_rank: 10n ** 37n } }));
  await storage.write(ranked);
  expect((await storage.scan(undefined, 1)).next).toEqual({ pk: 'A', sk: 'A' });
});

describe('beside another process that writes', () => {
  test('a write waits, and this process does something else meanwhile', async () => {
    const release = holdLock();
    let isWritten = false;
    const writing = storage.write([first]).then(() => {
      isWritten = true;
    });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await sleep(100);
    clearInterval(timer);
    expect([isWritten, turns > 0]).toEqual([false, true]);
    release();
    await writing;
    expect(await storage.get([Key], {})).toEqual([{ ...Key, n: 1 }]);
  });

  test('a read does not wait', async () => {
    await storage.write([first]);
    const release = holdLock();
    expect(await storage.get([Key], {})).toHaveLength(1);
    release();
  });

  test('a write gives up after eight seconds, and changes nothing', async () => {
    const release = holdLock();
    const writing = storage.write([first]);
    await sleep(50);
    const late = performance.now() + 8_000;
    jest.spyOn(performance, 'now').mockReturnValue(late);
    await expect(writing).rejects.toThrow(expect.objectContaining({ name: 'TableBusy' }));
    jest.restoreAllMocks();
    release();
    expect(await storage.get([Key], {})).toEqual([undefined]);
  });

  test('twenty transactions of each lose no increment', async () => {
    const second = other();
    const add = (one: SqliteStorage) => one.update({ Key, amounts: { n: 1 } });
    await Promise.all(Array.from({ length: 20 }, () => [add(storage), add(second)]).flat());
    expect(await storage.get([Key], {})).toEqual([{ ...Key, n: 40 }]);
    second.close();
  });

  test('its commits change the version, and reads do not', async () => {
    const second = other();
    const before = storage.version();
    await storage.get([Key], {});
    await second.get([Key], {});
    expect(storage.version()).toBe(before);
    await second.write([first]);
    const after = storage.version();
    expect(after).not.toBe(before);
    await storage.write([{ delete: Key }]);
    expect(storage.version()).not.toBe(after);
    second.close();
  });
});

test('a long loop over the table lets other work have its turn', async () => {
  await storage.write(Array.from({ length: 500 }, (_, i) => ({ put: { pk: `P${i}`, sk: 'A' } })));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const end = performance.now() + 200;
  while (performance.now() < end) await storage.scan(undefined, 500);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test('a transaction that fails in the middle leaves nothing', async () => {
  await storage.write([{ put: { ...Key, n: 'a text' } }]);
  const writes = [{ Put: { Item: { pk: 'B', sk: 'B' } } }, { Update: { Key, amounts: { n: 1 } } }];
  await expect(storage.transact(writes)).rejects.toThrow(TypeError);
  expect(await storage.get([{ pk: 'B', sk: 'B' }], {})).toEqual([undefined]);
  await storage.write([first]);
});

describe('changes', () => {
  test('have numbers that only rise, and none for a write that changes nothing', async () => {
    await storage.write([{ put: { ...Key, a: 1, b: [undefined, { c: 2 }] } }]);
    await storage.write([{ put: { b: [{ c: 2 }], a: 1, ...Key } }]);
    await storage.update({ Key, set: { a: 1 } });
    await storage.write([{ delete: { pk: 'nothing', sk: 'A' } }]);
    await storage.write([{ delete: Key }]);
    const [made, deleted, ...more] = await storage.changes.after(0);
    expect(more).toEqual([]);
    expect([made?.before(), deleted?.after()]).toEqual([undefined, undefined]);
    expect(deleted?.before()).toEqual({ ...Key, a: 1, b: [{ c: 2 }] });
    await storage.changes.delete(Number(deleted?.number));
    await storage.write([first]);
    const [next] = await storage.changes.after(0);
    expect(Number(next?.number)).toBeGreaterThan(Number(deleted?.number));
  });

  test('end a page at 1 MB, and continue after it', async () => {
    for (let i = 0; i < 5; i++) {
      await storage.write([{ put: { pk: `P${i}`, sk: 'A', text: 'x'.repeat(300_000) } }]);
    }
    const page = await storage.changes.after(0);
    const rest = await storage.changes.after(Number(page.at(-1)?.number));
    expect([page.length, rest.length]).toEqual([4, 1]);
  });

  test('of a bulk load, or that nobody reads, leave no record', async () => {
    const quiet = new SqliteStorage(file, { isRecorded: ({ after }) => after?.n !== 2 });
    await quiet.write([{ put: { ...Key, n: 2 } }]);
    await quiet.inBulk(() => quiet.write([{ put: { ...Key, n: 3 } }]));
    expect(await quiet.changes.after(0)).toEqual([]);
    await quiet.write([first]);
    expect(await quiet.changes.after(0)).toHaveLength(1);
    quiet.close();
  });
});

test('each index of a list has all that its entries need', async () => {
  const plans = new DatabaseSync(file);
  for (const [index, scope, sort] of [
    ['all-by-date', 'all', 'date'],
    ['author-by-popularity', 'author', 'rank'],
  ]) {
    const [plan] = plans
      .prepare(
        `EXPLAIN QUERY PLAN SELECT pk, sk, ${sort}, user_id, facet, kind FROM item INDEXED BY "${index}"
         WHERE "${scope}" = 'x' AND ${sort} IS NOT NULL ORDER BY ${sort} DESC, pk DESC, sk DESC LIMIT 5`,
      )
      .all();
    expect(plan?.detail).toBe(
      `SEARCH item USING COVERING INDEX ${index} (${scope}=? AND ${sort}>?)`,
    );
  }
  plans.close();
});
