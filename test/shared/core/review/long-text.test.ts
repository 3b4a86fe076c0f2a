import { metered } from '../../../../shared/base/table/budget.ts';
import { affordable, setApart } from '../../../../shared/core/review/long-text.ts';
import { sizeOf } from '../../../helpers/sizes.ts';
import { reviewBy } from '../../../helpers/world.ts';

/** Units of a consistent read: one for each 4 KB. */
const unitsOf = (item: object) => Math.ceil(sizeOf(item) / 4096);

test('a long text counts with its keys, and as if a replica lacked it', async () => {
  // Without its keys, the text would take 10 units.
  const text = '🎷'.repeat(10 * 1024);
  const { review, longText = {} } = setApart({ ...reviewBy('ann'), text });
  expect([unitsOf(longText), unitsOf(review)]).toEqual([11, 2]);
  const readableWithin = async (read: number) => {
    const budget = { read, commands: 9, bytes: 9, answer: 9 };
    const { result } = await metered(() => affordable([{ review }, { review }]), budget);
    return result.length;
  };
  // What the replica lacks costs half a unit.
  expect(await readableWithin(2 * (0.5 + 11 + 2) - 0.5)).toBe(1);
  expect(await readableWithin(2 * (0.5 + 11 + 2) + 1)).toBe(2);
});
