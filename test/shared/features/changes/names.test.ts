import { randomUUID } from 'node:crypto';
import { transact } from '../../../../shared/base/table/transact.ts';
import { readRecord, recordWrites } from '../../../../shared/core/entity/record.ts';
import { queueEntities } from '../../../../shared/features/names/queue.ts';
import {
  leadThing,
  removeThing,
  returnThing,
} from '../../../../shared/features/names/record-decisions.ts';
import { changeIn } from '../../../../shared/features/webhooks/message.ts';
import { resendMessage } from '../../../../shared/features/webhooks/webhook-actions.ts';
import { ask, position } from '../../../helpers/list-changes.ts';
import { nameEntities } from '../../../helpers/names.ts';
import { correct, reviewNew } from '../../../helpers/names-by-people.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { forgetWebhooks, run, subscribe } from '../../../helpers/webhooks.ts';
import { makeUser, newWork } from '../../../helpers/world.ts';

afterEach(forgetWebhooks);

const ann = await makeUser();
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
      kind: 'entity',
      subject: { type: 'work', id },
      id,
      version: expect.any(Number),
      review: null,
      entity: { id, type: 'work', name: 'Blue', url, about: '1957', image: null },
      state: 'public',
      leads_to: null,
    });
    expect(others).toEqual([]);
    const later = await position();
    await correct(ann, entity, { name: 'Azure', about: '1957' });
    const [next] = await namesSince(later);
    expect(next.entity.name).toBe('Azure');
    expect(next.version).toBeGreaterThan(change.version);
  });

  test('has nothing that waits for a name, no renewal without a change, and no passing name', async () => {
    const entity = newWork();
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

/** Names an id as two things at once. One batch of the stream then has both, with one time. */
async function nameTwo(name: string) {
  const id = randomUUID();
  const writes = (['work', 'artist'] as const).flatMap((entity_type) =>
    recordWrites(undefined, {
      entity_id: id,
      entity_type,
      name: `${name} ${entity_type}`,
      origin: 'operator',
      written_at: new Date().toISOString(),
    }),
  );
  await transact(writes);
  return id;
}

describe('two things with one id', () => {
  test('are two changes with a subject of their own', async () => {
    const since = await position();
    const id = await nameTwo('Twin');
    const changes = await namesSince(since);
    expect(changes.map(({ subject }: { subject: object }) => subject)).toEqual(
      expect.arrayContaining([
        { type: 'work', id },
        { type: 'artist', id },
      ]),
    );
    expect(changes).toHaveLength(2);
  });

  test('are two messages, which can be sent again one by one', async () => {
    const { receiver, webhook } = await subscribe({ types: ['entity.edited'] });
    const ids = await Promise.all(['One', 'Two', 'Three', 'Four'].map(nameTwo));
    await run();
    const told = receiver.messages.map(({ headers, data }) => {
      const { subject, entity } = data as { subject: object; entity: { name: string } };
      return { id: `${headers['webhook-id']}`, subject, name: entity.name };
    });
    expect(told).toHaveLength(2 * ids.length);
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
    expect(new Set(told.map(({ subject }) => JSON.stringify(subject))).size).toBe(told.length);
    receiver.take();
    for (const { id, name } of told) {
      await resendMessage(webhook, id);
      await run();
      const [again] = receiver.messages.splice(0);
      expect([again?.headers['webhook-id'], again?.text]).toEqual([
        id,
        expect.stringContaining(name),
      ]);
    }
  });

  test('are recognized in the ids of messages of older code as well', () => {
    const id = randomUUID();
    const older = { about: 'ent', id, at: 5, entity_type: undefined };
    expect(changeIn(`ent_${id}_5`)).toEqual(older);
    expect(changeIn(`ent_bk_literary_work_${id}_5`)).toMatchObject({
      entity_type: 'bk_literary_work',
    });
    expect(changeIn(`rev_${id}_5`)).toMatchObject({ about: 'rev', id, at: 5 });
    expect(changeIn(`case_${id}_5`)).toMatchObject({ about: 'case', id, at: 5 });
    expect(changeIn(`rev_work_${id}_5`)).toBeUndefined();
  });
});

describe('a thing that is removed, brought back and joined', () => {
  const by = { reason: 'other', note: '', moderator_id: null } as const;
  const add = async (name: string) => {
    const entity = newWork();
    await transact(recordWrites(undefined, { ...entity, name, origin: 'operator' }));
    return entity;
  };

  test('is told to mirrors and receivers, without the name that was taken down', async () => {
    const thing = await add('Cheap watches');
    const other = await add('The other');
    const wanted = { types: ['entity.edited' as const], entity_id: thing.entity_id };
    const { receiver } = await subscribe(wanted);
    const steps: [() => Promise<unknown>, object][] = [
      [() => removeThing(thing, { by }), { entity: null, state: 'removed', leads_to: null }],
      [() => returnThing(thing, { by }), { entity: { name: 'Cheap watches' }, state: 'public' }],
      [
        () => leadThing(thing, other.entity_id, { by }),
        { entity: { name: 'Cheap watches' }, state: 'public', leads_to: other.entity_id },
      ],
      [() => returnThing(thing, { by }), { state: 'public', leads_to: null }],
    ];
    let versions = 0;
    for (const [act, expected] of steps) {
      const since = await position();
      await act();
      const subject = { type: 'work', id: thing.entity_id };
      const changes = (await namesSince(since)).filter(
        ({ id }: { id: string }) => id === thing.entity_id,
      );
      expect(changes).toMatchObject([{ kind: 'entity', subject, review: null, ...expected }]);
      expect(changes[0].version).toBeGreaterThan(versions);
      versions = changes[0].version;
      await run();
      const [message, ...others] = receiver.messages.splice(0);
      expect(others).toEqual([]);
      expect(message?.data).toMatchObject({ subject, ...expected });
    }
  });

  test('is told no name that waits, and its end if it waits again', async () => {
    const since = await position();
    const thing = newWork();
    const record = { ...thing, name: 'Waiting', origin: 'member', state: 'waiting' } as const;
    await transact(recordWrites(undefined, record));
    await removeThing(thing, { by });
    expect(await namesSince(since)).toEqual([]);
    await returnThing(thing, { by });
    await transact(recordWrites(await readRecord(thing), record));
    const [told] = await namesSince(since);
    expect(told).toMatchObject({ id: thing.entity_id, entity: null, state: null });
  });
});

describe('a webhook', () => {
  test('tells names only if its owner chose them, of one entity if its owner wants', async () => {
    const entity = await reviewNew(ann, { name: 'Bleu' });
    const types = ['entity.edited' as const];
    const usual = await subscribe();
    const names = await subscribe({ types });
    const other = await subscribe({ types, entity_id: randomUUID() });
    const one = await subscribe({ types, entity_id: entity.entity_id });
    await correct(ann, entity, { name: 'Blue' });
    await run();
    expect([usual.receiver.take(), other.receiver.take()]).toEqual([[], []]);
    for (const { receiver } of [names, one]) {
      expect(receiver.messages.map(({ type, data }) => ({ type, data }))).toEqual([
        {
          type: 'entity.edited',
          data: {
            subject: { type: 'work', id: entity.entity_id },
            version: expect.any(Number),
            entity: expect.objectContaining({ id: entity.entity_id, name: 'Blue' }),
            state: 'public',
            leads_to: null,
          },
        },
      ]);
      expect(receiver.messages[0]?.headers['webhook-id']).toMatch(
        new RegExp(`^ent_work_${entity.entity_id}_\\d+$`),
      );
    }
  });
});
