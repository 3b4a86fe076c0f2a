import { randomUUID } from 'node:crypto';
import { batchDelete } from '../../../../shared/base/table/batch.ts';
import type { Item } from '../../../../shared/base/table/item.ts';
import { collect } from '../../../../shared/base/table/query.ts';
import { caseKey, claimKey, entityKey, reviewKey, userKey } from '../../../../shared/core/keys.ts';
import { decideReview } from '../../../../shared/core/report/decision-repository.ts';
import { listReports } from '../../../../shared/core/report/report-repository.ts';
import { finishDeletion } from '../../../../shared/core/review/review-repository.ts';
import { audit } from '../../../../shared/features/audit/audit.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../../../helpers/items.ts';
import { differences, expectExact } from '../../../helpers/recount.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { exported, importWhole, sourced } from '../../../helpers/transfer.ts';
import { ask } from '../../../helpers/visit.ts';
import {
  makeModerator,
  makeUser,
  makeUsers,
  operator,
  type Person,
  signIn,
} from '../../../helpers/world.ts';

const caseOf = (id: string) => readItem(caseKey(id));

/** The number of open reports on reviews of an author, wherever they are. */
async function undecided({ id }: Person): Promise<number> {
  const items = await scanTable();
  const counts = items.map(({ sk, user_id, state, reports, reported }) => {
    if (user_id !== id) return 0;
    if (sk === 'CASE') return state === 'open' ? Number(reports) : 0;
    const { opened_at: _, ...byReason } = (reported ?? {}) as Record<string, number>;
    return Object.values(byReason).reduce((sum, count) => sum + Number(count), 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

test('reports survive deleting and publishing again, until they are decided', async () => {
  const ann = await makeUser();
  const ben = await makeUser();
  const cyd = await makeUser();
  const entity_id = randomUUID();
  const first = await ann.publishes({ entity_id });
  await ben.reports(first, { reason: 'spam' });
  await cyd.reports(first, { reason: 'My own words' });
  const { opened_at, date } = (await caseOf(first)) as Item;
  expect(await ann.deletes(first)).toHaveStatus(200);
  expect(await caseOf(first)).toBeUndefined();
  await applyStream();
  await expectExact();

  const second = await ann.publishes({ entity_id });
  expect(await caseOf(second)).toMatchObject({
    state: 'open',
    reports: 2,
    spam: 1,
    other: 1,
    abuse: 0,
    opened_at,
    all: 'CASE',
    date: `${date}`.replace(first, second),
  });
  await expectExact();
  // Another report adds to them, and another deletion carries all of them on.
  await ben.reports(second, { reason: 'abuse' });
  await ann.deletes(second);
  const third = await ann.publishes({ entity_id });
  expect(await caseOf(third)).toMatchObject({ reports: 3, spam: 1, abuse: 1, other: 1, opened_at });
  const listed = (await collect(listReports())).filter(({ review_id }) => review_id === third);
  expect(listed.map(({ user_id, reason }) => [user_id, reason])).toEqual([
    [null, 'spam'],
    [null, 'abuse'],
    [null, 'other'],
  ]);
  const { html } = await ask('show-case', await makeModerator('Mia'), {
    path: { review_id: third },
  });
  expect(html).toContain('<h2>3 reports of an earlier review</h2>');
  expect(html).toContain('Spam 1, Abuse 1, Another reason 1');
  expect(html).not.toContain('And ');
  await expectExact();

  await decideReview(third, 'dismiss', operator);
  expect(await caseOf(third)).toMatchObject({ state: 'closed', reports: 0, spam: 0 });
  expect(await caseOf(third)).not.toHaveProperty('carried');
  await ann.deletes(third);
  expect(await readItem(claimKey(ann.id, entity_id))).toBeUndefined();
  expect(await caseOf(await ann.publishes({ entity_id }))).toBeUndefined();
  await expectExact();
});

test('a draft keeps them until it is published or deleted', async () => {
  const ann = await makeUser();
  const ben = await makeUser();
  const entity_id = randomUUID();
  const first = await ann.publishes({ entity_id });
  await ben.reports(first, { reason: 'spam' });
  await ann.deletes(first);
  for (const _ of [1, 2]) {
    const draft = await ann.publishes({ entity_id, is_draft: true });
    expect(await caseOf(draft)).toBeUndefined();
    expect(await undecided(ann)).toBe(1);
    await ann.edits(draft, { rating: 1 });
    await ann.deletes(draft);
  }
  const draft = await ann.publishes({ entity_id, is_draft: true });
  expect(await ann.edits(draft, { is_draft: false })).toHaveStatus(200);
  expect(await caseOf(draft)).toMatchObject({ state: 'open', reports: 1, spam: 1 });
  expect(await undecided(ann)).toBe(1);
  await expectExact();
});

test('a report racing with a deletion, and a deletion with a publication, lose none', async () => {
  for (let round = 0; round < 4; round++) {
    const ann = await makeUser();
    const reporters = await makeUsers(4);
    const entity_id = randomUUID();
    const id = await ann.publishes({ entity_id });
    const [deleted, ...answers] = await Promise.all([
      ann.deletes(id),
      ...reporters.map((each) => each.reports(id, { reason: 'spam' })),
      // Refused while the first one exists.
      ann.publishes({ entity_id }).catch(() => undefined),
    ]);
    expect(deleted).toHaveStatus(200);
    const reported = answers.filter(
      (answer) => typeof answer === 'object' && answer.status === 200,
    );
    expect(await undecided(ann)).toBe(reported.length);
    const next = answers.at(-1) ?? (await ann.publishes({ entity_id }));
    const found = await caseOf(`${next}`);
    expect(found?.reports ?? 0).toBe(reported.length);
  }
  await expectExact();
});

test('of several publications at once, one opens the case', async () => {
  const ann = await makeUser();
  const ben = await makeUser();
  const entity_id = randomUUID();
  const first = await ann.publishes({ entity_id });
  await ben.reports(first);
  await ann.deletes(first);
  const tries = await Promise.allSettled([1, 2, 3, 4].map(() => ann.publishes({ entity_id })));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of tries) {
    if (each.status === 'rejected') expect(`${each.reason}`).toContain('entity_id must be');
  }
  expect(await undecided(ann)).toBe(1);
  await expectExact();
});

test('a deletion in two steps keeps them', async () => {
  const ann = await makeUser();
  const ben = await makeUser();
  const entity_id = randomUUID();
  const id = await ann.publishes({ entity_id });
  await ben.reports(id, { reason: 'spam' });
  let deletions = 0;
  const spy = beforeSend(async ({ input }) => {
    if (!input.TransactItems?.some(({ Delete }) => Delete?.Key?.sk === 'REVIEW')) return;
    // A vote makes the first attempt stale. Then the review is withdrawn, and nothing more done.
    if (++deletions === 1) await ben.votes(id);
    else throw new Error('down');
  });
  silence('error');
  expect(await ann.deletes(id)).toHaveStatus(500);
  spy.mockRestore();
  expect(await readItem(reviewKey(id))).toHaveProperty('deleted_at');
  expect(await (await makeUser()).reports(id)).toHaveStatus(404);
  await finishDeletion(id);
  expect(await readItem(reviewKey(id))).toBeUndefined();
  expect(await undecided(ann)).toBe(1);
  expect(await caseOf(await ann.publishes({ entity_id }))).toMatchObject({ reports: 1, spam: 1 });
});

test.each(['at once', 'after the erasure'])(
  'they follow the person to the next account, also a blocked one, signed in %s',
  async (when) => {
    const subject = randomUUID();
    const reporter = await makeUser();
    const entities = [randomUUID(), randomUUID(), randomUUID()] as const;
    let last = await signIn({ subject });
    const [open = '', deleted = '', drafted = ''] = await Promise.all(
      entities.map((entity_id) => last.publishes({ entity_id })),
    );
    for (const id of [open, deleted, drafted]) await reporter.reports(id, { reason: 'abuse' });
    await last.deletes(deleted);
    await last.deletes(drafted);
    await last.publishes({ entity_id: entities[2], is_draft: true });
    await decideUser(last.id, 'block', operator);
    for (const _ of [1, 2]) {
      await last.leaves();
      if (when !== 'at once') await applyStream();
      last = await signIn({ subject });
    }
    await decideUser(last.id, 'unblock', operator);
    for (const entity_id of entities) {
      const id = await last.publishes({ entity_id });
      expect(await caseOf(id)).toMatchObject({ state: 'open', reports: 1, abuse: 1 });
    }
    await expectExact();
  },
);

test('a report racing with the deletion of the account is carried over or refused', async () => {
  for (let round = 0; round < 4; round++) {
    const subject = randomUUID();
    const first = await signIn({ subject });
    const reporters = await makeUsers(3);
    const entity_id = randomUUID();
    const id = await first.publishes({ entity_id });
    const [, ...answers] = await Promise.all([
      first.leaves(),
      ...reporters.map((each) => each.reports(id, { reason: 'spam' })),
    ]);
    const reported = answers.filter(({ status }) => status === 200).length;
    const next = await (await signIn({ subject })).publishes({ entity_id });
    expect((await caseOf(next))?.reports ?? 0).toBe(reported);
  }
});

test('an export and an import carry them, and an audit recounts them', async () => {
  const ann = await makeUser();
  const ben = await makeUser();
  const entities = [randomUUID(), randomUUID(), randomUUID()] as const;
  for (const entity_id of entities) {
    const id = await ann.publishes({ entity_id });
    await ben.reports(id, { reason: 'spam' });
    await ann.deletes(id);
  }
  const draft = await ann.publishes({ entity_id: entities[1], is_draft: true });
  const public_ = await ann.publishes({ entity_id: entities[2] });
  await applyStream();
  const isOfAnn = (text: string) => [ann.id, draft, public_].some((id) => text.includes(id));
  const records = (await exported()).filter((record) => isOfAnn(JSON.stringify(record)));
  const keys = [
    claimKey(ann.id, entities[0]),
    claimKey(ann.id, entities[1]),
    claimKey(ann.id, entities[2]),
    ...[draft, public_].map(reviewKey),
    caseKey(public_),
  ];
  const before = await Promise.all(keys.map(readItem));
  await batchDelete([...keys, userKey(ann.id), entityKey(entities[2])]);
  await applyStream();
  await importWhole(records);
  const without = (item: object | undefined) => ({ ...item, version: undefined });
  expect((await Promise.all(keys.map(readItem))).map(without)).toEqual(before.map(without));
  await expectExact();
  expect((await exported()).filter((record) => isOfAnn(JSON.stringify(record)))).toEqual(records);

  await setAttributes(caseKey(public_), { reports: 7, spam: 0, state: 'closed' });
  expect(await differences()).toEqual(
    ['state', 'reports', 'spam'].map((name) =>
      expect.stringContaining(`REVIEW#${public_} CASE: ${name} is `),
    ),
  );
  for await (const _ of audit({ repair: true, settle: 0, patience: 0 }));
  expect(without(await caseOf(public_))).toEqual(without(before[5]));
});

describe('an import of a review that was deleted while it was reported', () => {
  /** Publishes, reports, exports, reports again and deletes. Returns the export of then. */
  async function lose(before: readonly string[], after: readonly string[]) {
    const ann = await makeUser();
    const id = await ann.publishes();
    for (const reason of before) await (await makeUser()).reports(id, { reason });
    const records = (await exported()).filter((record) => JSON.stringify(record).includes(id));
    for (const reason of after) await (await makeUser()).reports(id, { reason });
    await ann.deletes(id);
    await applyStream();
    return { ann, id, records };
  }

  test.each([
    ['from before the first report', [], ['spam', 'spam', 'abuse']],
    ['from between two reports', ['spam'], ['spam', 'abuse']],
    ['from after the last report', ['spam', 'spam', 'abuse'], []],
  ])('%s keeps each report once', async (_, before, after) => {
    const { id, records } = await lose(before, after);
    for (const pass of [1, 2]) {
      await importWhole(records);
      expect([pass, await caseOf(id)]).toEqual([
        pass,
        expect.objectContaining({ state: 'open', reports: 3, spam: 2, abuse: 1 }),
      ]);
    }
    expect(await readItem(reviewKey(id))).not.toHaveProperty('reported');
    await applyStream();
    await expectExact();
  });

  test('keeps reports also if it was stopped after the review', async () => {
    const { id, records } = await lose(['spam'], ['abuse']);
    const [review] = records.filter(({ kind }) => kind === 'review');
    const spy = beforeSend(async ({ input }) => {
      const writes = input.TransactItems ?? [];
      if (writes.some(({ Put }) => Put?.Item?.sk === 'CASE')) throw new Error('stopped');
    });
    await expect(importRecords(sourced(review ? [review] : []))).rejects.toThrow('stopped');
    spy.mockRestore();
    await importRecords(sourced(records));
    expect(await caseOf(id)).toMatchObject({ state: 'open', reports: 2, spam: 1, abuse: 1 });
    await expectExact();
  });

  test('does not open a case whose reports were dismissed', async () => {
    const ann = await makeUser();
    const id = await ann.publishes();
    await (await makeUser()).reports(id);
    await decideReview(id, 'dismiss', operator);
    const records = (await exported()).filter((record) => JSON.stringify(record).includes(id));
    await ann.deletes(id);
    await applyStream();
    await importRecords(sourced(records));
    expect(await caseOf(id)).toMatchObject({ state: 'closed', reports: 0 });
    await expectExact();
  });
});
