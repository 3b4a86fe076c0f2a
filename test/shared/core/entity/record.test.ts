import { randomUUID } from 'node:crypto';
import { collect, queryIndex } from '../../../../shared/base/table/query.ts';
import { StaleRead, transact } from '../../../../shared/base/table/transact.ts';
import type { EntityType } from '../../../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../../../shared/core/entity/metadata.ts';
import {
  anonymous,
  type Entity,
  type EntityRecord,
  type Origin,
  recordIn,
  recordKey,
  recordWrites,
} from '../../../../shared/core/entity/record.ts';
import { keepRecords } from '../../../../shared/core/entity/write-records.ts';
import { updateNames } from '../../../../shared/features/names/update.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import {
  answers,
  asked,
  day,
  json,
  origin,
  reviewed as reviewedThings,
} from '../../../helpers/name-database.ts';
import { reviewAll } from '../../../helpers/names.ts';
import { expectSmallItems } from '../../../helpers/sizes.ts';
import { makeUser } from '../../../helpers/world.ts';

/** Returns how often a database was asked for an entity. */
const askedFor = ({ entity_id }: Entity) =>
  asked.filter(({ url }) => url?.includes(entity_id)).length;

const month = 31 * day;
beforeEach(() => {
  Object.assign(process.env, {
    BOOKDB_API: `${origin}/{type}/{id}`,
    BOOKDB_PAGE: 'https://books.example/{type}/{id}',
  });
});

const entityOf = (entity_type: EntityType): Entity => {
  return { entity_id: randomUUID(), entity_type };
};

/** Makes an entity that waits for a name. */
async function reviewed(entity_type: EntityType): Promise<Entity> {
  const [entity] = await reviewedThings(entity_type);
  return entity as Entity;
}

/** Lets databases be asked for what is due, and reads what people see. */
async function find(entity: Entity) {
  await updateNames();
  return (await findMetadata([entity]))[0];
}
/** Returns the partitions of the names that a person is listed with. */
const listed = async (user_id = '') => {
  const entries = await collect(queryIndex('author-by-date', `NAMER#${user_id}`));
  return entries.map(({ pk }) => pk);
};
const stored = async (entity: Entity) => recordIn(entity, await readItem(recordKey(entity)));

/** Stores a record as a person writes one. */
async function write(
  entity: Entity,
  name: string,
  by: Origin,
  more: Partial<EntityRecord> = {},
): Promise<EntityRecord> {
  const record: EntityRecord = { ...entity, name, origin: by, user_id: randomUUID(), ...more };
  await transact(recordWrites(await stored(entity), record));
  return record;
}

describe('a record from a database', () => {
  test.each<[string, EntityType, object, object]>([
    [
      'an album of several artists',
      'release_group',
      {
        title: 'Under Pressure',
        'first-release-date': '1981-10-26',
        'primary-type': 'Single',
        disambiguation: 'live',
        'artist-credit': [
          { name: 'Queen', joinphrase: ' & ', artist: { id: randomUUID(), name: 'Queen' } },
          { name: 'David Bowie', joinphrase: '', artist: { name: 'David Bowie' } },
        ],
      },
      { name: 'Under Pressure', about: 'Queen & David Bowie · 1981 · live' },
    ],
    [
      'an album with the year alone',
      'release_group',
      { title: 'Gold', 'first-release-date': '1992', 'artist-credit': [{ name: 'ABBA' }] },
      { name: 'Gold', about: 'ABBA · 1992' },
    ],
    [
      'an album without a date',
      'release_group',
      { title: 'Demo', 'first-release-date': '', 'artist-credit': [{ name: 'Nobody' }] },
      { name: 'Demo', about: 'Nobody' },
    ],
    [
      'a place',
      'place',
      { name: 'Paradiso', area: { name: 'Amsterdam' }, disambiguation: 'concert hall' },
      { name: 'Paradiso', about: 'Amsterdam · concert hall' },
    ],
    [
      'an event',
      'event',
      { name: 'Woodstock', 'life-span': { begin: '1969-08-15', end: '1969-08-18' } },
      { name: 'Woodstock', about: '1969' },
    ],
    [
      'a book of BookBrainz',
      'bk_edition_group',
      {
        bbid: randomUUID(),
        defaultAlias: { name: 'Good Omens', sortName: 'Good Omens', primary: true },
        authorCredit: {
          names: [
            { name: 'Terry Pratchett', joinPhrase: ' and ' },
            { name: 'Neil Gaiman', joinPhrase: '' },
          ],
        },
        disambiguation: { comment: 'novel' },
        editionGroupType: 'Book',
      },
      { name: 'Good Omens', about: 'Terry Pratchett and Neil Gaiman · novel' },
    ],
    [
      'an author',
      'bk_author',
      { defaultAlias: { name: 'H. Beam Piper' }, beginDate: '1904-03-23', disambiguation: null },
      { name: 'H. Beam Piper', about: '1904' },
    ],
    [
      'something with nothing that can be read',
      'work',
      {
        title: 'Air',
        'artist-credit': 'Bach',
        'first-release-date': 5,
        area: [],
        disambiguation: 7,
      },
      { name: 'Air', about: null },
    ],
    [
      'hostile texts',
      'artist',
      {
        name: `\u202e${'x'.repeat(900)}`,
        disambiguation: `\u0000\u2066${'\u{1f3b7}'.repeat(900)}`,
      },
      { name: 'x'.repeat(200), about: '\u{1f3b7}'.repeat(200) },
    ],
  ])('tells %s apart', async (_, type, body, expected) => {
    answers(json(body));
    const entity = await reviewed(type);
    expect(await find(entity)).toMatchObject(expected);
    await expectSmallItems();
  });

  test('is renewed, and has a higher version if people read something else', async () => {
    answers(json({ name: 'Blue' }));
    const entity = await reviewed('work');
    const start = Date.now();
    await find(entity);
    const first = await stored(entity);
    stopClock(start + month);
    await find(entity);
    const same = await stored(entity);
    expect(same).toEqual({ ...first, due_at: expect.any(Number) });
    expect(same?.due_at).toBeGreaterThan(first?.due_at ?? 0);
    // It stands at this time in the queue, too.
    const { date } = (await readItem(recordKey(entity))) as { date?: string };
    expect(date).toBe(`${new Date(same?.due_at ?? 0).toISOString()}#${entity.entity_id}`);
    answers(json({ name: 'Blue', disambiguation: 'song' }));
    stopClock(start + 2 * month);
    await find(entity);
    const other = await stored(entity);
    expect(other).toMatchObject({ about: 'song', origin: 'musicdb' });
    expect(other?.version).toBeGreaterThan(first?.version ?? Number.POSITIVE_INFINITY);
  });
});

describe('a record that older code stored', () => {
  test('is read as it is, and completed when it is due', async () => {
    const entity = await reviewed('label');
    const start = Date.now();
    // As a name was stored before there were records.
    const url = `https://music.example/label/${entity.entity_id}`;
    await setAttributes(recordKey(entity), { name: 'Warp', url, due_at: start + 1_000 });
    answers(json({ name: 'Warp', area: { name: 'London' } }));
    const nothing = { about: null, image: null };
    expect(await find(entity)).toEqual({
      id: entity.entity_id,
      type: 'label',
      name: 'Warp',
      url,
      ...nothing,
    });
    stopClock(start + 2_000);
    expect(await find(entity)).toMatchObject({ name: 'Warp', about: 'London' });
    expect(await stored(entity)).toMatchObject({ origin: 'musicdb', about: 'London' });
  });

  test('may be a mark that the database has no name, in whose place a person writes', async () => {
    const entity = entityOf('label');
    await setAttributes(recordKey(entity), { name: null, due_at: Date.now() + 3_600_000 });
    expect(await find(entity)).toBeNull();
    await write(entity, 'Tiny', 'member');
    expect(await find(entity)).toMatchObject({ name: 'Tiny' });
  });
});

describe('a record by a person', () => {
  test.each<[Origin, Partial<EntityRecord>]>([
    ['member', { is_confirmed: true }],
    ['moderator', {}],
    ['operator', {}],
  ])('a %s with %j is never renewed', async (by, trust) => {
    answers(json({ name: 'Of the database' }));
    const entity = await reviewed('release_group');
    const start = Date.now();
    await find(entity);
    await write(entity, 'Of a person', by, { ...trust, due_at: start });
    for (const later of [0, month, 20 * month]) {
      stopClock(start + later);
      expect(await find(entity)).toMatchObject({ name: 'Of a person' });
    }
    expect(askedFor(entity)).toBe(1);
  });

  test('a member gives way to a database that knows the thing, with what it leads to', async () => {
    answers(json({}, 404));
    const entity = await reviewed('release_group');
    const start = Date.now();
    const links = { led_from: [randomUUID()] };
    const written_at = new Date(start).toISOString();
    const { user_id } = await write(entity, 'Of a member', 'member', {
      ...links,
      due_at: start,
      written_at,
    });
    expect(await find(entity)).toMatchObject({ name: 'Of a member' });
    expect(await listed(user_id)).toEqual([recordKey(entity).pk]);
    answers(json({ name: 'Of the database' }));
    stopClock(start + month);
    expect(await find(entity)).toMatchObject({ name: 'Of the database' });
    expect(await stored(entity)).toMatchObject({ origin: 'musicdb', ...links });
    expect(await listed(user_id)).toEqual([]);
  });

  test('a member without public reviews leaves the queue, and stays in the list of its author', async () => {
    answers(json({ name: 'Of the database' }));
    const entity = entityOf('release_group');
    const record = await write(entity, 'Of a member', 'member', { due_at: Date.now() });
    expect(await find(entity)).toMatchObject({ name: 'Of a member' });
    const item = await readItem(recordKey(entity));
    expect([item?.all, item?.due_at]).toEqual([undefined, undefined]);
    expect(await listed(record.user_id)).toEqual([recordKey(entity).pk]);
    // The first review brings it back.
    await reviewAll(await makeUser(), [entity]);
    expect(await find(entity)).toMatchObject({ name: 'Of the database' });
  });

  test('is not overwritten by a renewal that began before it', async () => {
    const entity = await reviewed('release_group');
    const others = [await reviewed('release_group'), await reviewed('release_group')];
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    const all = [entity, ...others];
    answers(async (_, response) => {
      // The person is faster than the database.
      await write(entity, 'Of a person', 'member');
      const found = all.map(({ entity_id: id }) => ({ id, name: 'Of the database' }));
      response.end(JSON.stringify({ found }));
    });
    await updateNames();
    expect(askedFor(entity)).toBe(1);
    expect(await stored(entity)).toMatchObject({ name: 'Of a person', origin: 'member' });
    for (const other of others) {
      expect(await stored(other)).toMatchObject({ name: 'Of the database' });
    }
  });

  test('is written by one of two at the same time', async () => {
    const entity = entityOf('event');
    const records = ['One', 'Two'].map((name) => ({ ...entity, name, origin: 'member' as const }));
    const both = records.map((record) => transact(recordWrites(undefined, record)));
    const outcomes = await Promise.allSettled(both);
    const failures = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
    expect(failures).toEqual([expect.any(StaleRead)]);
    const before = await stored(entity);
    const changes = records.map((record, i) =>
      transact(recordWrites(before, { ...record, about: `${i}` })),
    );
    const again = await Promise.allSettled(changes);
    expect(again.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('has a higher version with each change, also after one from a clock that is ahead', () => {
    const entity = entityOf('event');
    const version = Date.now() + 3_600_000;
    const before: EntityRecord = { ...entity, name: 'One', origin: 'member', version };
    const [write] = recordWrites(before, { ...before, name: 'Two' });
    expect(write).toMatchObject({ Put: { Item: { name: 'Two', version: version + 1 } } });
  });

  test.each([
    ['name', { name: 'Two' }],
    ['version', { version: 1 }],
    ['author', { user_id: 'ann' }],
  ])('is not written over if its %s has changed since it was read', async (_, changed) => {
    const entity = entityOf('event');
    await write(entity, 'One', 'member');
    const before = await stored(entity);
    if (!before) throw new Error('nothing stored');
    await setAttributes(recordKey(entity), changed);
    for (const after of [
      { ...before, name: 'Three' },
      { ...before, due_at: 5 },
    ]) {
      await expect(transact(recordWrites(before, after))).rejects.toThrow(StaleRead);
    }
    expect(await stored(entity)).toMatchObject(changed);
  });

  test('loses the person with the account, unless it is of another person by then', async () => {
    const entity = entityOf('event');
    const first = await write(entity, 'One', 'member');
    const second = await write(entity, 'Two', 'member');
    const erase = (person = '') => transact([anonymous(recordKey(entity), person)]);
    await expect(erase(first.user_id)).rejects.toThrow(StaleRead);
    expect((await stored(entity))?.user_id).toBe(second.user_id);
    await erase(second.user_id);
    const left = await readItem(recordKey(entity));
    expect(left).toMatchObject({ name: 'Two' });
    for (const name of ['user_id', 'author']) expect(left).not.toHaveProperty(name);
  });

  test('has its page here if no database has one', async () => {
    delete process.env.MUSICDB_API;
    const entity = entityOf('event');
    await write(entity, 'Our party', 'member');
    const url = expect.stringMatching(new RegExp(`/ws/entity/${entity.entity_id}$`));
    expect(await find(entity)).toMatchObject({ name: 'Our party', url });
  });

  test('stays when data brings another', async () => {
    const entity = entityOf('event');
    await write(entity, 'Ours', 'member');
    await keepRecords([{ ...entity, name: 'Of the data', url: 'https://events.example/1' }]);
    expect(await find(entity)).toMatchObject({ name: 'Ours' });
  });
});

test('a record of newer code is left out, and stays as it is', async () => {
  silence('error');
  const entity = entityOf('work');
  await setAttributes(recordKey(entity), { name: 'New', origin: 'telepathy' });
  answers(json({ name: 'Of the database' }));
  await find(entity);
  expect(await readItem(recordKey(entity))).toMatchObject({ name: 'New', origin: 'telepathy' });
});
