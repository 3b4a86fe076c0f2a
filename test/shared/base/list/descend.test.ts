import { descend, entriesToFill } from '../../../../shared/base/list/descend.ts';
import { rankTreeKey } from '../../../../shared/base/list/keys.ts';
import { keyString } from '../../../../shared/base/table/item.ts';
import { setAttributes } from '../../../helpers/items.ts';

test('a page after a cursor goes on into the next slots, however many entries lie around it', async () => {
  // A block of 300 reviews with text: 100 in each of three slots, in one second of the slot.
  const list = 'all';
  await setAttributes(rankTreeKey(list, 'root', []), { '972t': 300 });
  await setAttributes(rankTreeKey(list, 'date', [972]), { '5t': 100, '6t': 100, '7t': 100 });
  for (const slot of [5, 6, 7]) {
    await setAttributes(rankTreeKey(list, 'date', [972, slot]), { '30t': 100 });
    await setAttributes(rankTreeKey(list, 'date', [972, slot, 30]), { '10t': 100 });
  }
  const partition = { scope: 'all', value: 'REVIEW' } as const;
  const tree = { list, partition, contents: new Set(['text'] as const) };
  // Block 972 begins on 2026-10-10, and its slot 5 at 20:00. The cursor lies in its minute 30.
  const window = await descend(
    [tree],
    { order: 'date', descending: false },
    { after: '2026-10-10T20:30:10.500Z#1', skip: 0, take: 60 },
  );
  // Up to 99 entries of slot 5 come before the cursor. So 60 after it are certain with slot 6 only.
  expect(window.spans.map(({ path }) => path)).toEqual([
    [972, 5, 30, 10],
    [972, 6, 30, 10],
  ]);
  expect(window.end).toBe('2026-10-11T00:30:11.000Z');
});

test('votes that are counted before their reviews are no entries less', () => {
  const list = 'all';
  const partition = { scope: 'all', value: 'REVIEW' } as const;
  const tree = { list, partition, contents: new Set(['both'] as const) };
  // Three reviews with one vote each. Two of them are not counted by date yet.
  const root = { '972b': 1, '972B': 3, v1b: 3 };
  const roots = new Map([[keyString(rankTreeKey(list, 'root', [])), root]]);
  const byPopularity = { order: 'popularity', descending: true } as const;
  expect(entriesToFill([tree], byPopularity, { skip: 0, take: 4 }, roots)).toBe(3);
});
