/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,game:Board game"}} */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { transact } from '../../../../shared/base/table/transact.ts';
import type { EntityType } from '../../../../shared/core/entity/entity-type.ts';
import { readRecord, recordWrites } from '../../../../shared/core/entity/record.ts';
import { Gaps } from '../../../../shared/features/transfer/gaps.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { parseRecord, type TransferRecord } from '../../../../shared/features/transfer/record.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { recordsOf, recordTime, reviewRecord, sourced } from '../../../helpers/transfer.ts';
import { makeUser } from '../../../helpers/world.ts';

const film = 'film' as EntityType;
const game = 'game' as EntityType;
const thing = (entity_type: EntityType) => ({ entity_id: randomUUID(), entity_type });

/** The record of a line that names a thing. */
function named(entity: ReturnType<typeof thing>, fields: object = {}): TransferRecord {
  const line = { kind: 'entity', ...entity, name: 'Stalker', ...fields };
  return recordsOf([JSON.stringify(line)])[0] as TransferRecord;
}

function account(contact?: object): TransferRecord {
  const line = { kind: 'user', id: randomUUID(), display_name: 'Jo', created: recordTime, contact };
  return recordsOf([JSON.stringify(line)])[0] as TransferRecord;
}

/** Imports, first as a dry run, and returns what both find. */
async function gapsOf(records: readonly TransferRecord[]) {
  const dry = new Gaps();
  const wet = new Gaps();
  await importRecords(sourced(records), { isDryRun: true, gaps: dry });
  const before = await dry.find();
  await importRecords(sourced(records), { gaps: wet });
  const after = await wet.find();
  expect(before).toEqual(after);
  return after;
}

test('reviewed things of own types without a name are counted once, by type', async () => {
  const { id } = await makeUser();
  const other = await makeUser();
  const inFile = thing(film);
  const inTable = thing(film);
  const nowhere = thing(film);
  const record = { ...inTable, name: 'Solaris', origin: 'operator' } as const;
  await transact(recordWrites(undefined, record));
  const things = [inFile, inTable, nowhere, thing(film), thing(game)];
  const gaps = await gapsOf([
    ...things.map((each) => reviewRecord(id, each)),
    reviewRecord(other.id, nowhere),
    // A database may know it.
    reviewRecord(id, { entity_type: 'work' }),
    // It is refused: nobody has reviewed this one.
    reviewRecord(randomUUID(), thing(film)),
    named(inFile),
  ]);
  expect(gaps.things_without_name).toEqual({ film: 2, game: 1 });
});

test('new accounts are counted that nobody can claim or sign in to', async () => {
  const email = `${randomUUID()}@mail.example`;
  const lost = [account(), account({ email })];
  const others = [
    account({ email, email_verified: true }),
    account({ identity: 'a'.repeat(64), email: null }),
  ];
  expect((await gapsOf([...lost, ...others])).accounts_nobody_can_claim).toBe(2);
  // They may have been linked since.
  expect((await gapsOf([...lost, ...others])).accounts_nobody_can_claim).toBe(0);
});

test('a name from a file has no empty fields, and replaces what only a search has found', async () => {
  const known = { entity_id: randomUUID(), entity_type: 'work' } as const;
  const found = { name: 'Stalker', about: 'By a search', origin: 'musicdb', due_at: 1 } as const;
  await transact(recordWrites(undefined, { ...known, ...found, expires_at: 2 ** 32 }));
  const records = [named(known, { about: '', url: null })];
  expect((await importRecords(sourced(records))).written).toEqual({ entity: 1 });
  expect(await readRecord(known)).toEqual({
    ...known,
    name: 'Stalker',
    origin: 'operator',
    version: expect.any(Number),
  });
  expect((await importRecords(sourced(records))).present).toEqual({ entity: 1 });
});

test('a file may name a thing twice, and the first name stays', async () => {
  const entity = thing(film);
  const records = [named(entity), named(entity, { name: 'Solaris' })];
  const { written, present } = await importRecords(sourced(records));
  expect({ written, present }).toEqual({ written: { entity: 1 }, present: { entity: 1 } });
  expect(await readRecord(entity)).toMatchObject({ name: 'Stalker' });
});

test('a line that names no thing is refused', () => {
  expect(parseRecord('{"kind":"entity"}')).toBe(
    'entity_type: is missing: it must be one of event, place, release_group, work, artist, label, recording, bk_edition_group, bk_literary_work, bk_author, bk_series, film, game, or a type of OWN_TYPES, with which the service must be started',
  );
});

test('what was written before a failure is told, and is present for the next import', async () => {
  const { id } = await makeUser();
  const records = [account(), reviewRecord(id), reviewRecord(id)];
  const spy = beforeSend(async (command) => {
    const writes = (command.input.TransactItems ?? []) as { Put?: { Item?: { sk?: string } } }[];
    const isReview = writes.some(({ Put }) => Put?.Item?.sk === 'REVIEW');
    if (isReview) throw new Error('The disk is full');
  });
  const told: unknown[] = [];
  const onFailure = ({ written }: { written: object }) => told.push({ ...written });
  await expect(importRecords(sourced(records), { onFailure })).rejects.toThrow('disk is full');
  spy.mockRestore();
  expect(told).toEqual([{ user: 1 }]);
  const { written, present } = await importRecords(sourced(records));
  expect({ written, present }).toEqual({ written: { review: 2 }, present: { user: 1 } });
});

test('what a transaction without an answer has written counts as written', async () => {
  const { id } = await makeUser();
  const records = [reviewRecord(id), reviewRecord(id)];
  let transactions = 0;
  const spy = beforeSend(async (command) => {
    if (!command.input.TransactItems || transactions++ > 0) return;
    spy.mockRestore();
    const { table } = await import('../../../../shared/base/table/client.ts');
    await table.send(command as never);
    throw Object.assign(new Error('No answer in 2 seconds'), { name: 'TimeoutError' });
  });
  const { written, present } = await importRecords(sourced(records));
  expect({ written, present }).toEqual({ written: { review: 2 }, present: {} });
});
