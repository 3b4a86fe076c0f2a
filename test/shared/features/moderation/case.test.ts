import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import type { Item } from '../../../../shared/base/table/item.ts';
import { collect } from '../../../../shared/base/table/query.ts';
import { caseKey, decisionKey, reportKey } from '../../../../shared/core/keys.ts';
import type { Decision } from '../../../../shared/core/report/decision.ts';
import { appeal, decideReview } from '../../../../shared/core/report/decision-repository.ts';
import {
  insertReport,
  listReports,
  reopenCase,
} from '../../../../shared/core/report/report-repository.ts';
import {
  eraseLeftovers,
  findLeftovers,
} from '../../../../shared/features/account/erase-leftovers.ts';
import { audit } from '../../../../shared/features/audit/audit.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { differences, expectExact } from '../../../helpers/recount.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeUser, makeUsers, operator, type Person } from '../../../helpers/world.ts';

const author = await makeUser();

/** Reports a review as these users. */
async function report(id: string, users: readonly Person[]): Promise<void> {
  for (const { id: user_id } of users) {
    await insertReport({ id, user_id: author.id }, { user_id, reason: 'Spam' });
  }
}

async function repair(): Promise<number> {
  let repaired = 0;
  for await (const progress of audit({ repair: true, settle: 0, patience: 0 }))
    repaired += progress.repaired;
  return repaired;
}

async function reportsOf(id: string): Promise<(string | null)[]> {
  const reports = await collect(listReports());
  return reports.filter(({ review_id }) => review_id === id).map(({ user_id }) => user_id);
}

test('an audit repairs a case with wrong counts or index keys', async () => {
  const id = await author.publishes();
  await report(id, await makeUsers(2));
  const good = await readItem(caseKey(id));
  const damages = { reports: 7, spam: 1, abuse: 1, popularity_rank: 1, all: 'X', date: 'x' };
  for (const [name, value] of Object.entries(damages)) {
    await setAttributes(caseKey(id), { [name]: value });
    await applyStream();
    const told = expect.stringContaining(`REVIEW#${id} CASE: ${name} is `);
    expect(await differences()).toEqual([told]);
    await repair();
    expect({ ...(await readItem(caseKey(id))), version: good?.version }).toEqual(good);
  }
  const closed = await author.publishes();
  await report(closed, await makeUsers(1));
  const { all, date, popularity_rank } = (await readItem(caseKey(closed))) as Item;
  await decideReview(closed, 'dismiss', operator);
  await setAttributes(caseKey(closed), { all, date, popularity_rank });
  await applyStream();
  expect(await differences()).toHaveLength(3);
  await repair();
  expect(await readItem(caseKey(closed))).not.toHaveProperty('popularity_rank');
  await batchDelete([reportKey(id, (await reportsOf(id))[0] ?? '')]);
  await repair();
  expect(await readItem(caseKey(id))).toMatchObject({ reports: 1 });
  expect(await differences()).toEqual([]);
});

test('erasing an account removes its reports, and the last one closes the case', async () => {
  const id = await author.publishes();
  const readers = await makeUsers(3);
  await report(id, readers);
  // In parallel, as with several erasers.
  await Promise.all(readers.slice(1).map((reader) => reader.leaves()));
  await applyStream();
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 1, spam: 1 });
  expect(await reportsOf(id)).toEqual([readers[0]?.id]);
  await readers[0].leaves();
  await applyStream();
  const closed = await readItem(caseKey(id));
  expect(closed).toMatchObject({ state: 'closed', reports: 0 });
  expect(closed).not.toHaveProperty('all');
  await report(id, await makeUsers(1));
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 1, all: 'CASE' });
  await expectExact();
});

test('an audit opens the case of a report restored by an import', async () => {
  const id = await author.publishes();
  const reader = await makeUser();
  await report(id, [reader]);
  const reported = (await readItem(reportKey(id, reader.id))) as Item;
  await reader.leaves();
  await applyStream();
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
  await batchWrite([{ put: reported }]);
  expect(await reportsOf(id)).toEqual([]);
  expect(await repair()).toBeGreaterThan(0);
  expect(await reportsOf(id)).toEqual([reader.id]);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 1, all: 'CASE' });
  await batchDelete([reportKey(id, reader.id)]);
  await repair();
});

test('a case that an import opens again waits since its oldest report', async () => {
  const id = await author.publishes();
  const readers = await makeUsers(3);
  const times = ['2026-03-02', '2026-03-01', '2026-03-03'].map((day) => `${day}T10:00:00.000Z`);
  const [, oldest = ''] = times;
  await report(id, readers);
  for (const [i, reader] of readers.entries()) {
    await setAttributes(reportKey(id, reader.id), { reported_at: times[i] });
  }
  // The erasure of the reporters had closed it.
  const { all: _, date: __, popularity_rank: ___, ...open } = (await readItem(caseKey(id))) as Item;
  await batchWrite([{ put: { ...open, state: 'closed', reports: 0, spam: 0 } }]);
  await reopenCase(id);
  const reopened = { state: 'open', reports: 3, spam: 3, opened_at: oldest };
  expect(await readItem(caseKey(id))).toMatchObject({ ...reopened, date: `${oldest}#${id}` });
  await expectExact();
});

test('erasing a reporter keeps a case that the author has appealed', async () => {
  const id = await author.publishes();
  const reader = await makeUser();
  await report(id, [reader]);
  await decideReview(id, 'hide', operator);
  await appeal(id, author.id, 'Please.');
  await reader.leaves();
  await applyStream();
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', appeal: 'Please.' });
  expect(await differences()).toEqual([]);
});

test('deleting a review deletes its case, and leaves ids in the log', async () => {
  const writer = await makeUser();
  const id = await writer.publishes();
  const kept = await writer.publishes();
  await report(id, await makeUsers(2));
  await report(kept, await makeUsers(1));
  const note = 'Names a person.';
  const decisions = [
    await decideReview(id, 'hide', { ...operator, note }),
    await decideReview(kept, 'dismiss', { ...operator, note }),
  ] as Decision[];
  await appeal(id, writer.id, 'Please.');
  await writer.deletes(id);
  await applyStream();
  expect(await readItem(caseKey(id))).toBeUndefined();
  await writer.leaves();
  await applyStream();
  for (const decision of decisions) {
    const { note, ...ids } = decision;
    const stored = await readItem(decisionKey(decision.id));
    expect(stored).toMatchObject({ ...ids, note: '', all: 'DECISION' });
    expect(stored).not.toHaveProperty('author');
  }
  expect(await differences()).toEqual([]);
});

test('an audit finds what the eraser has not done', async () => {
  const id = await author.publishes();
  const gone = await makeUser();
  await report(id, await makeUsers(1));
  const lost = { ...(await readItem(caseKey(id))), ...caseKey(gone.id) };
  await batchWrite([{ put: lost }]);
  const { users, reviews } = await findLeftovers();
  expect(reviews).toContain(gone.id);
  await eraseLeftovers({ users, reviews });
  expect(await readItem(caseKey(gone.id))).toBeUndefined();
});
