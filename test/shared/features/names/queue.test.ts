import '../../../helpers/engine.ts';
import { measureRun } from '../../../../bin/bench/measure.ts';
import { toJson } from '../../../../shared/base/table/item.ts';
import { transact } from '../../../../shared/base/table/transact.ts';
import { findMetadata } from '../../../../shared/core/entity/metadata.ts';
import {
  type Entity,
  readRecord,
  recordKey,
  recordWrites,
} from '../../../../shared/core/entity/record.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { queueEntities, rebuildQueues } from '../../../../shared/features/names/queue.ts';
import { updateNames } from '../../../../shared/features/names/update.ts';
import { rebuildAll } from '../../../../shared/features/transfer/upgrade.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { nameEntities } from '../../../helpers/names.ts';
import { reviewNew } from '../../../helpers/names-by-people.ts';
import { beforeFirst, type Command } from '../../../helpers/sends.ts';
import { applyStream, readStream } from '../../../helpers/stream.ts';
import { makeUsers, newWork } from '../../../helpers/world.ts';

const [ann, ben] = await makeUsers(2);
const day = 86_400_000;

const start = Date.now();
let tests = 0;

beforeEach(() => {
  // Days later, so that no run of a test before is still under way.
  tests += 10;
  stopClock(start + tests * day);
  process.env.MUSICDB_API = 'data:application/json,{"name":"Blue"}#{type}{id}';
  process.env.MUSICDB_PAGE = 'https://music.example/{type}/{id}';
});

const work = newWork as () => Entity;
const isUpdate = ({ input }: Command) => 'UpdateExpression' in input;
const isLeaving = ({ input }: Command) => input.TransactItems?.some((each) => each.ConditionCheck);
const queueOf = async (entity: Entity) => (await readItem(recordKey(entity)))?.all;
const nameOf = async (entity: Entity) => (await findMetadata([entity]))[0]?.name;

describe('an entity', () => {
  test('waits for a name from its first public review on, in the queue of its database', async () => {
    const draft = work();
    const one = work();
    const book = { ...work(), entity_type: 'bk_author' as const };
    const id = await ann.publishes({ ...draft, is_draft: true });
    await ann.publishes({ ...one });
    await ann.publishes({ ...book });
    await applyStream();
    expect(await Promise.all([draft, one, book].map(queueOf))).toEqual([
      undefined,
      'DUE#musicdb',
      'DUE#bookdb',
    ]);
    await ann.edits(id, { is_draft: false });
    await applyStream();
    expect(await queueOf(draft)).toBe('DUE#musicdb');
  });

  test('that a person names in the first review waits for the name of its database', async () => {
    const entity = await reviewNew(ann, { name: 'Ours' });
    await applyStream();
    expect(await queueOf(entity)).toBe('DUE#musicdb');
    await rebuildQueues();
    expect(await queueOf(entity)).toBe('DUE#musicdb');
  });

  test('is not queued if a moderator has settled its name since it was read', async () => {
    const entity = work();
    const record = { ...entity, name: 'Ours', origin: 'member' as const };
    await transact(recordWrites(undefined, record));
    await setAttributes(recordKey(entity), { all: undefined, date: undefined });
    beforeFirst(isUpdate, async () => {
      const before = await readRecord(entity);
      await transact(recordWrites(before, { ...record, origin: 'moderator' }));
    });
    await queueEntities([entity]);
    expect(await queueOf(entity)).toBeUndefined();
    expect((await readRecord(entity))?.origin).toBe('moderator');
  });

  test('that was queued and postponed since it was read keeps its time', async () => {
    const entity = work();
    const later = { due_at: Date.now() + day, queued_at: Date.now() - day };
    beforeFirst(isUpdate, async () => {
      await queueEntities([entity]);
      await setAttributes(recordKey(entity), later);
    });
    await queueEntities([entity]);
    expect(await readItem(recordKey(entity))).toMatchObject(later);
  });

  test('is queued once, for two write units. Later reviews read a unit and write nothing', async () => {
    const entity = work();
    const first = await measureRun(() => queueEntities([entity]));
    expect(first).toMatchObject({ read: 1, write: 2 });
    const before = await readItem(recordKey(entity));
    const run = await measureRun(() => queueEntities([entity, entity]));
    expect(run).toMatchObject({ read: 1, write: 0 });
    expect(await readItem(recordKey(entity))).toEqual(before);
  });

  test('that only a search had found keeps that name, and is asked for when it is due', async () => {
    const entity = work();
    const expires_at = Math.ceil(Date.now() / 1000) + 3600;
    const found = {
      ...entity,
      name: 'Found',
      origin: 'musicdb',
      due_at: Date.now() + day,
    } as const;
    await transact(recordWrites(undefined, { ...found, expires_at }));
    expect(await queueOf(entity)).toBeUndefined();
    await ann.publishes({ ...entity });
    await applyStream();
    expect(await readItem(recordKey(entity))).toMatchObject({ name: 'Found', all: 'DUE#musicdb' });
    expect(await readItem(recordKey(entity))).not.toHaveProperty('expires_at');
    stopClock(Date.now() + day + 1);
    await updateNames();
    expect(await nameOf(entity)).toBe('Blue');
  });

  test('that waits is not replaced by what a search finds', async () => {
    const entity = work();
    await ann.publishes({ ...entity });
    await applyStream();
    const passing = { ...entity, name: 'Passing', due_at: 0, expires_at: 2 ** 32 };
    await expect(transact(recordWrites(undefined, passing))).rejects.toThrow();
    expect(await queueOf(entity)).toBe('DUE#musicdb');
  });

  test('of which older code knows a name is queued by its next review, and by a rebuild', async () => {
    const one = work();
    const two = work();
    for (const each of [one, two]) {
      await ann.publishes({ ...each });
      await applyStream();
      const old = { ...recordKey(each), name: 'Old', url: 'https://a.example/', due_at: 5 };
      await transact([{ Put: { Item: old } }]);
    }
    await ben.publishes({ ...one });
    await applyStream();
    expect([await queueOf(one), await queueOf(two)]).toEqual(['DUE#musicdb', undefined]);
    await rebuildQueues();
    expect(await queueOf(two)).toBe('DUE#musicdb');
    await updateNames();
    expect([await nameOf(one), await nameOf(two)]).toEqual(['Blue', 'Blue']);
  });

  test('that was loaded without the stream is queued by a rebuild', async () => {
    const open = work();
    const hidden = work();
    await ann.publishes({ ...open });
    await setHidden(await ann.publishes({ ...hidden }), true);
    // These records are lost, as those of a bulk import.
    await readStream();
    await rebuildAll();
    expect([await queueOf(open), await queueOf(hidden)]).toEqual(['DUE#musicdb', undefined]);
  });
});

test('an entity whose name a moderator gives while its database is asked is not queued again', async () => {
  silence('warn');
  process.env.MUSICDB_API = 'data:application/json,odd#{type}{id}';
  const entity = work();
  await ann.publishes({ ...entity });
  await applyStream();
  const isPostponed = (command: Command) =>
    isUpdate(command) && toJson(command.input).includes(entity.entity_id);
  beforeFirst(isPostponed, () =>
    transact(recordWrites(undefined, { ...entity, name: 'Ours', origin: 'moderator' })),
  );
  await updateNames();
  expect(await readRecord(entity)).toMatchObject({ name: 'Ours' });
  expect(await queueOf(entity)).toBeUndefined();
});

describe('an entity that has lost its public reviews', () => {
  test('leaves the queue unasked: without a name it expires, and a name stays', async () => {
    const asked = jest.spyOn(globalThis, 'fetch');
    const unnamed = work();
    const named = work();
    await nameEntities({ [named.entity_id]: 'Kept' }, 'work');
    const ids = [await ann.publishes({ ...unnamed }), await ann.publishes({ ...named })];
    await applyStream();
    for (const id of ids) await setHidden(id, true);
    stopClock(Date.now() + 2 * day);
    await updateNames();
    const urls = asked.mock.calls.map(([url]) => `${url}`).join();
    expect([unnamed, named].filter(({ entity_id }) => urls.includes(entity_id))).toEqual([]);
    const item = await readItem(recordKey(unnamed));
    expect(Number(item?.expires_at) * 1000).toBeLessThanOrEqual(Date.now());
    expect(item?.all).toBeUndefined();
    expect([await queueOf(named), await nameOf(named)]).toEqual([undefined, 'Kept']);
    expect(await readItem(recordKey(named))).not.toHaveProperty('expires_at');
    // A public review brings both back, and nothing expires.
    for (const id of ids) await setHidden(id, false);
    await applyStream();
    await updateNames();
    expect([await nameOf(unnamed), await nameOf(named)]).toEqual(['Blue', 'Blue']);
    expect(await readItem(recordKey(unnamed))).not.toHaveProperty('expires_at');
  });

  test('keeps a name that somebody gives just then', async () => {
    const entity = work();
    const id = await ann.publishes({ ...entity });
    await applyStream();
    await setHidden(id, true);
    beforeFirst(isLeaving, () =>
      transact(recordWrites(undefined, { ...entity, name: 'Ours', origin: 'member' })),
    );
    await updateNames();
    const item = await readItem(recordKey(entity));
    expect(item).toMatchObject({ name: 'Ours' });
    expect(item).not.toHaveProperty('expires_at');
  });

  test('stays in the queue if somebody reviews it just then', async () => {
    const entity = work();
    const id = await ann.publishes({ ...entity });
    await applyStream();
    await setHidden(id, true);
    let isLate = true;
    beforeFirst(isLeaving, async () => {
      isLate = false;
      await ben.publishes({ ...entity });
      await applyStream();
    });
    await updateNames();
    expect([isLate, await queueOf(entity)]).toEqual([false, 'DUE#musicdb']);
    await updateNames();
    expect(await nameOf(entity)).toBe('Blue');
  });
});
