import type { DynamoDBRecord } from 'aws-lambda';
import { handler as listUsers } from '../../../../functions/api/list-users.ts';
import { handler as eraser } from '../../../../functions/background/eraser.ts';
import { handler as updateAggregates } from '../../../../functions/background/update-aggregates.ts';
import { type Consumer, isFor } from '../../../../shared/base/background/consumer.ts';
import { deleteItems } from '../../../../shared/base/table/erase.ts';
import { caseKey, projectionKey, reviewKey, userKey } from '../../../../shared/core/keys.ts';
import { audit } from '../../../../shared/features/audit/audit.ts';
import { consumers } from '../../../../shared/features/background.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { readItem } from '../../../helpers/items.ts';
import { differences, expectExact } from '../../../helpers/recount.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { applyStream, readStream } from '../../../helpers/stream.ts';
import { exported, importWhole, sourced } from '../../../helpers/transfer.ts';
import {
  makeGrant,
  makeUser,
  makeUsers,
  type Person,
  text,
  visitor,
} from '../../../helpers/world.ts';

/**
 * Follows the stream to its end, as `applyStream` does. Returns the records that the eraser
 * received.
 */
async function followed() {
  const [aggregates, erasures] = consumers as [Consumer, Consumer];
  const erased = [];
  for (let records = await readStream(); records.length > 0; records = await readStream()) {
    const due = records.filter((record) => isFor(erasures, record));
    await updateAggregates({ Records: records.filter((record) => isFor(aggregates, record)) });
    await eraser({ Records: due });
    erased.push(...due);
  }
  return erased;
}

/** Makes a review with two revisions, two votes, a report and a case. */
async function makeRichReview(author: Person, [fan, foe]: Person[]) {
  const review_id = await author.publishes();
  await (fan as Person).votes(review_id);
  await author.edits(review_id, { text: `Better. ${text}` });
  await (foe as Person).votes(review_id, 'down');
  await (foe as Person).reports(review_id, {});
  return review_id;
}

/** Makes a user with most kinds of items, then follows the stream. */
async function makeLively() {
  const [ann, fan, foe] = await makeUsers(3);
  await makeRichReview(ann, [fan, foe]);
  await ann.publishes({ is_draft: true });
  await ann.votes(await makeRichReview(fan, [ann, foe]));
  await makeGrant(fan, ['vote'], { owner: ann });
  await makeGrant(ann, ['user'], { owner: fan });
  await applyStream();
  return ann;
}

/**
 * Repeats the erasure of these records, and runs `act` before the given command. Returns the number
 * of commands.
 */
async function eraseAgain(Records: DynamoDBRecord[], at: number, act: () => Promise<unknown>) {
  let commands = 0;
  let isActing = false;
  const spy = beforeSend(async () => {
    if (isActing || ++commands !== at) return;
    isActing = true;
    await act();
  });
  expect(await eraser({ Records })).toEqual({ batchItemFailures: [] });
  spy.mockRestore();
  return commands;
}

describe('records restored by an import', () => {
  test('a review stays, whenever the record of its deletion arrives', async () => {
    const [ann, fan, foe] = await makeUsers(3);
    const review_id = await makeRichReview(ann, [fan, foe]);
    await applyStream();
    const before = await exported();
    await ann.deletes(review_id);
    const deletion = await followed();
    const written = { review: 1, vote: 2, report: 1, case: 1 };
    expect((await importRecords(sourced(before))).written).toEqual(written);
    await eraser({ Records: deletion });
    await applyStream();
    expect(await exported()).toEqual(before);
    expect(await differences()).toEqual([]);
  });

  test('an account stays, at whichever command of a late erasure it is restored', async () => {
    const ann = await makeLively();
    const before = await exported();
    let commands = 0;
    for (let at = 1; at <= commands + 1; at++) {
      await ann.leaves();
      const deletion = await followed();
      const bringBack = async () => {
        await importWhole(before);
      };
      commands = await eraseAgain(deletion, at, bringBack);
      if (at > commands) await bringBack();
      await eraser({ Records: deletion });
      await applyStream();
      expect({ at, left: await exported() }).toEqual({ at, left: before });
    }
    expect(commands).toBeGreaterThan(10);
    expect(await differences()).toEqual([]);
  });

  test('a report counts again in its open case', async () => {
    const [ann, bob, eve] = await makeUsers(3);
    const id = await eve.publishes();
    await ann.reports(id, { reason: 'abuse' });
    await bob.reports(id, { reason: 'My own words' });
    await applyStream();
    const before = await exported();
    const reports = async () => (await readItem(caseKey(id)))?.reports;
    await ann.leaves();
    await applyStream();
    expect(await reports()).toBe(1);
    expect((await importRecords(sourced(before))).written).toEqual({ user: 1, report: 1 });
    expect(await reports()).toBe(2);
    await applyStream();
    const found = [];
    for await (const each of audit({ settle: 0, patience: 0 })) found.push(...each.differences);
    expect(found).toEqual([]);
  });

  test('reports reopen the case that their erasure closed', async () => {
    const [ann, ben, cleo] = await makeUsers(3);
    const review_id = await ann.publishes();
    await ben.reports(review_id, { reason: 'abuse' });
    await applyStream();
    const before = await exported();
    await ben.leaves();
    await applyStream();
    expect(await readItem(caseKey(review_id))).toMatchObject({ state: 'closed', reports: 0 });
    for (const _ of ['once', 'twice']) await importRecords(sourced(before));
    expect(await readItem(caseKey(review_id))).toMatchObject({ state: 'open', reports: 1 });
    await expectExact();
    await cleo.reports(review_id, { reason: 'abuse' });
    await ben.leaves();
    await applyStream();
    expect(await readItem(caseKey(review_id))).toMatchObject({ state: 'open', reports: 1 });
    expect(await differences()).toEqual([]);
  });

  test('long reviews keep the revisions that are written first', async () => {
    const ann = await makeUser();
    const review_id = await ann.publishes();
    await applyStream();
    const before = (await exported()).map((record) => {
      if (record.kind !== 'review' || record.id !== review_id) return record;
      const [first] = record.revisions;
      const revisions = Array.from({ length: 60 }, (_, i) => ({ ...first, id: i + 1 }));
      return { ...record, revisions } as typeof record;
    });
    await ann.deletes(review_id);
    const deletion = await followed();
    // The record is delivered again between the revisions and the review.
    const spy = beforeSend(async ({ input }) => {
      if (!input.TransactItems?.some(({ Put }) => Put?.Item?.sk === 'REVIEW')) return;
      spy.mockRestore();
      await eraser({ Records: deletion });
    });
    await importRecords(sourced(before));
    await applyStream();
    expect(await exported()).toEqual(before);

    // A second deletion erases them.
    await ann.deletes(review_id);
    await applyStream();
    expect(await importRecords(sourced(before))).toMatchObject({ written: { review: 1 } });
  });
});

describe('an import that meets an unfinished deletion', () => {
  test('reports it, and waits for it', async () => {
    const [ann, bob, fan, foe] = await makeUsers(4);
    const review_id = await makeRichReview(ann, [fan, foe]);
    await bob.publishes();
    await applyStream();
    const before = await exported();
    // Adds a vote since the export, which the deletion removes.
    await bob.votes(review_id);
    await ann.deletes(review_id);
    await bob.leaves();

    const told: string[] = [];
    const onRefused = (where: string, reason: string) => told.push(`${where}: ${reason}`);
    const { written } = await importRecords(sourced(before), { onRefused });
    expect(written).toEqual({});
    const lineOf = (id: string) => before.findIndex((record) => 'id' in record && record.id === id);
    const at = (id: string) => `line ${lineOf(id)}`;
    const why =
      'its deletion is not finished: run `npm run admin -- erase`, or import it again later';
    expect(told).toContain(`${at(bob.id)}, user ${bob.id}: ${why}`);
    expect(told).toContain(`${at(review_id)}, review ${review_id}: ${why}`);

    const waited = jest.fn(() => void applyStream());
    const outcome = await importRecords(sourced(before), { patience: 30_000, onWaiting: waited });
    expect(outcome.refused).toEqual({});
    expect(outcome.written).toMatchObject({ user: 1, review: 2, vote: 2 });
    expect(waited).toHaveBeenCalledTimes(1);
    await applyStream();
    expect(await exported()).toEqual(before);
    expect(await differences()).toEqual([]);
  });

  test('gives up after a while', async () => {
    const ann = await makeUser();
    await applyStream();
    const before = await exported();
    await ann.leaves();
    const { refused } = await importRecords(sourced(before), { patience: 500 });
    expect(Object.entries(refused)).toEqual([[expect.stringContaining('is not finished'), 1]]);
  });
});

describe('versions only rise', () => {
  test('for a review whose deletion is forgotten', async () => {
    const [ann, fan, foe] = await makeUsers(3);
    const review_id = await makeRichReview(ann, [fan, foe]);
    await applyStream();
    const before = await exported();
    const { version } = (await readItem(reviewKey(review_id))) as unknown as { version: number };
    await ann.deletes(review_id);
    await applyStream();
    // Deletes the record of the deletion, which expires after two weeks.
    await deleteItems([projectionKey(reviewKey(review_id))], {
      ConditionCheck: { Key: userKey(ann.id), where: [['pk', 'present']] },
    });
    await importRecords(sourced(before));
    expect(Number((await readItem(reviewKey(review_id)))?.version)).toBeGreaterThan(version + 1);
    await expectExact();
  });

  test('for an account that was restored and is deleted again', async () => {
    const ann = await makeUser();
    await applyStream();
    const before = await exported();
    const count = async () => (await invoke(listUsers, {})).body.count;
    const users = await count();
    for (let i = 0; i < 2; i++) {
      await ann.leaves();
      await applyStream();
      expect(await count()).toBe(users - 1);
      await importRecords(sourced(before));
      await applyStream();
      expect(await count()).toBe(users);
      expect(await visitor.readsUser(ann.id)).toHaveStatus(200);
    }
    expect(await differences()).toEqual([]);
  });
});
