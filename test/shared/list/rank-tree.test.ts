import { randomUUID } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import { handler as updateAggregates } from '../../../functions/update-aggregates.ts';
import { boundsOf, type Counter, countersOf, isLeaf } from '../../../shared/list/rank-tree.ts';
import { table } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/item.ts';
import {
  entityKey,
  popularityOf,
  popularityRank,
  rankTreeKey,
  userKey,
} from '../../../shared/table/keys.ts';
import { readItem, setAttributes } from '../../helpers/items.ts';
import { aggregateDifferences } from '../../helpers/recount.ts';
import { readStream } from '../../helpers/stream.ts';
import { makeLongLists, makeUsers, visitor } from '../../helpers/world.ts';

/** Returns the children from the root to the leaf that counts an entry, by popularity. */
function pathOf(time: number, popularity: number): number[] {
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

test('trees are used only if they count all entries of the list', async () => {
  const [author] = await makeUsers(1);
  const entity_id = await makeLongLists(author);
  const send = table.send.bind(table);
  const behind = jest.spyOn(table, 'send').mockImplementation((async (command: never) => {
    const answer = (await send(command)) as { Items?: unknown[] };
    const { IndexName } = (command as { input: { IndexName?: string } }).input;
    // An index that lags behind the table.
    return IndexName === 'entity-by-date'
      ? { ...answer, Items: answer.Items?.slice(0, -2) }
      : answer;
  }) as never);
  const records = await readStream();
  const late = records.filter(({ dynamodb }) => dynamodb?.Keys?.sk?.S === 'REVIEW').slice(0, 3);
  await updateAggregates({ Records: late });
  behind.mockRestore();
  expect(await readItem(entityKey(entity_id))).toMatchObject({ rank_tree: 'growing' });
  const { body } = await visitor.lists({ entity_id, offset: '390' });
  expect(body.reviews).toHaveLength(11);
  await updateAggregates({ Records: late.slice(0, 1) });
  expect(await readItem(entityKey(entity_id))).toMatchObject({ rank_tree: 'ready' });
  const rest = records.filter(({ dynamodb }) =>
    /^(USER|REVIEW)$/.test(dynamodb?.Keys?.sk?.S ?? ''),
  );
  for (let at = 0; at < rest.length; at += 100)
    await updateAggregates({ Records: rest.slice(at, at + 100) });
  expect(await aggregateDifferences()).toEqual([]);
});

test('a list that gets trees late counts the reviews that were counted before it had any', async () => {
  const [author] = await makeUsers(1);
  const owners = [entityKey(await makeLongLists(author)), userKey(author.id)];
  const setCount = async (count: number) => {
    for (const owner of owners) await setAttributes(owner, { 'work|en|both4': count });
  };
  await setCount(400);
  const reviews = (await readStream()).filter(({ dynamodb }) => dynamodb?.Keys?.sk?.S === 'REVIEW');
  await updateAggregates({ Records: reviews });
  for (const owner of owners) expect(await readItem(owner)).not.toHaveProperty('rank_tree');
  await setCount(401);
  await updateAggregates({ Records: reviews.slice(0, 1) });
  for (const owner of owners) expect(await readItem(owner)).toMatchObject({ rank_tree: 'ready' });
  const { pk } = owners[0] as Key;
  const counters = await readItem(rankTreeKey(pk, 'root', []));
  expect(Object.values(counters ?? {}).filter((value) => typeof value === 'number')).toEqual([401]);
});
