import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { transact } from '../../../../shared/base/table/transact.ts';
import { recordWrites } from '../../../../shared/core/entity/record.ts';
import { findThings } from '../../../../shared/features/things/find-things.ts';
import { mostWords, wordEntries } from '../../../../shared/features/things/words.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { titles } from '../../../helpers/titles.ts';

const recordOf = (name: string, about: string) => ({
  entity_id: randomUUID(),
  entity_type: 'work' as const,
  name,
  about: about || undefined,
  origin: 'musicdb' as const,
});

beforeAll(async () => {
  for (const [, title, about] of titles) {
    await transact(recordWrites(undefined, recordOf(title, about)));
  }
  await applyStream();
});

const found = async (query: string) =>
  (await findThings(query)).things.map(({ record }) => record.name);

test.each(titles)(
  '%s: %s is found by what people type',
  async (_, title, __, queries, others = []) => {
    const missed: string[] = [];
    for (const query of queries) if (!(await found(query)).includes(title)) missed.push(query);
    expect(missed).toEqual([]);
    for (const query of others) expect(await found(query)).not.toContain(title);
  },
);

test('no title costs more entries than others', () => {
  for (const [, title, about] of titles) {
    expect(wordEntries(recordOf(title, about), 0).length).toBeLessThanOrEqual(mostWords);
  }
});
