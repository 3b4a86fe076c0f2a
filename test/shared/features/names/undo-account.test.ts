/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { describe, expect, test } from '@jest/globals';
import { putNew, transact } from '../../../../shared/base/table/transact.ts';
import {
  type Entity,
  type EntityRecord,
  readRecord,
  recordWrites,
  renewed,
} from '../../../../shared/core/entity/record.ts';
import { decisionKey } from '../../../../shared/core/keys.ts';
import { entryOf } from '../../../../shared/core/report/decision-log.ts';
import { findUser } from '../../../../shared/core/user/user-repository.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { listProposed } from '../../../../shared/features/names/given-names.ts';
import {
  confirmName,
  leadThing,
  removeThing,
} from '../../../../shared/features/names/record-decisions.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { correct, logOf, nameNew, wordsOf } from '../../../helpers/names-by-people.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeFirst, beforeTransaction } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import {
  by,
  makeModerator,
  makeUser,
  makeUsers,
  newWork,
  type Person,
  whileHeld,
} from '../../../helpers/world.ts';

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');
const byMia = by(mia);
const byBen = by(ben);

const led = ({ entity_id }: Entity) => ({ same_as: entity_id, leads_to: entity_id });

/** Calls `act` once, before the first transaction that logs a removal. */
function beforeRemoval(act: () => unknown): void {
  const isRemoval = (Put: { Item?: Record<string, unknown> } | undefined) =>
    Put?.Item?.decision === 'remove';
  beforeFirst(({ input }) => input.TransactItems?.some(({ Put }) => isRemoval(Put)), act);
}

describe('all that an account did, taken back beside', () => {
  async function spam(): Promise<{ spammer: Person; entity: Entity }> {
    const spammer = await makeUser();
    return { spammer, entity: await nameNew(spammer, { name: 'Cheap watches' }) };
  }

  test.each<[string, (entity: Entity) => Promise<unknown>, Partial<EntityRecord>]>([
    ['a correction', (entity) => correct(ben, entity, { name: 'Watch' }), { name: 'Watch' }],
    ['a confirmation', (entity) => confirmName(entity, { by: byBen }), { is_confirmed: true }],
    ['a review', async (entity) => (await makeUser()).publishes({ ...entity }), {}],
  ])('%s: the name stays', async (_, act, expected) => {
    const { spammer, entity } = await spam();
    await decideUser(spammer.id, 'hide_all', byMia);
    beforeRemoval(() => act(entity));
    await applyStream();
    const record = await readRecord(entity);
    expect(record).toMatchObject({ name: 'Cheap watches', ...expected });
    expect(record?.state).toBeUndefined();
    expect((await findUser(spammer.id))?.hiding).toBeUndefined();
  });

  test('a database that has since given the same words: they are not the spammer’s', async () => {
    const { spammer, entity } = await spam();
    const before = await readRecord(entity);
    const record = { ...entity, name: 'Cheap watches', origin: 'musicdb' } as const;
    await transact(recordWrites(before, renewed(before, record)));
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    expect(await wordsOf(entity)).toEqual({ name: 'Cheap watches', origin: 'musicdb' });
    expect((await readRecord(entity))?.state).toBeUndefined();
  });

  test('a join: the name stays', async () => {
    const { spammer, entity } = await spam();
    const end = await nameNew(await makeUser(), { name: 'End' });
    await decideUser(spammer.id, 'hide_all', byMia);
    beforeRemoval(() => leadThing(entity, end.entity_id, { by: byBen }));
    await applyStream();
    expect(await readRecord(entity)).toMatchObject({ name: 'Cheap watches', ...led(end) });
    expect((await readRecord(entity))?.state).toBeUndefined();
    await expectExact();
  });

  test('a removal that is logged once', async () => {
    const { spammer, entity } = await spam();
    await decideUser(spammer.id, 'hide_all', byMia);
    beforeRemoval(() => removeThing(entity, { by: byBen }));
    await applyStream();
    expect((await logOf(entity)).map(({ decision }) => decision)).toEqual(['remove', 'name']);
  });

  test('brought back, but for a name that somebody has given since', async () => {
    const { spammer, entity } = await spam();
    const other = await nameNew(spammer, { name: 'Watches' });
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    await correct(ben, entity, { name: 'Metropolis' });
    await decideUser(spammer.id, 'restore_all', byMia);
    await applyStream();
    expect(await wordsOf(entity)).toMatchObject({ name: 'Metropolis', user_id: ben.id });
    const back = await readRecord(other);
    expect(back).toMatchObject({ name: 'Watches', user_id: spammer.id });
    expect([back?.state, back?.is_confirmed]).toEqual([undefined, undefined]);
    // What was brought back can be taken again.
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    expect(await readRecord(other)).toMatchObject({ name: 'Watches', state: 'removed' });
  });

  test('brought back, but for a proposal that the person has made anew since', async () => {
    const [ann, spammer] = await makeUsers(2);
    const entity = await nameNew(ann, { name: 'Metropolis' });
    await correct(spammer, entity, { name: 'Watches' });
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    expect(await listProposed(spammer.id, 9)).toMatchObject({ found: [] });
    await decideUser(spammer.id, 'restore_all', byMia);
    // The account writes again, and the background is late.
    expect(await correct(spammer, entity, { name: 'Metropolis II' })).toHaveStatus(303);
    await applyStream();
    const { found } = await listProposed(spammer.id, 9);
    expect(found.map(({ proposal }) => proposal.name)).toEqual(['Metropolis II']);
  });

  /** Logs that a person has written the words of now over those of Ben. */
  async function logOverBen(person: Person, entity: Entity, list: 'NAMING' | 'SUBJECT') {
    const after = (await readRecord(entity)) as EntityRecord;
    const before = { ...after, name: 'Of Ben', user_id: ben.id, origin: 'moderator' } as const;
    stopClock(Date.now() + 1);
    const decision = entryOf('correct', { before, after }, by(person));
    const date = `${decision.decided_at}#${decision.id}`;
    const listed = { all: 'DECISION', author: `${list}#${person.id}`, date };
    await transact([putNew({ ...decisionKey(decision.id), ...listed, ...decision })]);
  }

  test.each(['NAMING', 'SUBJECT'] as const)(
    'words over those of another, which are back, in the log of this or of older code: %s',
    async (list) => {
      const spammer = await makeUser();
      const words = { name: 'Cheap watches', origin: 'member', user_id: spammer.id } as const;
      const entity = newWork();
      const written_at = new Date().toISOString();
      await transact(recordWrites(undefined, { ...entity, ...words, written_at }));
      await logOverBen(spammer, entity, list);
      await decideUser(spammer.id, 'hide_all', byMia);
      await applyStream();
      expect(await wordsOf(entity)).toMatchObject({ name: 'Of Ben', user_id: ben.id });
    },
  );

  test('words of another in a thing that is joined since: it stays as it was joined', async () => {
    const { spammer, entity } = await spam();
    const end = await nameNew(await makeUser(), { name: 'End' });
    await logOverBen(spammer, entity, 'NAMING');
    await leadThing(entity, end.entity_id, { by: byBen });
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    expect(await readRecord(entity)).toMatchObject({ name: 'Cheap watches', ...led(end) });
    await expectExact();
  });

  test('a name that waits is what it was before: it waits again', async () => {
    const nora = await makeUser();
    const entity = await whileHeld(() => nameNew(nora, { name: 'Of Nora' }));
    const spammer = await makeUser();
    expect(await correct(spammer, entity, { name: 'Watches', seen: '' })).toHaveStatus(303);
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    expect(await readRecord(entity)).toMatchObject({
      name: 'Of Nora',
      user_id: nora.id,
      state: 'waiting',
    });
  });
});

describe('a decision beside the erasure of who gave the name', () => {
  test.each<[string, (entity: Entity, end: Entity) => Promise<unknown>]>([
    ['confirmed', (entity) => confirmName(entity, { by: byMia })],
    ['removed', (entity) => removeThing(entity, { by: byMia })],
    ['joined', (entity, end) => leadThing(entity, end.entity_id, { by: byMia })],
    ['led to', (entity, end) => leadThing(end, entity.entity_id, { by: byMia })],
  ])('does not bring the person back: %s', async (_, decide) => {
    const ann = await makeUser();
    const entity = await nameNew(ann, { name: 'Bleu' });
    const end = await nameNew(await makeUser(), { name: 'End' });
    beforeTransaction(async () => {
      await ann.leaves();
      await applyStream();
    });
    await decide(entity, end);
    await applyStream();
    expect(await wordsOf(entity)).toEqual({ name: 'Bleu', origin: 'member' });
  });
});
