import { randomUUID } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { handler as deleteReview } from '../../../functions/delete-review.ts';
import { setHidden } from '../../../shared/moderation/decision-repository.ts';
import { table } from '../../../shared/table/client.ts';
import { entityKey } from '../../../shared/table/keys.ts';
import { makeReview, makeUser } from '../../helpers/fixtures.ts';
import { invoke } from '../../helpers/invoke.ts';
import { readItem, setAttributes } from '../../helpers/items.ts';
import { differences } from '../../helpers/recount.ts';
import { applyStream } from '../../helpers/stream.ts';

const author = await makeUser();
const other = await makeUser();

/** Runs `act` once, before the first deletion of an item with this partition key. */
async function meanwhile(pk: string, act: () => Promise<unknown>): Promise<void> {
  let acted = false;
  table.middlewareStack.add(
    (next) => async (args) => {
      const { TransactItems = [] } = args.input as TransactWriteCommandInput;
      if (!acted && TransactItems.some((item) => item.Delete?.Key?.pk === pk)) {
        acted = true;
        await act();
      }
      return next(args);
    },
    { name: 'meanwhile', step: 'initialize', priority: 'high' },
  );
}

describe('the deletion of a review', () => {
  test('deletes an entity without reviews, and keeps one with a review', async () => {
    const [empty, reviewed, renewed, listed] = Array.from({ length: 4 }, randomUUID) as string[];
    const entities = [empty, reviewed, renewed, listed] as string[];
    for (const entity_id of [reviewed, listed]) await makeReview(other, { entity_id, rating: 2 });
    const ids = await Promise.all(entities.map((entity_id) => makeReview(author, { entity_id })));
    for (const review_id of ids) {
      await invoke(deleteReview, { caller: author.caller, path: { review_id } });
    }
    // Adds a review of another content between the eraser's read and its deletion.
    await meanwhile(`ENTITY#${renewed}`, () =>
      makeReview(other, { entity_id: renewed, language: 'de', rating: null }),
    );
    await applyStream();
    table.middlewareStack.remove('meanwhile');
    const left = await Promise.all(entities.map((id) => readItem(entityKey(`${id}`))));
    expect(left.map((item) => item !== undefined)).toEqual([false, true, true, true]);
    expect(await differences()).toEqual([]);
  });

  test('keeps an entity with rank trees, and one whose review is restored', async () => {
    const [long, hidden] = [randomUUID(), randomUUID()];
    const kept = await makeReview(other, { entity_id: hidden });
    for (const entity_id of [long, hidden]) {
      const review_id = await makeReview(author, { entity_id });
      if (entity_id === long) await setAttributes(entityKey(long), { rank_tree: 'ready' });
      else await setHidden(kept, true);
      await invoke(deleteReview, { caller: author.caller, path: { review_id } });
    }
    await applyStream();
    expect(await readItem(entityKey(long))).toMatchObject({ rating_count: 0 });
    expect(await readItem(entityKey(hidden))).toBeUndefined();
    await setHidden(kept, false);
    await applyStream();
    expect(await readItem(entityKey(hidden))).toMatchObject({ rating_count: 1 });
    expect(await differences()).toEqual([]);
  });
});
