import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { measureRun } from '../../../../bin/bench/measure.ts';
import { sealCursor } from '../../../../shared/base/list/cursor.ts';
import { batchDelete } from '../../../../shared/base/table/batch.ts';
import { transact } from '../../../../shared/base/table/transact.ts';
import type { EntityType } from '../../../../shared/core/entity/entity-type.ts';
import {
  type EntityRecord,
  readRecord,
  recordKey,
  recordWrites,
} from '../../../../shared/core/entity/record.ts';
import { entityKey } from '../../../../shared/core/keys.ts';
import { auditPartitions } from '../../../../shared/features/audit/audit.ts';
import { findThings } from '../../../../shared/features/things/find-things.ts';
import { rebuildThings } from '../../../../shared/features/things/rebuild-things.ts';
import { choices } from '../../../helpers/choices.ts';
import { scanTable, setAttributes } from '../../../helpers/items.ts';
import { expectSmallItems } from '../../../helpers/sizes.ts';
import { applyStream } from '../../../helpers/stream.ts';

/** Stores a record of a new thing as a person does: a work, unless the rest says otherwise. */
async function write(name: string, rest: Partial<EntityRecord> = {}): Promise<EntityRecord> {
  const entity = { entity_id: randomUUID(), entity_type: 'work' } as const;
  const record: EntityRecord = { ...entity, name, origin: 'member', ...rest };
  await transact(recordWrites(undefined, record));
  return record;
}

/** Stores a record, and lets the consumers follow. */
async function name(...given: Parameters<typeof write>): Promise<EntityRecord> {
  const record = await write(...given);
  await applyStream();
  return record;
}

/** Names something that so many people have reviewed, by its counts alone. */
async function nameReviewed(
  text: string,
  reviews: number,
  rest: Partial<EntityRecord> = {},
): Promise<EntityRecord> {
  const record = await write(text, rest);
  const counts = { b4: reviews, work: reviews, EN: reviews, version: 1 };
  await setAttributes(entityKey(record.entity_id), counts);
  await applyStream();
  return record;
}

/** Stores a record again as it was first, but for these changes. */
async function rewrite(record: EntityRecord, changes: Partial<EntityRecord> = {}): Promise<void> {
  await transact(recordWrites(await readRecord(record), { ...record, ...changes }));
}

/** All pages of a search, by names. */
async function pages(text: string, type?: EntityType): Promise<string[][]> {
  const all: string[][] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: Awaited<ReturnType<typeof findThings>> = await findThings(text, {
      type,
      ...(cursor && { cursor }),
    });
    all.push(page.things.map(({ record }) => record.name));
    cursor = page.next;
  }
  return all;
}

const find = async (text: string, type?: EntityType) =>
  (await findThings(text, { type })).things.map(({ record }) => record.name);

const entriesOf = async ({ entity_id }: EntityRecord) =>
  (await scanTable()).filter(({ pk, sk }) => pk.startsWith('WORD#') && sk.endsWith(entity_id));

describe('a name is found', () => {
  test.each<[name: string, ...texts: string[]]>([
    ['Quarrel Road', 'quarrel road', 'quar', 'QUARREL', 'road', 'road quarrel', 'ro qua'],
    ['Élégie à Zoë', 'elegie', 'ELÉGIE', 'a zoe', 'zoe elegie', 'zo'],
    ['Großes Übermaß', 'grosses', 'GROSSES', 'ubermass', 'übermaß'],
    ['Røyksøpp Łódź Æther', 'royksopp', 'lodz', 'aether', 'røyk'],
    ["Cuckoo's Nést", 'cuckoos', 'cuckoo’s', 'nest'],
    ['Ἀλέξανδρος', 'αλεξανδρος', 'ΑΛΈΞ'],
    ['Тёмная Ночь', 'темная', 'НОЧЬ'],
    ['千と千尋の神隠し', '千と千尋', '神隠し', '千尋の'],
    ['東京物語', '東京', '物語'],
    ['한국 영화', '한국', '영화'],
    ['قصيدة النيل', 'قصيدة', 'النيل'],
    ['שִׁיר חדש', 'שיר', 'חדש'],
    ['हिन्दी कविता', 'हिन्दी', 'कविता'],
    ['บทเพลงไทย', 'บทเพลง', 'เพลงไทย'],
    ['ＦＵＬＬ width', 'full'],
    ['★', '★'],
  ])('%s', async (given, ...texts) => {
    await name(given);
    for (const text of texts) expect([text, await find(text)]).toEqual([text, [given]]);
  });

  test('not by the middle of a word, by nothing, or by words of two names', async () => {
    await name('Umbrella Xylophone');
    await name('Umbrella Viola');
    for (const text of ['mbrella', 'phone', '', ' ', '\u200b', 'viola xylophone', 'umbrellas']) {
      expect([text, await find(text)]).toEqual([text, []]);
    }
    expect((await find('umbrella')).toSorted()).toEqual(['Umbrella Viola', 'Umbrella Xylophone']);
  });

  test.each<[name: string, about: string, ...texts: string[]]>([
    ['Paris, Texas', 'Wim Wenders · 1984', 'wenders', 'paris 1984', 'wenders texas', '1984', 'wim'],
    ['AC/DC Live', 'Concert', 'acdc', 'ac/dc', 'ac dc', 'acdc live', 'live'],
    ['R.E.M.', 'Band', 'rem', 'r.e.m.', 'r e m'],
    ['S.O.S.', 'Song', 'sos', 's.o.s'],
    [
      'Spider-Man: No Way Home',
      'Film',
      'spiderman',
      'spider man',
      'spiderman home',
      'spider-man no',
    ],
    [
      "One Flew Over the Cuckoo's Nest in the West",
      'Miloš Forman · 1975',
      'forman',
      'cuckoos',
      '1975',
    ],
  ])('%s (%s) by its line, and with and without punctuation', async (given, about, ...texts) => {
    await name(given, { entity_type: 'event', about });
    for (const text of texts) {
      expect([text, await find(text, 'event')]).toEqual([text, [given]]);
    }
  });

  test('of one type if asked, the very name first', async () => {
    await name('Jigsaw Falling', { entity_type: 'recording' });
    await name('Jigsaw');
    await name('Jigsaw Again', { entity_type: 'artist' });
    expect((await find('jigsaw'))[0]).toBe('Jigsaw');
    expect(await find('jigsaw', 'recording')).toEqual(['Jigsaw Falling']);
    expect(await find('jigsaw', 'label')).toEqual([]);
  });
});

describe('a search', () => {
  test('has things with more reviews first, and the very name first among equals', async () => {
    await nameReviewed('Harbour Again', 1);
    await nameReviewed('Harbour', 1);
    await nameReviewed('Harbour Lights', 150);
    await nameReviewed('Harbour Bells', 2);
    await nameReviewed('Harbour Nights', 12);
    await nameReviewed('Zebra Harbour', 9);
    await name('Harbour Unreviewed');
    const names = ['Lights', 'Nights', 'Zebra', 'Bells', '', 'Again', 'Unreviewed'].map((each) =>
      each === 'Zebra' ? 'Zebra Harbour' : `Harbour ${each}`.trim(),
    );
    expect(await find('harbour')).toEqual(names);
    const { things } = await findThings('harbour lights');
    expect(things).toMatchObject([
      { review_count: 150, average_rating: { rating: 4, count: 150 } },
    ]);
  });

  test('shows ten of one name on two pages, each once', async () => {
    const ids = [];
    for (let n = 0; n < 10; n++) ids.push((await nameReviewed('Greatest Tides', 1 + n)).entity_id);
    const first = await findThings('greatest tides');
    expect(first.things).toHaveLength(8);
    const second = await findThings('greatest tides', { cursor: first.next });
    expect(second.next).toBeUndefined();
    const found = [...first.things, ...second.things].map(({ record }) => record.entity_id);
    expect(found.toSorted()).toEqual(ids.toSorted());
    expect(found[0]).toBe(ids[9]);
  });

  test('shows each of many once, in pages by type and without', async () => {
    for (let n = 0; n < 130; n++) {
      const entity_type = n % 3 === 0 ? 'artist' : 'label';
      await write(`Meadow ${n}`, { entity_type, origin: 'operator' });
    }
    await applyStream();
    const all = (await pages('meadow')).flat();
    expect([all.length, new Set(all).size]).toEqual([130, 130]);
    const artists = (await pages('meadow', 'artist')).flat();
    expect([artists.length, new Set(artists).size]).toEqual([44, 44]);
  });

  test('shows two of what nobody has reviewed and one member has named, on a page', async () => {
    const user_id = randomUUID();
    for (let n = 0; n < 5; n++) await write(`Quarry ${n}`, { user_id });
    await name('Quarry of Ben', { user_id: randomUUID() });
    await name('Quarry of the town', { origin: 'moderator', user_id });
    // Reviewed things of the member count for nothing.
    for (const reviews of [11, 10]) await nameReviewed(`Quarry Q${reviews}`, reviews, { user_id });
    const reviewed = ['Quarry Q11', 'Quarry Q10'];
    expect(await pages('quarry')).toEqual([
      [...reviewed, 'Quarry 0', 'Quarry 1', 'Quarry of Ben', 'Quarry of the town'],
      ['Quarry 2', 'Quarry 3'],
      ['Quarry 4'],
    ]);
  });

  test.each([8, 80])(
    '%i false names of one member change nothing of honest things',
    async (many) => {
      const { below } = choices(Number(process.env.SEED ?? many));
      const vocabulary = ['abbey', 'road', 'x', 'side', 'two', 'live'].map((word) => word + many);
      const words = () =>
        Array.from({ length: 1 + below(3) }, () => vocabulary[below(6)]).join(' ');
      const honest = new Set<string>();
      for (let n = 0; n < 12; n++) {
        const about = below(2) === 0 ? words() : undefined;
        honest.add((await nameReviewed(words(), 1 + below(20), { about })).entity_id);
      }
      const queries = [...vocabulary, ...Array.from({ length: 12 }, words)];
      const found = async (text: string) => {
        const { things } = await findThings(text);
        return things.map(({ record }) => record.entity_id).filter((id) => honest.has(id));
      };
      const before = new Map<string, string[]>();
      for (const text of queries) before.set(text, await found(text));
      const user_id = randomUUID();
      for (let n = 0; n < many; n++) await write(words(), { user_id });
      await applyStream();
      for (const [text, ids] of before) expect([text, await found(text)]).toEqual([text, ids]);
    },
  );

  test('finds the whole name of an unreviewed thing among eighty of another member', async () => {
    const user_id = randomUUID();
    for (let n = 0; n < 80; n++) await write(`Vantage Point ${n}`, { user_id });
    await name('Vantage Point', { user_id: randomUUID() });
    await name('Vantage Zero', { user_id: randomUUID() });
    expect((await find('vantage point'))[0]).toBe('Vantage Point');
    expect((await find('vantage zero'))[0]).toBe('Vantage Zero');
  });

  test('refuses a forged place outside its range', async () => {
    const place = { level: 0, from: ['NAMED#0#other'], shown: 0 };
    const cursor = sealCursor(JSON.stringify(['forged', undefined]), place);
    await expect(findThings('forged', { cursor })).rejects.toThrow('the very same search');
  });
});

describe('the index of names', () => {
  test('follows a correction, and repeated stream records', async () => {
    const before = await name('Wrongly Spelt');
    const stored = { ...before, version: undefined };
    const after = { ...before, name: 'Rightly Spelt' };
    await transact([{ Put: { Item: { ...recordKey(after), ...after, version: Date.now() + 5 } } }]);
    await applyStream();
    expect(await find('wrongly')).toEqual([]);
    expect(await find('spelt')).toEqual(['Rightly Spelt']);
    expect(await entriesOf(stored)).toHaveLength(2);
  });

  test.each<Partial<EntityRecord>>([{ state: 'waiting' }, { state: 'removed' }])(
    'leaves out %j, and finds it again without',
    async (state) => {
      const record = await name('Quixotic Journey');
      await rewrite(record, state);
      // Also before the stream is followed.
      expect(await find('quixotic')).toEqual([]);
      await applyStream();
      expect(await entriesOf(record)).toEqual([]);
      await rewrite(record);
      await applyStream();
      expect(await find('quixotic')).toEqual(['Quixotic Journey']);
      await rewrite(record, { state: 'removed' });
    },
  );

  test('finds the other thing by a name that leads to it, once, and both without', async () => {
    const record = await name('Zyqaint Quorum');
    const other = await name('Zyqite Another');
    await rewrite(record, { leads_to: other.entity_id });
    // Before the stream is followed.
    expect(await find('zyqaint')).toEqual([]);
    await applyStream();
    expect(await find('zyqaint')).toEqual(['Zyqite Another']);
    expect(await find('zyq')).toEqual(['Zyqite Another']);
    // Not by a name of something that leads to what is not public.
    await rewrite(other, { state: 'removed' });
    expect(await find('zyqaint')).toEqual([]);
    await rewrite(other);
    await rewrite(record);
    await applyStream();
    expect(await find('zyqaint')).toEqual(['Zyqaint Quorum']);
    for (const each of [record, other]) await rewrite(each, { state: 'removed' });
    await applyStream();
  });

  test('leaves out what only a search has found, and what it finds no more', async () => {
    const record = await name('Passing Fancy');
    const passing = await name('Passing Fancy', { expires_at: 2 ** 32 });
    expect(await entriesOf(passing)).toEqual([]);
    // Before the stream is followed.
    const Item = { ...recordKey(record), ...record, name: 'Another', version: Date.now() + 9 };
    await transact([{ Put: { Item } }]);
    expect(await find('passing')).toEqual([]);
    await batchDelete([recordKey(record)]);
    await applyStream();
    expect(await entriesOf(record)).toEqual([]);
  });

  test('has six entries at most, each of one write unit', async () => {
    const text = Array.from({ length: 30 }, (_, i) => `wörd${i}`)
      .join(' ')
      .slice(0, 200);
    const record = await name(text);
    expect(await entriesOf(record)).toHaveLength(6);
    const long = await name('\u{1f3b7}a'.repeat(100));
    const thai = await name('ก'.repeat(200));
    for (const each of [record, long, thai]) {
      for (const { pk, sk } of await entriesOf(each)) {
        expect(Buffer.byteLength(pk + sk)).toBeLessThan(350);
      }
    }
    expect(await find('wörd0')).toEqual([text]);
    await expectSmallItems();
  });

  test('is read for at most twelve units, whatever the names', async () => {
    const wide = '\u{1f3b7}'.repeat(190);
    const address = `https://example.org/${'x'.repeat(1_970)}`;
    for (let i = 0; i < 100; i++) {
      const about = `${wide}${i}`;
      await write(`zzz ${i} ${wide}`, { about, by: about, url: address, image: address });
    }
    await applyStream();
    for (const text of ['zzz', 'zzz 1', 'nothing zzz', `zzz 7 ${wide}`]) {
      const { read, roundTrips } = await measureRun(() => findThings(text));
      expect(read).toBeLessThanOrEqual(12);
      expect(roundTrips).toBeLessThanOrEqual(2);
    }
    expect(await find('zzz')).toHaveLength(8);
  });

  test('is written again by a rebuild, and an audit misses its entries', async () => {
    const record = await name('Lost And Found');
    await batchDelete(await entriesOf(record));
    expect(await find('found')).toEqual([]);
    const behind = new Set<string>();
    await auditPartitions([recordKey(record).pk], { settle: 1 }, behind);
    expect([...behind]).toEqual([recordKey(record).pk]);
    expect(await rebuildThings()).toBeGreaterThan(0);
    expect(await find('found')).toEqual(['Lost And Found']);
  });
});
