import { randomUUID } from 'node:crypto';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import { collect } from '../../../../shared/base/table/query.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import {
  beginEpoch,
  findChanges,
  findCursor,
  laneOf,
  logChanges,
  readLog,
  readLogEnd,
} from '../../../../shared/features/changes/log.ts';
import { distinct, type LoggedChange } from '../../../../shared/features/changes/logged-change.ts';
import { readWindow } from '../../../../shared/features/changes/window.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, scanTable, storeItems } from '../../../helpers/items.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeUser, makeUsers } from '../../../helpers/world.ts';

async function changesOf(review: string) {
  await applyStream();
  const lanes = await Promise.all([...Array(8).keys()].map((lane) => collect(readLog(lane, 0))));
  const changes = lanes.flat().flatMap((item) => item.changes);
  return changes.filter(({ id }) => id === review);
}

const kindsOf = async (review: string) => (await changesOf(review)).map(({ kind }) => kind);

test('the log knows the kind of each change', async () => {
  const [ann, ben] = await makeUsers(2);
  const id = await ann.publishes();
  const deeds = [
    () => ben.votes(id),
    () => ann.edits(id, { rating: 1 }),
    () => setHidden(id, true),
    () => setHidden(id, false),
    () => ann.deletes(id),
  ];
  for (const deed of deeds) {
    await applyStream();
    await deed();
  }
  const kinds = ['published', 'voted', 'edited', 'removed', 'published', 'removed'];
  expect(await kindsOf(id)).toEqual(kinds);
});

test('the log knows the entity and the author, also of a deleted review', async () => {
  const ann = await makeUser();
  const entity_id = randomUUID();
  const id = await ann.publishes({ entity_id });
  await applyStream();
  await ann.deletes(id);
  expect(await changesOf(id)).toMatchObject([
    { kind: 'published', entity_id, user_id: ann.id },
    { kind: 'removed', entity_id, user_id: ann.id },
  ]);
});

test('a batch has each kind of change of a review once, in their order', async () => {
  const [ann, ben, cat] = await makeUsers(3);
  const id = await ann.publishes();
  await ann.edits(id, { rating: 1 });
  await ben.votes(id);
  await ann.edits(id, { rating: 2 });
  await cat.votes(id);
  expect(await kindsOf(id)).toEqual(['published', 'edited', 'voted']);
});

test('repetitions leave the newest change of each kind', () => {
  const change = (id: string, version: number, kind: LoggedChange['kind']) => ({
    id,
    version,
    kind,
  });
  const changes = [
    change('a', 1, 'published'),
    change('b', 7, 'voted'),
    change('a', 2, 'voted'),
    change('a', 1, 'published'),
    change('a', 3, 'voted'),
  ];
  expect(distinct(changes)).toEqual([
    change('a', 1, 'published'),
    change('a', 3, 'voted'),
    change('b', 7, 'voted'),
  ]);
  // The access of a person to two applications ends twice.
  const ends = ['c', 'd'].map((client_id) => ({ ...change('p', 0, 'revoked'), client_id }));
  expect(distinct(ends)).toEqual(ends);
});

test('a window folds the changes of a review into what happened, up to the last', async () => {
  const [ann, ben] = await makeUsers(2);
  const from = await readLogEnd();
  const id = await ann.publishes();
  await applyStream();
  await ben.votes(id);
  await applyStream();
  await setHidden(id, true);
  await applyStream();
  const other = await ann.publishes();
  await applyStream();
  const { changed } = await readWindow(from, await readLogEnd(), { limit: 10 });
  const found = changed.find(({ newest }) => newest.id === id);
  expect([...(found?.kinds ?? [])].toSorted()).toEqual(['published', 'removed', 'voted']);
  expect(found?.newest).toMatchObject({ version: 3, kind: 'removed' });
  const [last] = (await collect(readLog(laneOf(id), 0))).filter(({ changes }) =>
    changes.some((change) => change.id === id && change.kind === 'removed'),
  );
  expect(found?.at).toBe(last?.at);
  expect(changed.map(({ newest }) => newest.id).toSorted()).toEqual([id, other].toSorted());
});

test('a repetition of an earlier change does not undo a later one', async () => {
  const id = randomUUID();
  const from = await readLogEnd();
  await logChanges([{ id, version: 6, kind: 'published' }]);
  await logChanges([{ id, version: 5, kind: 'removed' }]);
  const { changed } = await readWindow(from, await readLogEnd(), { limit: 10 });
  expect(changed).toMatchObject([{ newest: { id, version: 6, kind: 'published' } }]);
});

test('a window ends between two reviews only, wherever it ends in an item', async () => {
  // The same lane.
  const ids = ['00000000', '00000008', '00000010'].map((start) => start + randomUUID().slice(8));
  const from = await readLogEnd();
  const kinds = ['published', 'edited', 'voted'] as const;
  await logChanges(kinds.flatMap((kind, i) => ids.map((id) => ({ id, version: i + 1, kind }))));
  const end = await readLogEnd();
  let cursor = from;
  for (const id of ids) {
    const window = await readWindow(cursor, end, { limit: 1 });
    expect(window.changed).toMatchObject([{ newest: { id } }]);
    expect(window.changed[0]?.kinds.size).toBe(3);
    cursor = window.end;
  }
  expect((await readWindow(cursor, end, { limit: 1 })).changed).toEqual([]);
});

test('a change without a kind is an edit, or the end of a review', async () => {
  const kept = '0000000a-0000-4000-8000-000000000001';
  const gone = '0000000a-0000-4000-8000-000000000002';
  const key = { pk: 'CHANGES#2', sk: 'AT#0000000000001' };
  await batchWrite([{ put: { ...key, before: 0, changes: [`${kept} 4`, `${gone} 7 gone`] } }]);
  const [item] = await collect(readLog(2, 0));
  expect(item?.changes).toEqual([
    { id: kept, version: 4, kind: 'edited' },
    { id: gone, version: 7, kind: 'removed' },
  ]);
});

test('older code reads what is logged now', async () => {
  const ann = await makeUser();
  const id = await ann.publishes();
  await applyStream();
  const items = await scanTable();
  const texts = items.flatMap(({ changes }) => (Array.isArray(changes) ? changes : []));
  // A third word would be taken for the end of the review.
  expect(texts).toContain(`${id} 1`);
});

test('an item of the log that cannot be read is skipped and logged', async () => {
  const error = silence('error');
  const from = await readLogEnd();
  const [first, last] = [1, 2].map(() => `00000008${randomUUID().slice(8)}`) as [string, string];
  await logChanges([{ id: first, version: 1, kind: 'published' }]);
  const lane = laneOf(first);
  const before = (await readLogEnd()).lanes[lane] ?? 0;
  const newer = { pk: `CHANGES#${lane}`, sk: `AT#${`${before + 1}`.padStart(13, '0')}` };
  await batchWrite([
    { put: { ...newer, before, changes: { of: 'newer code' } } },
    { put: { pk: 'CHANGES', sk: `LANE#${lane}`, latest: before + 1 } },
  ]);
  await logChanges([{ id: last, version: 1, kind: 'published' }]);
  const { changed } = await readWindow(from, await readLogEnd(), { limit: 10 });
  expect(changed.map(({ newest }) => newest.id)).toEqual([first, last]);
  expect(error).toHaveBeenCalledWith(
    expect.objectContaining({ message: 'A stored item cannot be read', ...newer }),
  );
});

/** An id in another lane than the item of the log that a test above has made by hand. */
const inOtherLane = () => `00000004${randomUUID().slice(8)}`;

test('items expire a day after the last cursor that needs them', async () => {
  stopClock(Date.parse('2026-11-22T12:00:00.000Z'));
  const id = inOtherLane();
  await logChanges([{ id, version: 1, kind: 'published' }]);
  const at = (await readLogEnd()).lanes[laneOf(id)];
  const sk = `AT#${`${at}`.padStart(13, '0')}`;
  const item = await readItem({ pk: `CHANGES#${laneOf(id)}`, sk });
  expect(item?.expires_at).toBe(Math.floor(Number(at) / 1000) + 31 * 86_400);
});

test('a time in the log includes what was logged in its millisecond', async () => {
  const id = inOtherLane();
  await logChanges([{ id, version: 1, kind: 'published' }]);
  const end = await readLogEnd();
  const at = end.lanes[laneOf(id)] ?? 0;
  const changedSince = async (time: number) => {
    const { changed } = await readWindow(await findCursor(time), end, { limit: 100 });
    return changed.map(({ newest }) => newest.id);
  };
  expect(await changedSince(at)).toContain(id);
  expect(await changedSince(at + 1)).not.toContain(id);
  expect(await findChanges(id, at)).toMatchObject([{ id, version: 1, kind: 'published' }]);
  expect(await findChanges(id, at + 1)).toEqual([]);
});

test('another epoch ends all cursors, and times in it are above those before', async () => {
  const ann = await makeUser();
  const id = await ann.publishes();
  await applyStream();
  const before = await readLogEnd();
  const copy = (await scanTable()).filter(({ pk }) => pk.startsWith('CHANGES'));
  await ann.edits(id, { rating: 1 });
  await ann.edits(id, { rating: 2 });
  await applyStream();
  const later = await readLogEnd();
  const told = later.lanes[laneOf(id)] ?? 0;
  // The table is replaced by the copy.
  const items = (await scanTable()).filter(({ pk }) => pk.startsWith('CHANGES'));
  await batchDelete(items);
  await storeItems(copy);
  await beginEpoch();
  const end = await readLogEnd();
  // A time is a place in the epoch of now.
  const since = await findCursor(told);
  expect(since.epoch).toBe(end.epoch);
  expect((await readWindow(since, end, { limit: 10 })).changed).toEqual([]);
  for (const cursor of [before, later]) {
    await expect(readWindow(cursor, end, { limit: 1 })).rejects.toHaveStatus(410);
  }
  await ann.edits(id, { rating: 3 });
  await applyStream();
  const { changed } = await readWindow(end, await readLogEnd(), { limit: 10 });
  expect(changed).toMatchObject([{ newest: { id } }]);
  expect(changed[0]?.at).toBeGreaterThan(told);
});
