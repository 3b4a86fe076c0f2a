import { handler } from '../../functions/background/update-aggregates.ts';
import { table } from '../../shared/base/table/client.ts';
import { addDeferred } from '../../shared/core/aggregates/defer.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import {
  busy,
  deferred,
  dieAt,
  expectExactTotals,
  feed,
  records,
  silenceConsumer,
} from '../helpers/aggregates.ts';
import { afterSend } from '../helpers/sends.ts';
import { makeUser } from '../helpers/world.ts';

beforeEach(silenceConsumer);

describe('a batch that does not fit a transaction', () => {
  test.each(['before', 'after'] as const)(
    'counts exactly if it dies %s a transaction and the batch repeats',
    async (when) => {
      const whole = await busy();
      const healthy = dieAt(Number.POSITIVE_INFINITY, when);
      await feed(whole);
      jest.mocked(table.send).mockRestore();
      // At least one transaction defers counts, and one adds them.
      expect(healthy.transactions).toBeGreaterThan(1);
      for (let nth = 1; nth <= healthy.transactions; nth++) {
        const all = await busy();
        dieAt(nth, when);
        await handler({ Records: all });
        jest.mocked(table.send).mockRestore();
        // Sends half of the batch first, as Lambda splits batches.
        await feed(all.slice(0, 20));
        await feed(all.slice(20));
        expect(await deferred()).toEqual([]);
        await expectExactTotals();
      }
    },
  );

  /** Leaves pending counts, and returns their records. */
  async function leaveCounts() {
    const all = await busy();
    dieAt(2, 'before');
    await handler({ Records: all });
    jest.mocked(table.send).mockRestore();
    expect(await deferred()).not.toEqual([]);
    return all;
  }

  test('adds pending counts once, even from two shards', async () => {
    const all = await leaveCounts();
    const spy = afterSend(async () => {
      spy.mockRestore();
      await addDeferred();
    });
    await addDeferred();
    expect(await deferred()).toEqual([]);
    await feed(all);
    await expectExactTotals();
  });

  test('adds pending counts even if none of their records repeats', async () => {
    await leaveCounts();
    await makeUser();
    await feed(await records());
    expect(await deferred()).toEqual([]);
    await expectExactTotals();
  });

  test('discards pending counts that a rebuild has included', async () => {
    const all = await leaveCounts();
    await rebuildTotals();
    expect(await deferred()).toEqual([]);
    await expectExactTotals();
    await feed(all);
    await expectExactTotals();
  });
});
