import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../../../bin/random.ts';
import { type Item, keyString } from '../../../../shared/base/table/item.ts';
import { contactKey, entityKey, reviewKey, userKey } from '../../../../shared/core/keys.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import type {
  FullReviewRecord,
  TransferRecord,
  UserRecord,
  VoteRecord,
} from '../../../../shared/features/transfer/record.ts';
import { dataFolderOn, root, spawnAdmin } from '../../../helpers/admin.ts';
import { newFolder } from '../../../helpers/folder.ts';
import { readItem, scanTable } from '../../../helpers/items.ts';
import { differences } from '../../../helpers/recount.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { enterTable, newTable } from '../../../helpers/table.ts';
import { recordTime, reviewRecord, revisionRecord, sourced } from '../../../helpers/transfer.ts';
import { makeUser, reviewBody, text } from '../../../helpers/world.ts';

const folder = newFolder();
const time = recordTime;

const user = (but: Partial<UserRecord> = {}): UserRecord => ({
  kind: 'user',
  id: randomUUID(),
  display_name: 'Ann',
  created: time,
  contact: null,
  ...but,
});

const review = (user_id: string, but: Partial<FullReviewRecord> = {}) =>
  reviewRecord(user_id, { revisions: [revisionRecord({ text, rating: 4 })], ...but });

function voteOn(review_id: string, user_id: string, but: Partial<VoteRecord> = {}): VoteRecord {
  return { kind: 'vote', review_id, user_id, vote: true, voted_at: time, revision: 1, ...but };
}

/** Imports records, and follows the stream. */
async function load(...records: TransferRecord[]) {
  const outcome = await importRecords(sourced(records));
  await applyStream();
  return outcome;
}

test('keeps ids and times, and counts the imported records', async () => {
  const contact = { email: 'ann@mail.example', musicdb_username: null };
  const ann = user({ contact });
  const bob = user();
  const eve = user();
  const made = review(ann.id, {
    source: 'BBC',
    source_url: 'https://bbc.example/1',
    revisions: [
      revisionRecord({ text: 'Too short' }),
      revisionRecord({ text: text.repeat(200), rating: 5 }, 2, '2021-01-01T00:00:00.000Z'),
    ],
  });
  const against = { vote: false, revision: 2, voted_at: '2021-02-01T00:00:00.000Z' };
  const votes = [voteOn(made.id, bob.id), voteOn(made.id, eve.id, against)];
  const written = { user: 3, review: 1, vote: 2 };
  const outcome = await load(ann, bob, eve, made, ...votes);
  expect(outcome).toEqual({ written, present: {}, refused: {} });
  expect(await readItem(reviewKey(made.id))).toMatchObject({
    created: time,
    published_on: time,
    last_updated: '2021-01-01T00:00:00.000Z',
    text: text.repeat(200),
    rating: 5,
    edits: 1,
    source: 'BBC',
    source_url: 'https://bbc.example/1',
    votes_positive: 1,
    votes_negative: 1,
    revision_votes_positive: 0,
    revision_votes_negative: 1,
    popularity: 0,
  });
  const counts = { b5: 1 };
  expect(await readItem(entityKey(made.entity_id))).toMatchObject(counts);
  expect(await readItem(contactKey(ann.id))).toMatchObject(contact);
  expect(await differences()).toEqual([]);
});

test('adds votes whose review already exists, to their revisions', async () => {
  const ann = user();
  const bob = user();
  const eve = user();
  const revisions = [1, 2].map((id) => revisionRecord({ text, rating: id }, id));
  const made = review(ann.id, { revisions });
  await load(ann, bob, eve, made);
  const votes = [voteOn(made.id, bob.id), voteOn(made.id, eve.id, { revision: 2 })];
  expect(await load(...votes)).toMatchObject({ written: { vote: 2 } });
  expect(await load(...votes)).toMatchObject({ written: {}, present: { vote: 2 } });
  const counts = { votes_positive: 2, revision_votes_positive: 1, popularity: 2 };
  expect(await readItem(reviewKey(made.id))).toMatchObject(counts);
  expect(await readItem(userKey(ann.id))).toMatchObject({ karma: 2 });
  const late = voteOn(made.id, user().id, { revision: 3 });
  expect((await load(late)).refused).toEqual({ 'revision does not exist in its review': 1 });
  expect(await differences()).toEqual([]);
});

test('restores what was deleted, and counts it in totals and trees', async () => {
  const ann = await makeUser();
  const made = review(ann.id);
  await load(made);
  await ann.deletes(made.id);
  await applyStream();
  expect(await readItem(reviewKey(made.id))).toBeUndefined();
  expect(await load(made)).toMatchObject({ written: { review: 1 } });
  expect(await differences()).toEqual([]);
});

test('several parallel imports of the same records write each record once', async () => {
  const people = Array.from({ length: 40 }, () => user());
  const records = [
    ...people,
    // Everybody votes on all of the first reviews, which exceeds a transaction, and few vote on the
    // others.
    ...people.flatMap(({ id }, i) => {
      const one = review(id);
      const voters = people.filter((voter, n) => voter.id !== id && (i === 0 || n % 13 === i % 13));
      return [one, ...voters.map((voter) => voteOn(one.id, voter.id))];
    }),
  ];
  const outcomes = await Promise.all([1, 2, 3].map(() => importRecords(sourced(records))));
  await applyStream();
  const sum = (name: 'written' | 'present') =>
    outcomes.flatMap((each) => Object.values(each[name])).reduce((a, b) => a + b, 0);
  expect(outcomes.map(({ refused }) => refused)).toEqual([{}, {}, {}]);
  expect(sum('written')).toEqual(records.length);
  expect(sum('present')).toEqual(2 * records.length);
  expect(await differences()).toEqual([]);
});

test('is exact while people write, vote, edit and delete', async () => {
  const random = randomNumbers(15);
  const number = (below: number) => Math.floor(random() * below);
  const people = await Promise.all(Array.from({ length: 6 }, () => makeUser()));
  const entities = Array.from({ length: 4 }, () => randomUUID());
  const strangers = Array.from({ length: 10 }, () => user());
  const reviews = [...strangers, ...people].flatMap(({ id }) =>
    entities.map((entity_id) => review(id, { entity_id, entity_type: 'release_group' })),
  );
  const records = [
    ...strangers,
    ...reviews.flatMap((one) => [
      one,
      ...[...strangers, ...people]
        .filter(({ id }) => id !== one.user_id && random() < 0.3)
        .map(({ id }) => voteOn(one.id, id, { vote: random() < 0.5 })),
    ]),
  ];
  let isDone = false;
  const statuses = new Set<number>();
  const live = people.map(async (person) => {
    while (!isDone) {
      const id = reviews[number(reviews.length)]?.id ?? '';
      const body = reviewBody({ entity_id: entities[number(4)] });
      const calls = [
        () => person.triesToPublish(body),
        () => person.triesToVote(id, { vote: random() < 0.5 }),
        () => person.withdrawsVote(id),
        () => person.edits(id, { rating: 1 + number(5) }),
        () => person.deletes(id),
      ];
      const { status } = (await calls[number(calls.length)]?.()) ?? { status: 0 };
      statuses.add(status);
    }
  });
  const outcome = await importRecords(sourced(records));
  isDone = true;
  await Promise.all(live);
  await applyStream();
  const told = [outcome.written, outcome.present, outcome.refused].flatMap(Object.values<number>);
  expect(told.reduce((a, b) => a + b, 0)).toBe(records.length);
  expect([...statuses].filter((status) => status >= 500)).toEqual([]);
  expect(await differences()).toEqual([]);
  // A person reviewed the entity first, or deleted the review before its votes arrived.
  for (const why of Object.keys(outcome.refused))
    expect(why).toMatch(/another review|does not exist/);
});

test('killed repeatedly, it has the same result as without a kill', async () => {
  const people = Array.from({ length: 60 }, (_, i) => user({ display_name: `Reader ${i}` }));
  const records = [
    ...people,
    ...people.flatMap(({ id }, i) =>
      Array.from({ length: 3 }, (_, n) => review(id, { language: n === 0 ? 'de' : 'en' })).flatMap(
        (one) => [
          one,
          voteOn(one.id, people[(i + 1) % 60]?.id ?? ''),
          voteOn(one.id, people[(i + 2) % 60]?.id ?? '', { vote: false }),
        ],
      ),
    ),
  ];
  const name = join(folder, 'killed.jsonl');
  const header = { kind: 'header', format: 'review-service', version: 1 };
  writeFileSync(name, [header, ...records].map((record) => `${JSON.stringify(record)}\n`).join(''));

  const whole = await newTable();
  const { code } = await spawnAdmin(['import', name], dataFolderOn(whole));
  expect(code).toBe(0);
  const killed = await newTable();
  const dataDir = dataFolderOn(killed);
  enterTable(killed);

  const ends = [];
  for (const most of [90, 360, 660, Number.POSITIVE_INFINITY]) {
    const { PATH, NODE_COMPILE_CACHE, SIGNING_KEYS } = process.env;
    const child = spawn(process.execPath, ['bin/admin.ts', 'import', name], {
      cwd: root,
      env: { PATH, NODE_COMPILE_CACHE, SIGNING_KEYS, DATA_DIR: dataDir },
      stdio: 'ignore',
    });
    const gone = once(child, 'exit');
    while (child.exitCode === null && (await scanTable()).length < most) await sleep(20);
    if (child.exitCode === null) child.kill('SIGKILL');
    await gone;
    ends.push(child.signalCode ?? child.exitCode);
    const { code, stderr } = await spawnAdmin(['audit'], dataDir);
    const isUnfinished = stderr.includes('an import is running or was interrupted');
    expect({ code, isUnfinished }).toEqual({
      code: ends.at(-1) === 0 ? 0 : 1,
      isUnfinished: ends.at(-1) !== 0,
    });
  }
  expect(ends).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL', 0]);

  const factsIn = async (table: string) => {
    enterTable(table);
    const items = await scanTable();
    // The recount checks the numbers that the rebuild writes.
    const isFact = ({ pk, sk }: Item) =>
      !/^(TREE#|TOTALS$|HEALTH$)/.test(pk) && sk !== 'PROJECTION';
    // A version begins at the time of the import, and so does the wait for a name.
    const facts = items.filter(isFact).map(({ version, queued_at, ...item }) => {
      const { due_at: _, date: __, ...waiting } = item;
      return queued_at === undefined ? item : waiting;
    });
    return Object.fromEntries(facts.map((item) => [keyString(item), item]));
  };
  const expected = await factsIn(whole);
  expect(await factsIn(killed)).toEqual(expected);
  expect(await differences()).toEqual([]);
});

test('does not change existing records', async () => {
  const ann = await makeUser({ display_name: 'Ann now' });
  const bob = await makeUser();
  const id = await ann.publishes();
  await bob.votes(id);
  const before = await readItem(reviewKey(id));
  const { entity_id } = before as unknown as { entity_id: string };
  const outcome = await load(
    user({ id: ann.id, display_name: 'Ann then' }),
    review(ann.id, { id, entity_id }),
    voteOn(id, bob.id, { vote: false }),
  );
  expect(outcome).toEqual({ written: {}, present: { user: 1, review: 1, vote: 1 }, refused: {} });
  expect(await readItem(reviewKey(id))).toEqual(before);
  expect(await readItem(userKey(ann.id))).toMatchObject({ display_name: 'Ann now' });
});

// The last test, because a large table is slow to recount.
test('accepts more votes, revisions and bytes than fit a transaction', async () => {
  const voters = Array.from({ length: 120 }, () => user());
  const ann = user();
  const revisions = Array.from({ length: 130 }, (_, i) => {
    return revisionRecord({ text: `${i} ${text}`, rating: 1 + (i % 5) }, i + 1);
  });
  const popular = review(ann.id, { revisions });
  const votes = voters.map(({ id }, i) => {
    return voteOn(popular.id, id, { vote: i % 5 < 3, revision: 1 + (i % 130) });
  });
  const large = Array.from({ length: 25 }, () => {
    const long = revisionRecord({ text: 'é'.repeat(90_000) });
    return review(ann.id, { revisions: [long] });
  });
  const many = revisionRecord({ text: 'a'.repeat(400_000) });
  const tooLarge = review(ann.id, { revisions: [many] });
  const outcome = await load(ann, ...voters, popular, ...votes, ...large, tooLarge);
  expect(outcome.written).toEqual({ user: 121, review: 26, vote: 120 });
  expect(outcome.refused).toEqual({ 'the text of a revision is larger than 390 KB as JSON': 1 });
  const counts = { edits: 129, popularity: 72 - 48 };
  expect(await readItem(reviewKey(popular.id))).toMatchObject(counts);
  expect(await differences()).toEqual([]);
});
