import { randomUUID } from 'node:crypto';
import { popularityOf, popularityRank } from '../../../../shared/base/list/popularity-rank.ts';
import {
  boundsOf,
  type Counter,
  countersOf,
  isLeaf,
} from '../../../../shared/base/list/rank-tree.ts';

/** Returns the children from the root to the leaf that counts an entry, by popularity. */
function pathOf(time: number, popularity: number) {
  const counters = countersOf('all', 'text', { time, popularity });
  const isOfOrder = ({ key: { sk }, attribute }: Counter) =>
    popularity === 0
      ? sk.startsWith('date') || !attribute.startsWith('v')
      : sk.startsWith('popularity') || attribute.startsWith('v');
  const path = counters
    .filter((counter) => isOfOrder(counter) && counter.attribute.endsWith('t'))
    .map(({ attribute }) => Number.parseInt(attribute.replace('v', ''), 10));
  return popularity === 0 ? [0, ...path] : path;
}

describe('the path of an entry', () => {
  const popularities = [0, 1, -1, 63, 64, 65, -64, -65, -66, -130, 127, 128, 129, 131, 5000, -5000];

  test.each(popularities)('popularity %s leads to a leaf with its rank', (popularity) => {
    const time = Date.UTC(2025, 6, 7, 13, 14, 15);
    const rank = popularityRank(popularity, new Date(time).toISOString(), randomUUID());
    expect(popularityOf(rank)).toBe(popularity);
    const path = pathOf(time, popularity);
    expect(isLeaf('popularity', path)).toBe(true);
    for (let depth = 1; depth <= path.length; depth++) {
      const { low, high } = boundsOf('popularity', path.slice(0, depth));
      expect(rank >= (low as bigint) && rank <= (high as bigint)).toBe(true);
    }
  });

  test('leaves by popularity follow each other without gap or overlap', () => {
    const leaves = new Map<number, { low: bigint; high: bigint }>();
    for (let popularity = -300; popularity <= 300; popularity++) {
      const [value = 0] = pathOf(Date.UTC(2025, 6, 7), popularity);
      leaves.set(value, boundsOf('popularity', [value]) as { low: bigint; high: bigint });
    }
    // -64 to 63 are a leaf each, 64 to 127 are 32 leaves, 128 to 255 too, and 256 to 300 are 6. The
    // negative values mirror these.
    expect(leaves.size).toBe(64 + 64 + 2 * (32 + 32 + 6));
    let last: bigint | undefined;
    for (const { low, high } of leaves.values()) {
      if (last !== undefined) expect(low).toBe(last + 1n);
      last = high;
    }
  });
});
