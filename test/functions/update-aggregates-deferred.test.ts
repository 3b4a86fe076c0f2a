import { handler } from '../../functions/background/update-aggregates.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { beginExact, deferred, deliver, records } from '../helpers/aggregates.ts';
import { setAttributes } from '../helpers/items.ts';
import { aggregateDifferences } from '../helpers/recount.ts';
import { beforeSend } from '../helpers/sends.ts';
import { makeUser } from '../helpers/world.ts';

/** Each batch meets exact numbers, whatever became of the batch before. */
beforeEach(beginExact);

describe('deferred counts that no update can add', () => {
  /** Leaves counts that take 4,282 bytes of an expression. */
  async function leaveCounts() {
    const by = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}t`, 1]));
    const counts = [{ pk: 'TREE#all', sk: 'root', by }];
    await setAttributes({ pk: 'DEFERRED', sk: 'COUNTS#0' }, { counts });
  }

  test('stop the consumer with an error that the guides name, until a rebuild voids them', async () => {
    await leaveCounts();
    await makeUser();
    const batch = await records();
    const { batchItemFailures } = await handler({ Records: batch });
    expect(batchItemFailures).toHaveLength(1);
    const error = {
      name: 'ExpressionTooLong',
      message: 'UpdateExpression has 4282 bytes, and DynamoDB takes 4096',
    };
    expect(jest.mocked(console.error).mock.calls).toMatchObject([[{ error }]]);
    jest.mocked(console.warn).mockClear();

    await rebuildTotals();
    await deliver(batch);
    expect(await deferred()).toEqual([]);
    expect(await aggregateDifferences()).toEqual([]);
  });

  test('are void before a rebuild writes the first node, which includes them', async () => {
    await leaveCounts();
    await setAttributes({ pk: 'DEFERRED', sk: 'COUNTS#1' }, { counts: 'of an unknown form' });
    await makeUser();
    const left: number[] = [];
    const spy = beforeSend(async ({ input }) => {
      if (!JSON.stringify(input).includes('"PutRequest":{"Item":{"pk":"TREE#')) return;
      left.push((await deferred()).length);
    });
    await rebuildTotals();
    spy.mockRestore();
    expect(new Set(left)).toEqual(new Set([0]));
    await deliver(await records());
    expect(await aggregateDifferences()).toEqual([]);
  });
});
