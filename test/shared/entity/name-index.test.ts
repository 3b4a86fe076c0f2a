import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { measureRun } from '../../../bin/bench/measure.ts';
import { auditPartitions } from '../../../shared/audit/audit.ts';
import type { EntityType } from '../../../shared/entity/entity-type.ts';
import { findByName, rebuildNames } from '../../../shared/entity/name-index.ts';
import {
  type EntityRecord,
  readRecord,
  recordKey,
  recordWrites,
} from '../../../shared/entity/record.ts';
import { batchDelete } from '../../../shared/table/batch.ts';
import { transact } from '../../../shared/table/transact.ts';
import { scanTable } from '../../helpers/items.ts';
import { expectSmallItems } from '../../helpers/sizes.ts';
import { applyStream } from '../../helpers/stream.ts';

/** Stores a record as a person does, and lets the consumers follow. */
async function name(
  text: string,
  entity_type: EntityType = 'work',
  before?: EntityRecord,
): Promise<EntityRecord> {
  const entity_id = before?.entity_id ?? randomUUID();
  const record: EntityRecord = { entity_id, entity_type, name: text, origin: 'member' };
  await transact(recordWrites(before, record));
  await applyStream();
  return record;
}

const find = async (text: string, type?: EntityType) =>
  (await findByName(text, type)).map((record) => record.name);

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

  test('of one type if asked, the very name first', async () => {
    await name('Jigsaw Falling', 'recording');
    await name('Jigsaw', 'work');
    await name('Jigsaw Again', 'artist');
    expect((await find('jigsaw'))[0]).toBe('Jigsaw');
    expect(await find('jigsaw', 'recording')).toEqual(['Jigsaw Falling']);
    expect(await find('jigsaw', 'label')).toEqual([]);
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

  test.each<Partial<EntityRecord>>([
    { state: 'waiting' },
    { state: 'removed' },
    { leads_to: randomUUID() },
  ])('leaves out %j, and finds it again without', async (state) => {
    const record = await name('Quixotic Journey');
    const stored = await readRecord(record);
    await transact(recordWrites(stored, { ...record, ...state }));
    // Also before the stream is followed.
    expect(await find('quixotic')).toEqual([]);
    await applyStream();
    expect(await entriesOf(record)).toEqual([]);
    await transact(recordWrites(await readRecord(record), record));
    await applyStream();
    expect(await find('quixotic')).toEqual(['Quixotic Journey']);
    await transact(recordWrites(await readRecord(record), { ...record, state: 'removed' }));
  });

  test('leaves out what only a search has found, and what it finds no more', async () => {
    const record = await name('Passing Fancy');
    const passing = { ...record, entity_id: randomUUID(), expires_at: 2 ** 32 };
    await transact(recordWrites(undefined, passing));
    await applyStream();
    expect(await entriesOf(passing)).toEqual([]);
    // Before the stream is followed.
    const Item = { ...recordKey(record), ...record, name: 'Another', version: Date.now() + 9 };
    await transact([{ Put: { Item } }]);
    expect(await find('passing')).toEqual([]);
    await batchDelete([recordKey(record)]);
    await applyStream();
    expect(await entriesOf(record)).toEqual([]);
  });

  test('has eight entries at most, each of one write unit', async () => {
    const text = Array.from({ length: 30 }, (_, i) => `wörd${i}`)
      .join(' ')
      .slice(0, 200);
    const record = await name(text);
    expect(await entriesOf(record)).toHaveLength(8);
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
    const records = Array.from({ length: 100 }, (_, i): EntityRecord => {
      const about = `${wide}${i}`;
      const words = { name: `zzz ${i} ${wide}`, about, by: about, url: address, image: address };
      return { entity_id: randomUUID(), entity_type: 'work', ...words };
    });
    for (const record of records) await transact(recordWrites(undefined, record));
    await applyStream();
    for (const text of ['zzz', 'zzz 1', 'nothing zzz', `zzz 7 ${wide}`]) {
      const { read, roundTrips } = await measureRun(() => findByName(text));
      expect(read).toBeLessThanOrEqual(12);
      expect(roundTrips).toBeLessThanOrEqual(3);
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
    expect(await rebuildNames()).toBeGreaterThan(0);
    expect(await find('found')).toEqual(['Lost And Found']);
  });
});
