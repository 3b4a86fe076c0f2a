import { expect, test } from '@jest/globals';
import { foldChanges, type LoggedChange, readLog } from '../../../shared/changes/log.ts';
import { setHidden } from '../../../shared/moderation/decision-repository.ts';
import { batchWrite } from '../../../shared/table/batch.ts';
import { collect } from '../../../shared/table/query.ts';
import { scanTable } from '../../helpers/items.ts';
import { applyStream } from '../../helpers/stream.ts';
import { makeUsers } from '../../helpers/world.ts';

async function kindsOf(review: string): Promise<string[]> {
  await applyStream();
  const lanes = await Promise.all([...Array(8).keys()].map((lane) => collect(readLog(lane, 0))));
  const changes = lanes.flat().flatMap((item) => item.changes);
  return changes.flatMap(({ id, kind }) => (id === review ? [kind] : []));
}

test('the log knows the kind of each change', async () => {
  const [ann, ben] = await makeUsers(2);
  const id = await ann.publishes();
  expect(await kindsOf(id)).toEqual(['published']);
  await ben.votes(id);
  expect(await kindsOf(id)).toEqual(['published', 'voted']);
  await ann.edits(id, { rating: 1 });
  expect((await kindsOf(id)).slice(2)).toEqual(['edited']);
  await setHidden(id, true);
  expect((await kindsOf(id)).slice(3)).toEqual(['removed']);
  await setHidden(id, false);
  expect((await kindsOf(id)).slice(4)).toEqual(['published']);
  await ann.deletes(id);
  expect((await kindsOf(id)).slice(5)).toEqual(['removed']);
});

test('a draft is not logged before its publication', async () => {
  const [ann] = await makeUsers(1);
  const id = await ann.publishes({ is_draft: true });
  await ann.edits(id, { rating: 2 });
  expect(await kindsOf(id)).toEqual([]);
  await ann.edits(id, { is_draft: false });
  expect(await kindsOf(id)).toEqual(['published']);
});

test('changes of one batch are folded into the weightiest kind', async () => {
  const [ann, ben] = await makeUsers(2);
  const id = await ann.publishes();
  await ann.edits(id, { rating: 1 });
  await ben.votes(id);
  expect(await kindsOf(id)).toEqual(['published']);
});

test.each<[string, string, string]>([
  ['published', 'voted', 'published'],
  ['voted', 'edited', 'edited'],
  ['edited', 'removed', 'removed'],
  // Hidden, and restored since.
  ['removed', 'published', 'published'],
])('%s and then %s is %s', (before, after, kind) => {
  const one = { id: 'a', version: 1, kind: before } as LoggedChange;
  const other = { id: 'a', version: 2, kind: after } as LoggedChange;
  expect(foldChanges(one, other)).toEqual({ id: 'a', version: 2, kind });
  // A repeated stream record brings an older change later.
  expect(foldChanges(other, one)).toEqual({ id: 'a', version: 2, kind });
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
  const [ann] = await makeUsers(1);
  const id = await ann.publishes();
  await applyStream();
  const items = await scanTable();
  const texts = items.flatMap(({ changes }) => (Array.isArray(changes) ? changes : []));
  // A third word would be taken for the end of the review.
  expect(texts).toContain(`${id} 1`);
});
