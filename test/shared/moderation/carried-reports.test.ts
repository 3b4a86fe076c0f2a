import { randomUUID } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { handler as deleteMe } from '../../../functions/delete-me.ts';
import { findOrCreateUser } from '../../../shared/account/identity-repository.ts';
import { audit } from '../../../shared/audit/audit.ts';
import { decideReview, decideUser } from '../../../shared/moderation/decision-repository.ts';
import { listReports } from '../../../shared/moderation/report-repository.ts';
import { finishDeletion } from '../../../shared/review/review-repository.ts';
import { batchDelete } from '../../../shared/table/batch.ts';
import type { Item } from '../../../shared/table/item.ts';
import { caseKey, claimKey, entityKey, reviewKey, userKey } from '../../../shared/table/keys.ts';
import { collect } from '../../../shared/table/query.ts';
import { importRecords } from '../../../shared/transfer/import.ts';
import {
  edit,
  makeModerator,
  makeReview,
  makeUser,
  makeUsers,
  remove,
  report,
  type TestUser,
  vote,
} from '../../helpers/fixtures.ts';
import { invoke } from '../../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../../helpers/items.ts';
import { differences, expectExact } from '../../helpers/recount.ts';
import { beforeSend } from '../../helpers/sends.ts';
import { applyStream } from '../../helpers/stream.ts';
import { exported, sourced } from '../../helpers/transfer.ts';
import { ask } from '../../helpers/visit.ts';

const operator = { reason: 'spam', note: '', moderator_id: null } as const;

const caseOf = (id: string) => readItem(caseKey(id));

/** The number of open reports on reviews of an author, wherever they are. */
async function undecided({ id }: TestUser): Promise<number> {
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
  const [ann, ben, cyd] = [await makeUser(), await makeUser(), await makeUser()];
  const entity_id = randomUUID();
  const first = await makeReview(ann, { entity_id });
  await report(ben, first, { reason: 'spam' });
  await report(cyd, first, { reason: 'My own words' });
  const { opened_at, date } = (await caseOf(first)) as Item;
  expect((await remove(ann, first)).status).toBe(200);
  expect(await caseOf(first)).toBeUndefined();
  await applyStream();
  await expectExact();

  const second = await makeReview(ann, { entity_id });
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
  await report(ben, second, { reason: 'abuse' });
  await remove(ann, second);
  const third = await makeReview(ann, { entity_id });
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
  await remove(ann, third);
  expect(await readItem(claimKey(ann.id, entity_id))).toBeUndefined();
  expect(await caseOf(await makeReview(ann, { entity_id }))).toBeUndefined();
  await expectExact();
});

test('a draft keeps them until it is published or deleted', async () => {
  const [ann, ben] = [await makeUser(), await makeUser()];
  const entity_id = randomUUID();
  const first = await makeReview(ann, { entity_id });
  await report(ben, first, { reason: 'spam' });
  await remove(ann, first);
  for (const _ of [1, 2]) {
    const draft = await makeReview(ann, { entity_id, is_draft: true });
    expect(await caseOf(draft)).toBeUndefined();
    expect(await undecided(ann)).toBe(1);
    await edit(ann, draft, { rating: 1 });
    await remove(ann, draft);
  }
  const draft = await makeReview(ann, { entity_id, is_draft: true });
  expect((await edit(ann, draft, { is_draft: false })).status).toBe(200);
  expect(await caseOf(draft)).toMatchObject({ state: 'open', reports: 1, spam: 1 });
  expect(await undecided(ann)).toBe(1);
  await expectExact();
});

test('a report racing with a deletion, and a deletion with a publication, lose none', async () => {
  for (let round = 0; round < 4; round++) {
    const ann = await makeUser();
    const reporters = await makeUsers(4);
    const entity_id = randomUUID();
    const id = await makeReview(ann, { entity_id });
    const [deleted, ...answers] = await Promise.all([
      remove(ann, id),
      ...reporters.map((each) => report(each, id, { reason: 'spam' })),
      // Refused while the first one exists.
      makeReview(ann, { entity_id }).catch(() => undefined),
    ]);
    expect(deleted.status).toBe(200);
    const reported = answers.filter(
      (answer) => typeof answer === 'object' && answer.status === 200,
    );
    expect(await undecided(ann)).toBe(reported.length);
    const next = answers.at(-1) ?? (await makeReview(ann, { entity_id }));
    const found = await caseOf(`${next}`);
    expect(found?.reports ?? 0).toBe(reported.length);
  }
  await expectExact();
});

test('of several publications at once, one opens the case', async () => {
  const [ann, ben] = [await makeUser(), await makeUser()];
  const entity_id = randomUUID();
  const first = await makeReview(ann, { entity_id });
  await report(ben, first);
  await remove(ann, first);
  const tries = await Promise.allSettled([1, 2, 3, 4].map(() => makeReview(ann, { entity_id })));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of tries) {
    if (each.status === 'rejected') expect(`${each.reason}`).toContain('entity_id must be');
  }
  expect(await undecided(ann)).toBe(1);
  await expectExact();
});

test('a deletion in two steps keeps them', async () => {
  const [ann, ben] = [await makeUser(), await makeUser()];
  const entity_id = randomUUID();
  const id = await makeReview(ann, { entity_id });
  await report(ben, id, { reason: 'spam' });
  let deletions = 0;
  const spy = beforeSend(async ({ input }) => {
    if (!input.TransactItems?.some(({ Delete }) => Delete?.Key?.sk === 'REVIEW')) return;
    // A vote makes the first attempt stale. Then the review is withdrawn, and nothing more done.
    if (++deletions === 1) await vote(ben, id);
    else throw new Error('down');
  });
  jest.spyOn(console, 'error').mockImplementation(() => {});
  expect((await remove(ann, id)).status).toBe(500);
  spy.mockRestore();
  expect(await readItem(reviewKey(id))).toHaveProperty('deleted_at');
  expect((await report(await makeUser(), id)).status).toBe(404);
  await finishDeletion(id);
  expect(await readItem(reviewKey(id))).toBeUndefined();
  expect(await undecided(ann)).toBe(1);
  expect(await caseOf(await makeReview(ann, { entity_id }))).toMatchObject({ reports: 1, spam: 1 });
});

/** A person who can sign in repeatedly, with one account after another. */
function person() {
  const identity = { issuer: 'https://id.example', subject: randomUUID() };
  const profile = { display_name: 'Zoë', email: null, musicdb_username: null };
  const signIn = async (): Promise<TestUser> => {
    const user = await findOrCreateUser({ ...identity, ...profile });
    return { ...user, caller: { user_id: user.id, client_id: 'x', scope: 'user review' } };
  };
  const leave = async ({ caller }: TestUser) => {
    expect((await invoke(deleteMe, { method: 'DELETE', caller })).status).toBe(200);
  };
  return { signIn, leave };
}

test.each(['at once', 'after the erasure'])(
  'they follow the person to the next account, also a blocked one, signed in %s',
  async (when) => {
    const { signIn, leave } = person();
    const reporter = await makeUser();
    const entities = [randomUUID(), randomUUID(), randomUUID()] as const;
    let last = await signIn();
    const [open = '', deleted = '', drafted = ''] = await Promise.all(
      entities.map((entity_id) => makeReview(last, { entity_id })),
    );
    for (const id of [open, deleted, drafted]) await report(reporter, id, { reason: 'abuse' });
    await remove(last, deleted);
    await remove(last, drafted);
    await makeReview(last, { entity_id: entities[2], is_draft: true });
    await decideUser(last.id, 'block', operator);
    for (const _ of [1, 2]) {
      await leave(last);
      if (when !== 'at once') await applyStream();
      last = await signIn();
    }
    await decideUser(last.id, 'unblock', operator);
    for (const entity_id of entities) {
      const id = await makeReview(last, { entity_id });
      expect(await caseOf(id)).toMatchObject({ state: 'open', reports: 1, abuse: 1 });
    }
    await expectExact();
  },
);

test('a report racing with the deletion of the account is carried over or refused', async () => {
  for (let round = 0; round < 4; round++) {
    const { signIn, leave } = person();
    const [first, reporters] = [await signIn(), await makeUsers(3)];
    const entity_id = randomUUID();
    const id = await makeReview(first, { entity_id });
    const [, ...answers] = await Promise.all([
      leave(first),
      ...reporters.map((each) => report(each, id, { reason: 'spam' })),
    ]);
    const reported = answers.filter(({ status }) => status === 200).length;
    const next = await makeReview(await signIn(), { entity_id });
    expect((await caseOf(next))?.reports ?? 0).toBe(reported);
  }
});

test('an export and an import carry them, and an audit recounts them', async () => {
  const [ann, ben] = [await makeUser(), await makeUser()];
  const entities = [randomUUID(), randomUUID(), randomUUID()] as const;
  for (const entity_id of entities) {
    const id = await makeReview(ann, { entity_id });
    await report(ben, id, { reason: 'spam' });
    await remove(ann, id);
  }
  const draft = await makeReview(ann, { entity_id: entities[1], is_draft: true });
  const public_ = await makeReview(ann, { entity_id: entities[2] });
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
  expect((await importRecords(sourced(records))).refused).toEqual({});
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
  for await (const _ of audit({ repair: true, settle: 0 }));
  expect(without(await caseOf(public_))).toEqual(without(before[5]));
});
