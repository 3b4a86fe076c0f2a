/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { transact } from '../../../../shared/base/table/transact.ts';
import { type Entity, readRecord, recordKey } from '../../../../shared/core/entity/record.ts';
import { listDecisions } from '../../../../shared/core/report/decision-log.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { auditPartitions } from '../../../../shared/features/audit/audit.ts';
import {
  confirmName,
  leadThing,
  removeThing,
  returnThing,
  undoChange,
} from '../../../../shared/features/names/record-decisions.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { correct, reviewNew } from '../../../helpers/names-by-people.ts';
import { differences as auditOf, expectExact } from '../../../helpers/recount.ts';
import { filledForm, publishForm } from '../../../helpers/review-form.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { addFilm, stateOf } from '../../../helpers/things.ts';
import { exported, importWhole, sourced } from '../../../helpers/transfer.ts';
import {
  makeModerator,
  makeUser,
  makeUsers,
  type Person,
  visitor,
} from '../../../helpers/world.ts';

const mia = await makeModerator('Mia');
const by = { reason: 'other', note: '', moderator_id: mia.id } as const;

const rating = { rating: 4, license_choice: 'CC0 1.0' };

async function addFilms(names: string): Promise<Entity[]> {
  const films = [...names].map((name) => addFilm(mia, `${name} ${randomUUID()}`));
  return (await Promise.all(films)).map(({ entity }) => entity);
}

/** Returns the id of the latest decision on a thing. */
async function latestOn({ entity_id }: Entity): Promise<string> {
  await applyStream();
  const { decisions } = await listDecisions(20);
  return decisions.find((each) => each.entity_id === entity_id)?.id ?? '';
}

/** Returns the outcome of each: its status, 200 without an error. */
async function outcomesOf(deeds: readonly Promise<unknown>[]): Promise<number[]> {
  const outcomes = await Promise.allSettled(deeds);
  return outcomes.map((each) => (each.status === 'fulfilled' ? 200 : each.reason.status));
}

/** A held review of a new film, and both. */
async function heldReview(name: string): Promise<{ nora: Person; entity: Entity; id: string }> {
  process.env.HELD_REVIEWS = '1';
  const nora = await makeUser();
  const { entity } = await addFilm(nora, name);
  await publishForm(nora, { ...entity }, filledForm());
  const { body } = await nora.listsOwnReviews();
  return { nora, entity, id: body.reviews[0].id };
}

describe('a removal and', () => {
  test('a first review: the one that is stored first wins', async () => {
    const [entity] = (await addFilms('a')) as [Entity];
    const ann = await makeUser();
    beforeTransaction(() => ann.publishes({ ...entity }));
    await expect(removeThing(entity, { by })).rejects.toHaveStatus(400);
    const [other] = (await addFilms('b')) as [Entity];
    beforeTransaction(() => removeThing(other, { by }));
    expect(await ann.triesToPublish({ ...other, ...rating })).toHaveStatus(400);
    for (let round = 0; round < 3; round++) {
      const [film] = (await addFilms('c')) as [Entity];
      const [answer, removal] = await Promise.allSettled([
        ann.triesToPublish({ ...film, ...rating }),
        removeThing(film, { by }),
      ]);
      const isPublished = answer.status === 'fulfilled' && answer.value.status === 200;
      expect(isPublished).toBe(removal.status === 'rejected');
      expect((await stateOf(film)).state).toBe(isPublished ? undefined : 'removed');
    }
    await expectExact();
  });

  test('a first review, where the removal undoes a first name: one of the two wins', async () => {
    const [entity] = (await addFilms('u')) as [Entity];
    const ann = await makeUser();
    const named = await latestOn(entity);
    beforeTransaction(() => ann.publishes({ ...entity }));
    await expect(undoChange(named, by)).rejects.toHaveStatus(400);
    expect((await stateOf(entity)).state).toBeUndefined();
    await expectExact();
  });

  test('a draft that is published: the draft stays one', async () => {
    const [entity] = (await addFilms('d')) as [Entity];
    const ann = await makeUser();
    const id = await ann.publishes({ ...entity, is_draft: true });
    await removeThing(entity, { by });
    expect(await ann.edits(id, { is_draft: false })).toHaveStatus(400);
    await returnThing(entity, { by });
    expect(await ann.edits(id, { is_draft: false })).toHaveStatus(200);
  });

  test('an approval: either the review is public with its name, or neither', async () => {
    const first = await heldReview('Approved first');
    beforeTransaction(() => setHidden(first.id, false));
    await expect(removeThing(first.entity, { by })).rejects.toHaveStatus(400);
    const second = await heldReview('Removed first');
    beforeTransaction(() => removeThing(second.entity, { by }));
    await expect(setHidden(second.id, false)).rejects.toHaveStatus(400);
    for (let round = 0; round < 3; round++) {
      const { entity, id } = await heldReview(`Round ${round}`);
      const outcomes = await outcomesOf([setHidden(id, false), removeThing(entity, { by })]);
      expect(outcomes.toSorted()).toEqual([200, 400]);
      const isPublic = (await visitor.reads(id)).status === 200;
      expect((await stateOf(entity)).state).toBe(isPublic ? undefined : 'removed');
    }
    await expectExact();
  });

  test('a new name of its author: the removed words are those of now', async () => {
    const { nora, entity } = await heldReview('Before');
    beforeTransaction(() => correct(nora, entity, { name: 'After' }));
    await removeThing(entity, { by });
    expect(await readRecord(entity)).toMatchObject({ name: 'After', state: 'removed' });
  });
});

describe('things that lead on', () => {
  test('never lead to each other or to themselves, at once or one after the other', async () => {
    for (let round = 0; round < 3; round++) {
      const [a, b, c] = (await addFilms('abc')) as [Entity, Entity, Entity];
      const all = [
        leadThing(a, b.entity_id, { by }),
        leadThing(b, c.entity_id, { by }),
        leadThing(c, a.entity_id, { by }),
      ];
      expect((await outcomesOf(all)).toSorted()).toEqual([200, 200, 400]);
      const states = await Promise.all([a, b, c].map(stateOf));
      const ends = states.filter(({ leads_to }) => leads_to === undefined);
      expect(ends).toHaveLength(1);
      expect(ends[0]?.led_from).toHaveLength(2);
      await expect(leadThing(a, a.entity_id, { by })).rejects.toHaveStatus(400);
    }
    await expectExact();
  });

  test('collapse a chain that grows while they are joined', async () => {
    const [a, b, c] = (await addFilms('abc')) as [Entity, Entity, Entity];
    beforeTransaction(() => leadThing(b, c.entity_id, { by }));
    await leadThing(a, b.entity_id, { by });
    expect(await stateOf(a)).toMatchObject({ same_as: b.entity_id, leads_to: c.entity_id });
    beforeTransaction(() => returnThing(a, { by }));
    await returnThing(b, { by });
    for (const each of [a, b, c]) expect(await stateOf(each)).toEqual({});
  });

  test('are not removed, nor is what they lead to', async () => {
    const [a, b] = (await addFilms('ab')) as [Entity, Entity];
    beforeTransaction(() => leadThing(a, b.entity_id, { by }));
    await expect(removeThing(b, { by })).rejects.toHaveStatus(400);
    await expect(removeThing(a, { by })).rejects.toHaveStatus(400);
    await returnThing(a, { by });
    beforeTransaction(() => removeThing(b, { by }));
    await expect(leadThing(a, b.entity_id, { by })).rejects.toHaveStatus(400);
    expect(await stateOf(a)).toEqual({});
  });

  test('are not removed by undoing their first names either', async () => {
    const [a, b] = (await addFilms('ab')) as [Entity, Entity];
    const named = await Promise.all([a, b].map(latestOn));
    beforeTransaction(() => leadThing(a, b.entity_id, { by }));
    for (const id of named.toReversed()) {
      await expect(undoChange(id, by)).rejects.toHaveStatus(400);
    }
    await returnThing(a, { by });
    for (const id of named) await undoChange(id, by);
    const removed = [{ state: 'removed' }, { state: 'removed' }];
    expect(await Promise.all([a, b].map(stateOf))).toEqual(removed);
  });

  test('do not wait again while others lead to them', async () => {
    const { entity } = await heldReview('Led while it waits');
    process.env.HELD_REVIEWS = '0';
    const [end, other] = (await addFilms('eo')) as [Entity, Entity];
    await leadThing(entity, end.entity_id, { by });
    const led = await latestOn(entity);
    await leadThing(other, entity.entity_id, { by });
    await expect(undoChange(led, by)).rejects.toHaveStatus(400);
    await returnThing(other, { by });
    await undoChange(led, by);
    expect(await stateOf(entity)).toEqual({ state: 'waiting' });
    await expectExact();
  });

  test('lead only to things of their type', async () => {
    const [film] = (await addFilms('f')) as [Entity];
    const work = await reviewNew(await makeUser(), { name: 'A work' });
    await expect(leadThing(film, work.entity_id, { by })).rejects.toHaveStatus(400);
  });

  test('are missed by an audit if one end is lost', async () => {
    const [a, b] = (await addFilms('ab')) as [Entity, Entity];
    await leadThing(a, b.entity_id, { by });
    const lose = { Key: recordKey(b), set: { led_from: undefined } };
    await transact([{ Update: lose }]);
    await applyStream();
    expect((await auditOf()).filter((line) => line.includes('led_from'))).toHaveLength(1);
    await setAttributes(recordKey(b), { led_from: [a.entity_id] });
  });
});

test('a history of all of it leaves nothing to an audit, and travels to another table', async () => {
  process.env.HELD_REVIEWS = '1';
  const people = await makeUsers(6);
  const films: Entity[] = [];
  const pick = <T>(some: readonly T[]): T => some[Math.floor(Math.random() * some.length)] as T;
  const held = async () => {
    for (const person of people) {
      for (const { id, is_hidden, moderation } of (await person.listsOwnReviews()).body.reviews) {
        if (is_hidden && moderation?.decision === 'hold') return id as string;
      }
    }
    return undefined;
  };
  const deeds: (() => Promise<unknown>)[] = [
    async () => films.push((await addFilm(pick(people), `Film ${Math.random()}`)).entity),
    () => pick(people).triesToPublish({ ...pick(films), ...rating }),
    async () => setHidden(`${await held()}`, false),
    async () => setHidden(`${await held()}`, true),
    () => confirmName(pick(films), { by }),
    () => removeThing(pick(films), { by }),
    () => removeThing(pick(films), { by }, { hidesReviews: true }),
    () => leadThing(pick(films), pick(films).entity_id, { by }),
    () => returnThing(pick(films), { by }),
    async () => undoChange(pick((await listDecisions(20)).decisions).id, by),
    () => correct(pick(people), pick(films), { name: `Renamed ${Math.random()}` }),
  ];
  for (let i = 0; i < 6; i++) await deeds[0]?.();
  let done = 0;
  for (let step = 0; step < 50; step++) {
    const together = [pick(deeds), pick(deeds)].map((deed) => deed());
    const statuses = await outcomesOf(together);
    // Chance makes some impossible, and none fails.
    for (const status of statuses) expect([200, 400, 404]).toContain(status);
    done += statuses.filter((status) => status === 200).length;
  }
  expect(done).toBeGreaterThan(15);
  await expectExact();
  const states = () => Promise.all(films.map(stateOf));
  const before = await states();
  const records = await exported();
  await enterEmptyTable();
  await importWhole(records);
  expect(await states()).toEqual(before);
  const { differences } = await auditPartitions(
    films.map((film) => recordKey(film).pk),
    { settle: 0 },
  );
  // The stream of this table is not followed, so the names are not in the index yet.
  expect(differences.filter(({ attribute }) => attribute !== 'item')).toEqual([]);
}, 30_000);

test('an import keeps only the links that both things have', async () => {
  const [a, b, c, d] = (await addFilms('abcd')) as [Entity, Entity, Entity, Entity];
  const links = [
    [a, b],
    [c, d],
  ] as const;
  for (const [from, to] of links) await leadThing(from, to.entity_id, { by });
  const all = (await exported()).flatMap((record) => (record.kind === 'entity' ? [record] : []));
  const parted = all.map((record) => ({
    ...record,
    item: { ...record.item, same_as: undefined, leads_to: undefined, led_from: undefined },
  }));
  const isOf =
    ({ entity_id }: Entity) =>
    (record: object) =>
      JSON.stringify(record).includes(`"entity_id":"${entity_id}"`);
  await enterEmptyTable();
  // The table has the end of one link, and the beginning of the other.
  await importRecords(sourced([...parted.filter(isOf(b)), ...parted.filter(isOf(c))] as never));
  await importRecords(sourced(all as never));
  for (const each of [a, b, c, d]) expect(await stateOf(each)).toEqual({});
});
