import '../../../helpers/table.ts';
import { randomUUID } from 'node:crypto';
import type { LogCursor } from '../../../../shared/features/changes/cursor.ts';
import { laneOf, logChanges, readLogEnd } from '../../../../shared/features/changes/log.ts';
import type { LoggedChange } from '../../../../shared/features/changes/logged-change.ts';
import { readWindow } from '../../../../shared/features/changes/window.ts';

// Windows of one lane, which are read again after a crash. Many changes put the time of a lane
// ahead of the clock, so these tests have a log of their own.

/** Makes an id whose changes are logged in this lane. */
const idIn = (lane: 0 | 1) => `0000000${lane}${randomUUID().slice(8)}`;

test('a window of one lane never ends earlier when it is read again', async () => {
  const early = [idIn(0), idIn(0)];
  const first = idIn(1);
  const second = idIn(1);
  const log = (...ids: string[]) =>
    logChanges(ids.map((id, i) => ({ id, version: i + 1, kind: 'edited' as const })));
  await log(...early);
  await log(first, second);
  const from = await readLogEnd();
  const read = async (cursor: LogCursor) =>
    readWindow(cursor, await readLogEnd(), { limit: 3, isOfOneLane: true });
  await log(first);
  await log(first, second);
  const before = await read(from);
  expect(before.changed.map(({ newest }) => newest.id)).toEqual([first, second]);
  // The other lane, which is further behind, now has changes too.
  await log(...early);
  const again = await read(from);
  expect(again.changed.map(({ newest }) => newest.id)).toEqual(early);
  expect((await read(again.end)).changed).toMatchObject(
    before.changed.map(({ newest, at }) => ({ newest: { id: newest.id }, at })),
  );
});

test('a window of one lane reads as many items of it, whatever nobody wants in another', async () => {
  const unwanted = idIn(0);
  const wanted = idIn(1);
  const other = idIn(1);
  const log = (id: string) => logChanges([{ id, version: 1, kind: 'edited' }]);
  await log(unwanted);
  await log(wanted);
  const from = await readLogEnd();
  const read = async (cursor: LogCursor) => {
    const options = { limit: 3, isOfOneLane: true };
    const only = { ...options, wanted: ({ id }: LoggedChange) => id === wanted };
    return readWindow(cursor, await readLogEnd(), only);
  };
  // A window reads 100 items at most.
  for (let i = 1; i <= 100; i++) await log(i === 1 || i === 100 ? wanted : other);
  const { changed } = await read(from);
  await log(unwanted);
  const empty = await read(from);
  expect(empty.changed).toEqual([]);
  expect((await read(empty.end)).changed.map(({ at }) => at)).toEqual(changed.map(({ at }) => at));
  expect(changed[0]?.at).toBe((await readLogEnd()).lanes[laneOf(wanted)]);
});
