import { handler as updateAggregates } from '../../../../functions/background/update-aggregates.ts';
import { rankTreeKey } from '../../../../shared/base/list/keys.ts';
import type { Key } from '../../../../shared/base/table/item.ts';
import { countsKey, entityKey } from '../../../../shared/core/keys.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { aggregateDifferences } from '../../../helpers/recount.ts';
import { afterSend } from '../../../helpers/sends.ts';
import { readStream } from '../../../helpers/stream.ts';
import { makeLongLists, makeUser, visitor } from '../../../helpers/world.ts';

test('trees are used only if they count all entries of the list', async () => {
  const author = await makeUser();
  const entity_id = await makeLongLists(author);
  // An index that lags behind the table.
  const behind = afterSend(({ input }, { Items, ...answer }) =>
    input.IndexName === 'entity-by-date' ? { ...answer, Items: Items?.slice(0, -2) } : undefined,
  );
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
  const author = await makeUser();
  const owners = [entityKey(await makeLongLists(author)), countsKey(author.id)];
  const setCount = async (count: number) => {
    for (const owner of owners) await setAttributes(owner, { work: count, EN: count, b4: count });
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
