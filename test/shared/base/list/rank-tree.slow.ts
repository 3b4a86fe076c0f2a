import { entityKey } from '../../../../shared/core/keys.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { rebuildTotals } from '../../../../shared/features/audit/rebuild.ts';
import { choices } from '../../../helpers/choices.ts';
import { readItem } from '../../../helpers/items.ts';
import { aggregateDifferences, readAggregates } from '../../../helpers/recount.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeLongLists, makeUsers, type Person, visitor } from '../../../helpers/world.ts';

const { random, below: number, pick } = choices(5);
const types = ['work', 'event', 'bk_author'];

test('after random writes, totals and rank trees equal a recount and a rebuild', async () => {
  const users = await makeUsers(8);
  const ids = new Map<string, Person>();
  const hot = await makeLongLists(users[0]);
  for (const user of users) {
    ids.set(await user.publishes({ entity_id: hot, entity_type: 'work' }), user);
  }
  await applyStream();
  for (let step = 0; step < 260; step += 1) {
    const author = users[step % 8] as Person;
    const [id, owner] = pick([...ids, ['', author]]);
    const action = random();
    if (id === '' || action < 0.35) {
      const language = pick(['en', 'de']);
      const content = { entity_type: pick(types), language, is_draft: random() < 0.1 };
      ids.set(await author.publishes(content), author);
    } else if (action < 0.5) {
      await owner.edits(id, { rating: 1 + number(5) });
    } else if (action < 0.6) {
      await owner.edits(id, { rating: null });
    } else if (action < 0.68) {
      await setHidden(id, random() < 0.6);
    } else if (action < 0.74) {
      await owner.deletes(id);
      ids.delete(id);
    } else {
      const voter = users.find((user) => user !== owner) as Person;
      await voter.votes(id, random() < 0.7 ? 'up' : 'down').catch(() => {});
    }
    if (step % 20 === 0) await applyStream();
  }
  await applyStream();
  expect(await readItem(entityKey(hot))).toMatchObject({ rank_tree: 'ready' });
  const { body } = await visitor.lists({ entity_id: hot, offset: '402' });
  expect(body.count).toBeGreaterThan(402);
  expect(body.reviews).toHaveLength(body.count - 402);
  expect(await aggregateDifferences()).toEqual([]);
  const kept = await readAggregates();
  expect((await rebuildTotals()).corrected_projections).toBe(0);
  expect(await readAggregates()).toEqual(kept);
});
