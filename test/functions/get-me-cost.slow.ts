import { measureRun } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/api/get-me.ts';
import { userKey } from '../../shared/core/keys.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { makeUsers, type Person, reviewBy, storeReviews } from '../helpers/world.ts';

const get = async ({ caller }: Pick<Person, 'caller'>, inc?: string | string[]) =>
  invoke(handler, { caller, query: inc === undefined ? undefined : { inc } });

describe('GET /user/me', () => {
  test('costs the same for 1,400 reviews of this month as for none', async () => {
    const [user, idle] = await makeUsers(2);
    const now = Date.parse('2026-11-20T12:00:00.000Z');
    stopClock(now);
    const reviews = Array.from({ length: 1400 }, (_, i) => {
      const published_on = new Date(now - i * 20 * 60_000).toISOString();
      return { ...reviewBy(user.id), created: published_on, published_on };
    });
    await storeReviews(reviews);
    await setAttributes(userKey(user.id), { 'work|en|both4': 1400 });
    await rebuildTotals();
    const since = (time: string) => reviews.filter((each) => each.published_on >= time).length;
    const { result, read } = await measureRun(() => get(user, 'stats'));
    expect(result.body.user.stats).toMatchObject({
      reviews_today: since('2026-11-20'),
      reviews_last_7_days: since('2026-11-14'),
      reviews_this_month: since('2026-11-01'),
    });
    const { read: least } = await measureRun(() => get(idle, 'stats'));
    // 401 thin entries of the index, the user, and tree nodes for four times.
    expect(read - least).toBeLessThan(14);
  });
});
