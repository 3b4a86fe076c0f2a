import '../../../helpers/engine.ts';
import { handler as listReviews } from '../../../../functions/api/list-reviews.ts';
import { eventOf } from '../../../../infra/local/gateway/endpoint-event.ts';
import { budgetOf } from '../../../../infra/route-load.ts';
import { routes } from '../../../../shared/base/routes.ts';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import { metered, withinBudget } from '../../../../shared/base/table/budget.ts';
import { collect, getItem, queryItems } from '../../../../shared/base/table/query.ts';
import { transact, tryUpdate } from '../../../../shared/base/table/transact.ts';
import { silenceAll } from '../../../helpers/console.ts';
import { lambdaContext } from '../../../helpers/invoke.ts';
import '../../../helpers/table.ts';
import { storeItems } from '../../../helpers/items.ts';

const prefix = { pk: 'BUDGET', sk: 'ITEM#' };
const wide = { read: 1_000, commands: 1_000, bytes: 10_000_000, answer: 10_000_000 };
const errors = silenceAll('error');

beforeEach(async () => {
  const text = 'x'.repeat(4_000);
  const items = Array.from({ length: 10 }, (_, i) => ({ ...prefix, sk: `ITEM#${i}`, text }));
  await storeItems(items);
});

const readOne = () => getItem({ ...prefix, sk: 'ITEM#1' });
const readAll = () => collect(queryItems(prefix, { pageSize: 2 }));

/** Error of a run within a budget that is wide but for `limits`, and the log's line about it. */
async function refusal(limits: object, run: () => Promise<unknown>) {
  const budget = { ...wide, ...limits };
  const error = await withinBudget({ name: 'get-it' }, budget, run).catch(
    (thrown: Error) => thrown,
  );
  return { error, line: errors.mock.calls[0]?.[0] };
}

describe('the use of the table', () => {
  test('is counted in units, commands and bytes', async () => {
    const { usage } = await metered(async () => {
      await readOne();
      await transact([{ Put: { Item: { ...prefix, sk: 'ITEM#1' } } }]);
    });
    // 4 KB once, and a transaction of an item of 4 KB.
    expect(usage).toMatchObject({ read: 1, write: 8, commands: 2 });
    expect(usage.bytes).toBeGreaterThan(4_000);
    expect(usage.bytes).toBeLessThan(6_000);
  });

  test('has write units of each command that writes', async () => {
    const Item = { ...prefix, sk: 'ITEM#20' };
    const written = async (write: () => Promise<unknown>) => {
      const { read, write: units } = (await metered(write)).usage;
      return { read, write: units };
    };
    const update = { Key: Item, amounts: { number: 1 } };
    expect(await written(() => tryUpdate(update))).toEqual({ read: 0, write: 1 });
    expect(await written(() => batchWrite([{ put: Item }]))).toEqual({ read: 0, write: 1 });
    expect(await written(() => transact([{ Put: { Item } }]))).toEqual({ read: 0, write: 2 });
    expect(await written(() => transact([{ Delete: { Key: Item } }]))).toEqual({
      read: 0,
      write: 2,
    });
  });

  test('is that of each of several at once', async () => {
    const runs = await Promise.all([metered(readOne), metered(readAll), metered(readOne)]);
    expect(runs.map(({ usage }) => usage.commands)).toEqual([1, 6, 1]);
  });

  test.each([
    ['read', { read: 9 }, { read: 10 }],
    ['commands', { commands: 5 }, { commands: 6 }],
    ['bytes', { bytes: 39_000 }, { commands: 5 }],
  ])(
    'ends with 503 and a line in the log when it has too many: %s',
    async (exceeded, limits, used) => {
      const { error, line } = await refusal(limits, readAll);
      expect(error).toMatchObject({ name: 'OverBudget', status: 503, code: 'service_unavailable' });
      const named = { message: 'Over budget', operation: 'get-it', exceeded, ...used };
      expect(line).toMatchObject(named);
    },
  );

  test('is free up to the budget, and without one', async () => {
    expect(await withinBudget({ name: 'get-it' }, { ...wide, read: 11 }, readAll)).toHaveLength(10);
    expect(await withinBudget({ name: 'get-it' }, undefined, readAll)).toHaveLength(10);
    expect(errors).not.toHaveBeenCalled();
  });

  test('stays refused after it was refused', async () => {
    const { error } = await refusal({ commands: 1 }, async () => {
      await readAll().catch(() => {});
      await readOne();
    });
    expect(error).toMatchObject({ name: 'OverBudget' });
  });
});

test.each([{ commands: 0 }, { answer: 20 }])(
  'an endpoint over its budget answers 503 as JSON: %j',
  async (limits) => {
    const call = listReviews;
    const answer = await withinBudget({ name: 'list-reviews' }, { ...wide, ...limits }, () =>
      call(eventOf({}), lambdaContext()),
    );
    expect(answer.statusCode).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({
      error: 'service_unavailable',
      description: expect.stringContaining('ask for less'),
    });
  },
);

test('every route that touches the table has a budget', () => {
  const free = routes.filter((route) => budgetOf(route) === undefined);
  expect(new Set(free.map(({ table }) => table))).toEqual(new Set(['none']));
});
