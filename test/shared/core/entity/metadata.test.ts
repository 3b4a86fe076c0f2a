import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measureRun } from '../../../../bin/bench/measure.ts';
import { findMetadata } from '../../../../shared/core/entity/metadata.ts';
import { keepRecords } from '../../../../shared/core/entity/write-records.ts';
import { nameEntities } from '../../../helpers/names.ts';
import '../../../helpers/table.ts';

test('metadata is read for half a unit each, in the order of the entities', async () => {
  const named = randomUUID();
  const unnamed = randomUUID();
  await nameEntities({ [named]: { title: 'Blue', 'first-release-date': '1971' } });
  const all = [unnamed, named, named].map((entity_id) => {
    return { entity_id, entity_type: 'release_group' as const };
  });
  const url = `https://music.example/release-group/${named}`;
  const known = { id: named, type: 'release_group', name: 'Blue', about: '1971', url, image: null };
  const run = await measureRun(() => findMetadata(all));
  expect(run.result).toEqual([null, { ...known, year: '1971' }, { ...known, year: '1971' }]);
  expect(run).toMatchObject({ read: 1, write: 0, roundTrips: 1 });
});

test('metadata may come with data, with its page', async () => {
  const entity = { entity_id: randomUUID(), entity_type: 'bk_literary_work' as const };
  const kept = { name: 'Der Process', url: 'https://books.example/der-process' };
  await keepRecords([{ ...entity, ...kept }]);
  const { entity_id: id, entity_type: type } = entity;
  expect(await findMetadata([entity])).toEqual([{ id, type, ...kept, about: null, image: null }]);
});
