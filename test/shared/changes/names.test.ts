import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readRecord, recordWrites } from '../../../shared/entity/record.ts';
import { queueEntities } from '../../../shared/names/queue.ts';
import { transact } from '../../../shared/table/transact.ts';
import { ask, position } from '../../helpers/list-changes.ts';
import { nameEntities } from '../../helpers/names.ts';
import { correct, reviewNew } from '../../helpers/names-by-people.ts';
import { applyStream } from '../../helpers/stream.ts';
import { beginWebhook, forgetWebhooks, run, startReceiver } from '../../helpers/webhooks.ts';
import { makeUsers } from '../../helpers/world.ts';

afterEach(forgetWebhooks);

const [ann] = await makeUsers(1);
const at = 'https://api.example/ws';

/** Changes of names after a cursor. */
async function namesSince(since: string) {
  await applyStream();
  const { changes } = (await ask({ since })).body;
  return changes.filter(({ entity }: { entity?: object }) => entity !== undefined);
}

describe('GET /changes', () => {
  test('has an entity whose name changes, as it is now, once', async () => {
    const since = await position();
    const { entity_id: id, ...type } = await reviewNew(ann, { name: 'Bleu' });
    const entity = { entity_id: id, ...type };
    await correct(ann, entity, { name: 'Blue', about: '1957' });
    const url = `${at}/entity/${id}`;
    const [change, ...others] = await namesSince(since);
    expect(change).toEqual({
      id,
      version: expect.any(Number),
      review: null,
      entity: { id, type: 'work', name: 'Blue', url, about: '1957', image: null },
    });
    expect(others).toEqual([]);
    const later = await position();
    await correct(ann, entity, { name: 'Azure', about: '1957' });
    const [next] = await namesSince(later);
    expect(next.entity.name).toBe('Azure');
    expect(next.version).toBeGreaterThan(change.version);
  });

  test('has nothing that waits for a name, no renewal without a change, and no passing name', async () => {
    const entity = { entity_id: randomUUID(), entity_type: 'work' } as const;
    const since = await position();
    await nameEntities({ [entity.entity_id]: 'Same' }, 'work');
    expect(await namesSince(since)).toHaveLength(1);
    const later = await position();
    const due = await readRecord(entity);
    await transact(recordWrites(due, { ...due, due_at: 0 } as never));
    await queueEntities([{ ...entity, entity_id: randomUUID() }]);
    const passing = { ...entity, entity_id: randomUUID(), name: 'Passing', expires_at: 2 ** 32 };
    await transact(recordWrites(undefined, passing));
    expect(await namesSince(later)).toEqual([]);
  });
});

describe('a webhook', () => {
  test('tells names only if its owner chose them, of one entity if its owner wants', async () => {
    const [usual, names, other, one] = await Promise.all([1, 2, 3, 4].map(() => startReceiver()));
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await beginWebhook(usual as never);
    await beginWebhook(names as never, { types: ['entity.edited'] });
    const types = ['entity.edited' as const];
    await beginWebhook(other as never, { types, entity_id: randomUUID() });
    await beginWebhook(one as never, { types, entity_id: entity.entity_id });
    await correct(ann, entity, { name: 'Blue' });
    await run();
    expect(usual?.take()).toEqual([]);
    expect(other?.take()).toEqual([]);
    for (const receiver of [names, one]) {
      expect(receiver?.messages.map(({ type, data }) => ({ type, data }))).toEqual([
        {
          type: 'entity.edited',
          data: {
            version: expect.any(Number),
            entity: expect.objectContaining({ id: entity.entity_id, name: 'Blue' }),
          },
        },
      ]);
      expect(receiver?.messages[0]?.headers['webhook-id']).toMatch(
        new RegExp(`^ent_${entity.entity_id}_\\d+$`),
      );
    }
  });
});
