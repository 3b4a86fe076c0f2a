import './helpers/engine.ts';
import { tableDefinition } from '../shared/base/table/definition.ts';
import type { Item } from '../shared/base/table/item.ts';
import { sizeOf } from '../shared/base/table/size.ts';
import { scanTable } from './helpers/items.ts';
import { makeUsers } from './helpers/world.ts';

/** Bytes of a review of 1,500 characters and of a vote, with all entries that list them. */
const stored = { 'a new review': 5_500, 'a vote': 780 };

/** Bytes that DynamoDB adds to each item, and to each entry of an index. */
const overhead = 100;

/** Bytes that an item takes in the table and in the indexes that have it. */
function bytesOf(item: Partial<Item>): number {
  const entries = tableDefinition.indexes
    .filter(({ partitionKey, sortKey }) => partitionKey in item && sortKey in item)
    .map(({ partitionKey, sortKey, projection }) => {
      const names = ['pk', 'sk', partitionKey, sortKey, ...projection];
      return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
    });
  return [item, ...entries].reduce((sum, each) => sum + sizeOf(each) + overhead, 0);
}

test('a review and a vote take few bytes', async () => {
  const [author, ...voters] = await makeUsers(5);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await author.publishes({ text: 'x'.repeat(1500) }));
  for (const voter of voters) for (const id of ids) await voter.votes(id);
  const items = await scanTable();
  const inAll = (...sortKeys: string[]) =>
    items
      .filter(({ sk }) => sortKeys.some((each) => `${sk}`.startsWith(each)))
      .reduce((sum, item) => sum + bytesOf(item), 0);
  expect(inAll('REVIEW', 'ENTITY') / 5 / stored['a new review']).toBeCloseTo(1, 1);
  expect(inAll('VOTE#') / 20 / stored['a vote']).toBeCloseTo(1, 1);
});
