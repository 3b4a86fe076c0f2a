/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { describe, expect, test } from '@jest/globals';
import { type Entity, readRecord } from '../../../../shared/core/entity/record.ts';
import { countNews } from '../../../../shared/core/user/news.ts';
import { findUser } from '../../../../shared/core/user/user-repository.ts';
import { nameAsOperator } from '../../../../shared/features/names/correction.ts';
import { proposalKey } from '../../../../shared/features/names/kinds.ts';
import {
  confirmName,
  leadThing,
  returnThing,
  undoChange,
} from '../../../../shared/features/names/record-decisions.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem } from '../../../helpers/items.ts';
import { correct, decideName, logOf, nameNew, wordsOf } from '../../../helpers/names-by-people.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { addFilm, stateOf } from '../../../helpers/things.ts';
import {
  by,
  makeModerator,
  makeUser,
  makeUsers,
  newWork,
  type Person,
} from '../../../helpers/world.ts';

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');
const byMia = by(mia);
const byBen = by(ben);

/** Corrects a name as a moderator. Returns the id of the entry in the log. */
async function corrected(entity: Entity, name: string): Promise<string> {
  stopClock(Date.now() + 1);
  expect(await correct(mia, entity, { name })).toHaveStatus(303);
  return `${(await logOf(entity))[0]?.id}`;
}

const statusOf = (deed: Promise<unknown>): Promise<number> =>
  deed.then(
    (answer) => (answer as { status?: number } | undefined)?.status ?? 200,
    (error) => error.status ?? 500,
  );

const newsFor = async ({ id }: Person) => countNews((await findUser(id)) as never);

describe('two corrections at once', () => {
  test.each([0, 1, 2, 3])('of one name: one is made, and the other sees it: %#', async () => {
    const entity = await nameNew(await makeUser(), { name: 'Bleu' });
    const answers = await Promise.all([
      correct(mia, entity, { name: 'Of Mia' }),
      correct(ben, entity, { name: 'Of Ben' }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 412]);
    const winner = answers[0].status === 303 ? mia : ben;
    expect(await wordsOf(entity)).toMatchObject({ user_id: winner.id });
    expect((await logOf(entity)).map(({ before }) => before?.name)).toEqual(['Bleu', undefined]);
  });

  test('as first names: one is given, and the other sees it', async () => {
    const [ann, carl] = await makeUsers(2);
    const entity = newWork();
    beforeTransaction(() => correct(ann, entity, { name: 'Of Ann' }));
    expect(await correct(carl, entity, { name: 'Of Carl' })).toHaveStatus(412);
    expect(await wordsOf(entity)).toMatchObject({ name: 'Of Ann', user_id: ann.id });
  });

  test('and one of the operator: the log has both in their order', async () => {
    const entity = await nameNew(await makeUser(), { name: 'Bleu' });
    beforeTransaction(() => correct(mia, entity, { name: 'Of Mia' }));
    await nameAsOperator(entity, { name: 'Of all', about: undefined, url: undefined }, '');
    expect(await wordsOf(entity)).toMatchObject({ name: 'Of all', origin: 'operator' });
    const [last] = await logOf(entity);
    expect([last?.before?.name, last?.after?.name]).toEqual(['Of Mia', 'Of all']);
    // The first author and Mia each know of one.
    expect(await newsFor(mia)).toBeGreaterThan(0);
  });
});

describe('an undo beside a correction', () => {
  test('which is stored first: the later words stay', async () => {
    const entity = await nameNew(await makeUser(), { name: 'Bleu' });
    const id = await corrected(entity, 'Blue');
    beforeTransaction(() => correct(ben, entity, { name: 'Azure' }));
    await expect(undoChange(id, byMia)).rejects.toHaveStatus(400);
    expect(await wordsOf(entity)).toMatchObject({ name: 'Azure', user_id: ben.id });
  });

  test('which is stored second: it is refused, and the words of before are back', async () => {
    const ann = await makeUser();
    const entity = await nameNew(ann, { name: 'Bleu' });
    const id = await corrected(entity, 'Blue');
    beforeTransaction(() => undoChange(id, byMia));
    expect(await correct(ben, entity, { name: 'Azure' })).toHaveStatus(412);
    expect(await wordsOf(entity)).toMatchObject({ name: 'Bleu', user_id: ann.id });
  });

  test('that changed the address alone is refused', async () => {
    const entity = await nameNew(await makeUser(), { name: 'Bleu' });
    const id = await corrected(entity, 'Blue');
    await correct(ben, entity, { name: 'Blue', url: 'https://a.example/' });
    await expect(undoChange(id, byMia)).rejects.toHaveStatus(400);
  });

  test('and another undo: one of the two is made', async () => {
    const entity = await nameNew(await makeUser(), { name: 'Bleu' });
    const id = await corrected(entity, 'Blue');
    const outcomes = await Promise.all([byMia, byBen].map((by) => statusOf(undoChange(id, by))));
    expect(outcomes.toSorted()).toEqual([200, 400]);
    expect((await wordsOf(entity)).name).toBe('Bleu');
    expect(await logOf(entity)).toHaveLength(3);
  });

  test('of a first name is made once, and its author reads it once', async () => {
    const ann = await makeUser();
    const { entity } = await addFilm(ann, 'Once');
    const id = `${(await logOf(entity))[0]?.id}`;
    beforeTransaction(() => undoChange(id, byBen));
    await expect(undoChange(id, byMia)).rejects.toHaveStatus(400);
    expect((await logOf(entity)).map(({ decision }) => decision)).toEqual(['remove', 'name']);
    expect(await newsFor(ann)).toBe(1);
    // It came back since, so it can be undone again.
    await returnThing(entity, { by: byMia });
    await undoChange(id, byMia);
    expect(await stateOf(entity)).toEqual({ state: 'removed' });
  });

  test('leaves the trust in the name that it brings back, and takes its own', async () => {
    const entity = await nameNew(await makeUser(), { name: 'Bleu' });
    await confirmName(entity, { by: byMia });
    const [confirmed] = await logOf(entity);
    await undoChange(`${confirmed?.id}`, byMia);
    expect(await readRecord(entity)).not.toHaveProperty('is_confirmed');
    await expect(undoChange(`${confirmed?.id}`, byMia)).rejects.toHaveStatus(400);
  });

  test('of somebody whose account is gone brings back the words alone, also in the log', async () => {
    const ann = await makeUser();
    const entity = await nameNew(ann, { name: 'Bleu' });
    const id = await corrected(entity, 'Blue');
    beforeTransaction(async () => {
      await ann.leaves();
      await applyStream();
    });
    await undoChange(id, byMia);
    expect(await wordsOf(entity)).toEqual({ name: 'Bleu', origin: 'member' });
    expect((await logOf(entity))[0]).toMatchObject({ decision: 'correct', user_id: null });
  });
});

describe('a proposal beside', () => {
  async function proposed(): Promise<{ entity: Entity; carl: Person }> {
    const [ann, carl] = await makeUsers(2);
    const entity = await nameNew(ann, { name: 'Bleu' });
    await correct(carl, entity, { name: 'Blue' });
    return { entity, carl };
  }
  const proposalOf = ({ entity_type, entity_id }: Entity, { id }: Person) =>
    readItem(proposalKey(entity_type, entity_id, id));

  test('a correction is not accepted over words that nobody compared it with', async () => {
    const { entity, carl } = await proposed();
    beforeTransaction(() => correct(ben, entity, { name: 'Azure' }));
    expect(await decideName(mia, entity, carl, 'accept')).toHaveStatus(400);
    expect(await wordsOf(entity)).toMatchObject({ name: 'Azure', user_id: ben.id });
    expect(await proposalOf(entity, carl)).toMatchObject({ name: 'Blue' });
  });

  test.each(['accept', 'decline'] as const)(
    'another decision is not decided: %s',
    async (first) => {
      const { entity, carl } = await proposed();
      beforeTransaction(() => decideName(ben, entity, carl, first));
      expect(await decideName(mia, entity, carl, 'accept')).toHaveStatus(400);
      expect((await wordsOf(entity)).name).toBe(first === 'accept' ? 'Blue' : 'Bleu');
      expect(await logOf(entity)).toHaveLength(2);
      expect(await proposalOf(entity, carl)).toBeUndefined();
    },
  );

  test('a join keeps the link when it is accepted', async () => {
    const { entity, carl } = await proposed();
    const end = await nameNew(await makeUser(), { name: 'End' });
    await leadThing(entity, end.entity_id, { by: byMia });
    expect(await decideName(mia, entity, carl, 'accept')).toHaveStatus(303);
    expect(await readRecord(entity)).toMatchObject({ name: 'Blue', leads_to: end.entity_id });
    await expectExact();
  });
});

describe('a joined thing', () => {
  async function pair(): Promise<[Entity, Entity]> {
    const [ann, carl] = await makeUsers(2);
    return [await nameNew(ann, { name: 'Given' }), await nameNew(carl, { name: 'End' })];
  }
  const led = ({ entity_id }: Entity) => ({ same_as: entity_id, leads_to: entity_id });

  test('keeps its link and its name through corrections and undos, and has both when parted', async () => {
    const [entity, end] = await pair();
    await leadThing(entity, end.entity_id, { by: byMia });
    const id = await corrected(entity, 'Corrected');
    const ofEnd = await corrected(end, 'Corrected end');
    expect(await stateOf(entity)).toEqual(led(end));
    await undoChange(id, byMia);
    await undoChange(ofEnd, byMia);
    expect(await stateOf(entity)).toEqual(led(end));
    expect(await stateOf(end)).toEqual({ led_from: [entity.entity_id] });
    await returnThing(entity, { by: byMia });
    const names = await Promise.all([entity, end].map(wordsOf));
    expect(names.map(({ name }) => name)).toEqual(['Given', 'End']);
    expect(await Promise.all([entity, end].map(stateOf))).toEqual([{}, {}]);
  });

  test('that is joined while its name is corrected: the form shows it first', async () => {
    const [entity, end] = await pair();
    beforeTransaction(() => leadThing(entity, end.entity_id, { by: byMia }));
    expect(await correct(ben, entity, { name: 'Late' })).toHaveStatus(412);
    expect(await readRecord(entity)).toMatchObject({ name: 'Given', ...led(end) });
  });

  test('that is joined while a correction of it is undone has the link and the words', async () => {
    const [entity, end] = await pair();
    const id = await corrected(entity, 'Corrected');
    beforeTransaction(() => leadThing(entity, end.entity_id, { by: byMia }));
    await undoChange(id, byMia);
    expect(await readRecord(entity)).toMatchObject({ name: 'Given', ...led(end) });
    expect(await stateOf(end)).toEqual({ led_from: [entity.entity_id] });
  });

  test('whose join is undone keeps a correction that was made since', async () => {
    const [entity, end] = await pair();
    await leadThing(entity, end.entity_id, { by: byMia });
    const [join] = await logOf(entity);
    await corrected(entity, 'Corrected');
    // The words are others now, so the join is ended by its own form.
    await expect(undoChange(`${join?.id}`, byMia)).rejects.toHaveStatus(400);
    await returnThing(entity, { by: byMia });
    expect((await wordsOf(entity)).name).toBe('Corrected');
  });
});
