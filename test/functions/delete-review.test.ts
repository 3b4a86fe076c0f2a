import { randomUUID } from 'node:crypto';
import { claimKey, entityKey, reviewKey, userKey } from '../../shared/core/keys.ts';
import { readItem, scanTable } from '../helpers/items.ts';
import { differences, expectExact } from '../helpers/recount.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser } from '../helpers/world.ts';

const author = await makeUser();
const other = await makeUser();

describe('DELETE /review/{review_id}', () => {
  test('deletes a review and, eventually, everything that belongs to it', async () => {
    const entity_id = randomUUID();
    const id = await author.publishes({ entity_id });
    await other.votes(id);
    await other.reports(id);
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 1 });

    const body = { message: 'Request processed successfully' };
    expect(await author.deletes(id.toUpperCase())).toMatchObject({ status: 200, body });
    expect(await readItem(reviewKey(id))).toBeUndefined();
    // An undecided report waits for the next review of the entity.
    expect(await readItem(claimKey(author.id, entity_id))).toMatchObject({ reported: { spam: 1 } });
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 0 });
    expect(await readItem(entityKey(entity_id))).toMatchObject({ release_group: 0, EN: 0 });
    expect(await author.deletes(id)).toHaveStatus(404);

    await applyStream();
    expect((await scanTable()).filter(({ pk }) => pk === `REVIEW#${id}`)).toMatchObject([
      { sk: 'PROJECTION', counted: null, expires_at: expect.any(Number) },
    ]);
    expect(await readItem(entityKey(entity_id))).toBeUndefined();
    expect(await differences()).toEqual([]);
  });

  test('deletes the author’s drafts and hidden reviews', async () => {
    expect(await author.deletes(await author.publishes({ is_draft: true }))).toHaveStatus(200);
    expect(await author.deletes(await author.publishesHidden())).toHaveStatus(200);
    await expectExact();
  });
});
