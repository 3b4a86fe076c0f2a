import '../../../helpers/engine.ts';
import { handler } from '../../../../functions/background/update-aggregates.ts';
import { sumsKey, totalKey } from '../../../../shared/base/list/keys.ts';
import { batchDelete } from '../../../../shared/base/table/batch.ts';
import { metered } from '../../../../shared/base/table/budget.ts';
import { transact } from '../../../../shared/base/table/transact.ts';
import { addDeferred, defer } from '../../../../shared/core/aggregates/defer.ts';
import { copySums } from '../../../../shared/core/aggregates/sums.ts';
import { countReviews, listReviews } from '../../../../shared/core/review/review-list.ts';
import {
  dieAt,
  expectExactTotals,
  feed,
  records,
  silenceConsumer,
} from '../../../helpers/aggregates.ts';
import { restore } from '../../../helpers/clock.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { afterSend } from '../../../helpers/sends.ts';
import { makeUsers, type Person } from '../../../helpers/world.ts';

let author: Person;
let voter: Person;

beforeEach(async () => {
  [author, voter] = await makeUsers(2);
  await author.publishes({ entity_type: 'work' });
  await feed(await records());
});

const page = { offset: 0, limit: 1, order: 'date', descending: true } as const;

describe('the sums', () => {
  test('equal a recount after each kind of change', async () => {
    const id = await author.publishes({ entity_type: 'event' });
    await author.edits(id, { rating: null });
    const draft = await author.publishes({ is_draft: true });
    await feed(await records());
    await author.edits(draft, { is_draft: false });
    await author.deletes(id);
    await feed(await records());
    await expectExactTotals();
  });

  test('cost a unit where a number changes, and none after a vote or a repetition', async () => {
    const id = await author.publishes({ entity_type: 'work' });
    const all = await records();
    const stamp = async () => (await readItem(sumsKey))?.stamp;
    const before = await stamp();
    await feed(all);
    const after = await stamp();
    expect(after).not.toBe(before);
    const copying = await metered(() => copySums(['work']));
    expect(copying.usage).toMatchObject({ write: 0, read: 2 });
    await batchDelete([sumsKey]);
    expect((await metered(() => copySums(['work']))).usage.write).toBe(1);
    const copied = await stamp();
    await voter.votes(id);
    await feed([...(await records()), ...all]);
    expect(await stamp()).toBe(copied);
  });

  test('are copied with a repeated record, if the consumer dies once it has counted', async () => {
    await author.publishes({ entity_type: 'work' });
    const all = await records();
    silenceConsumer();
    dieAt(1, 'after');
    await handler({ Records: all });
    restore();
    await feed(all);
    await expectExactTotals();
  });

  test('have counts that another consumer has deferred', async () => {
    const deferWorks = async (by: number) => {
      await transact(defer(new Map([['', { key: totalKey('work'), by: { b: by } }]])));
      await addDeferred();
      return `${(await readItem(sumsKey))?.counts}`;
    };
    const b = (await readItem(totalKey('work')))?.b;
    expect(await deferWorks(1)).toContain(`"work":{"b":${Number(b) + 1}}`);
    expect(await deferWorks(-1)).toContain(`"work":{"b":${b}}`);
  });

  // The first command reads the sums, and the second the totals.
  test.each([1, 2])(
    'are right if another consumer counts and copies after the command %i of a copy',
    async (nth) => {
      await author.publishes({ entity_type: 'work' });
      const all = await records();
      // What a consumer that died has counted, but not copied.
      await setAttributes(sumsKey, { counts: '{}', stamp: 'old' });
      let commands = 0;
      const spy = afterSend(async () => {
        if (++commands !== nth) return;
        spy.mockRestore();
        await feed(all);
      });
      await copySums();
      await expectExactTotals();
      restore();
    },
  );

  test('of a table of older code are read from the totals, then made of all types', async () => {
    await author.publishes({ entity_type: 'event' });
    await feed(await records());
    await batchDelete([sumsKey]);
    const count = await countReviews();
    expect((await listReviews(page)).count).toBe(count);
    await author.publishes({ entity_type: 'event' });
    await feed(await records());
    expect(await countReviews()).toBe(count + 1);
    await expectExactTotals();
  });

  test('are all that a list of a type reads of the totals', async () => {
    const list = () => listReviews({ ...page, entity_type: 'work' });
    const { count } = await list();
    await setAttributes(totalKey('work'), { b: 9_000 });
    expect((await list()).count).toBe(count);
    await setAttributes(totalKey('work'), { b: count });
  });
});
