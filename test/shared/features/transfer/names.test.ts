import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { transact } from '../../../../shared/base/table/transact.ts';
import { recordKey, recordWrites } from '../../../../shared/core/entity/record.ts';
import { findThings } from '../../../../shared/features/things/find-things.ts';
import { rebuildThings } from '../../../../shared/features/things/rebuild-things.ts';
import { publicEntities, scanInto } from '../../../../shared/features/transfer/export.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { Spool } from '../../../../shared/features/transfer/spool.ts';
import { newFolder } from '../../../helpers/folder.ts';
import { readItem } from '../../../helpers/items.ts';
import { nameEntities } from '../../../helpers/names.ts';
import { correct, reviewNew, wordsOf } from '../../../helpers/names-by-people.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { exported, importWhole, sourced } from '../../../helpers/transfer.ts';
import { makeUser, makeUsers } from '../../../helpers/world.ts';

const work = () => ({ entity_id: randomUUID(), entity_type: 'work' }) as const;

test('names travel with who wrote them, and databases may renew theirs', async () => {
  const [ann, ben, eve] = await makeUsers(3);
  const own = await reviewNew(ann, { name: 'Blue', about: '1957', url: 'https://a.example/' });
  const left = await reviewNew(eve, { name: 'Left behind' });
  const known = work();
  await nameEntities({ [known.entity_id]: 'From a database' }, 'work');
  const passing = { ...work(), name: 'Passing', expires_at: 2 ** 32 };
  await transact(recordWrites(undefined, passing));
  await correct(ben, own, { name: 'Bleu' });
  await eve.leaves();
  await applyStream();
  const records = await exported();
  await enterEmptyTable();
  expect((await importRecords(sourced(records), { isAlone: true })).refused).toEqual({});
  expect(await rebuildThings()).toBe(3);
  const words = { name: 'Blue', about: '1957', url: 'https://a.example/' };
  expect(await wordsOf(own)).toEqual({ ...words, origin: 'member', user_id: ann.id });
  expect(await wordsOf(left)).toEqual({ name: 'Left behind', origin: 'member' });
  expect(await wordsOf(known)).toMatchObject({ name: 'From a database', origin: 'musicdb' });
  expect(await readItem(recordKey(passing))).toBeUndefined();
  expect((await findThings('blu')).things.map(({ record }) => record.name)).toEqual(['Blue']);
  // It is asked for again when it would have been in the other table.
  const item = await readItem(recordKey(known));
  expect(item?.all).toBe('DUE#musicdb');
  expect(Number(item?.due_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  // The same import again changes nothing.
  const again = await importRecords(sourced(records));
  expect(again.written).toEqual({});
});

test('an import leaves names that are there, and drops an account that is not', async () => {
  const ann = await makeUser();
  const entity = await reviewNew(ann, { name: 'Theirs' });
  const names = (await exported()).filter(({ kind }) => kind === 'entity');
  await enterEmptyTable();
  const mine = { ...entity, name: 'Mine', origin: 'operator' } as const;
  await transact(recordWrites(undefined, mine));
  await importWhole(names);
  expect((await wordsOf(entity)).name).toBe('Mine');
  await enterEmptyTable();
  await importRecords(sourced(names));
  expect(await wordsOf(entity)).toEqual({ name: 'Theirs', origin: 'member' });
});

test('a dump has the names, without who wrote them', async () => {
  const ann = await makeUser();
  const { entity_id: id } = await reviewNew(ann, { name: 'Dumped', about: '1957' });
  const spool = new Spool(join(newFolder(), 'spool'));
  await scanInto(spool, () => {});
  const entities = [...publicEntities(spool)];
  expect(entities.find((each) => each.id === id)).toEqual({
    kind: 'entity',
    id,
    type: 'work',
    name: 'Dumped',
    about: '1957',
    url: null,
    image: null,
    leads_to: null,
  });
  expect(JSON.stringify(entities)).not.toContain(ann.id);
  spool.close();
});
