import type { Item } from '../../../../shared/base/table/item.ts';
import { contribution, projectionItem } from '../../../../shared/core/aggregates/contribution.ts';
import { reviewItem } from '../../../../shared/core/review/review-writes.ts';
import { Tally } from '../../../../shared/features/audit/tally.ts';
import { reviewBy } from '../../../helpers/world.ts';

// Beside these steps a rebuild keeps its lock, which expires after a minute. A million reviews take
// longer.

const items = Array.from({ length: 2_500 }, (): Item => ({ ...reviewItem(reviewBy('author')) }));
const projections = items.map(
  (item): Item => ({ ...projectionItem({ ...contribution(item), owners: [] }) }),
);

let tally: Tally;
beforeEach(() => {
  tally = new Tally();
});
afterEach(() => tally.close());

test('pauses after each thousand that it counts', () => {
  tally.add(items);
  expect([...tally.countActual()]).toHaveLength(3);
  const counted = tally.items().find(({ pk, sk }) => pk.startsWith('TREE#all|') && sk === 'root');
  expect(Object.values(counted ?? {})).toContain(2_500);
});

test('says of each projection state if it is right', () => {
  tally.add([...items.slice(0, 20), ...projections.slice(1, 20)]);
  const corrections = [...tally.corrections()];
  expect(corrections).toHaveLength(20);
  expect(corrections.filter((each) => each !== undefined)).toMatchObject([{ pk: items[0]?.pk }]);
});
