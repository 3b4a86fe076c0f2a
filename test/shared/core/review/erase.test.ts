import { randomUUID } from 'node:crypto';
import { entityKey } from '../../../../shared/core/keys.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { differences } from '../../../helpers/recount.ts';
import { beforeFirst } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeUser } from '../../../helpers/world.ts';

const author = await makeUser();
const other = await makeUser();

/** Runs `act` once, before the first deletion of an item with this partition key. */
function meanwhile(pk: string, act: () => Promise<unknown>) {
  beforeFirst(
    ({ input }) => input.TransactItems?.some(({ Delete }) => Delete?.Key?.pk === pk),
    act,
  );
}

describe('the deletion of a review', () => {
  test('deletes an entity without reviews, and keeps one with a review', async () => {
    const [empty, reviewed, renewed, listed] = Array.from({ length: 4 }, randomUUID);
    const entities = [empty, reviewed, renewed, listed];
    for (const entity_id of [reviewed, listed]) await other.publishes({ entity_id, rating: 2 });
    const ids = await Promise.all(entities.map((entity_id) => author.publishes({ entity_id })));
    for (const id of ids) await author.deletes(id);
    // Adds a review of another content between the eraser's read and its deletion.
    const content = { entity_id: renewed, language: 'de', rating: null };
    meanwhile(`ENTITY#${renewed}`, () => other.publishes(content));
    await applyStream();
    const left = await Promise.all(entities.map((id) => readItem(entityKey(`${id}`))));
    expect(left.map((item) => item !== undefined)).toEqual([false, true, true, true]);
    expect(await differences()).toEqual([]);
  });

  test('keeps an entity with rank trees, and one whose review is restored', async () => {
    const long = randomUUID();
    const hidden = randomUUID();
    const kept = await other.publishes({ entity_id: hidden });
    for (const entity_id of [long, hidden]) {
      const review_id = await author.publishes({ entity_id });
      if (entity_id === long) await setAttributes(entityKey(long), { rank_tree: 'ready' });
      else await setHidden(kept, true);
      await author.deletes(review_id);
    }
    await applyStream();
    expect(await readItem(entityKey(long))).toMatchObject({ release_group: 0 });
    expect(await readItem(entityKey(hidden))).toBeUndefined();
    await setHidden(kept, false);
    await applyStream();
    expect(await readItem(entityKey(hidden))).toMatchObject({ release_group: 1 });
    expect(await differences()).toEqual([]);
  });
});
