import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { runAudit } from '../../bin/audit.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import type { Key } from '../../shared/base/table/item.ts';
import { claimKey, reviewKey, revisionKey, userKey, voteKey } from '../../shared/core/keys.ts';
import {
  deleteReview,
  finishDeletion,
  insertReview,
} from '../../shared/core/review/review-repository.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { auditPartitions } from '../../shared/features/audit/audit.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { silence } from '../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { differences } from '../helpers/recount.ts';
import { beforeFirst, beforeTransaction } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers, type Person, reviewBy } from '../helpers/world.ts';

let author: Person;
let voter: Person;
let review_id: string;
let entity_id: string;

beforeAll(async () => {
  [author, voter] = await makeUsers(2);
  review_id = await author.publishes();
  await voter.votes(review_id);
  await author.edits(review_id, { rating: 2 });
  entity_id = String((await readItem(reviewKey(review_id)))?.entity_id);
});

beforeEach(() => {
  process.exitCode = 0;
});

/** Output of the audit and its summary. */
async function run(options: Parameters<typeof runAudit>[0] = {}) {
  const said = silence('error');
  const sum = await runAudit({ settle: 50, patience: 0, ...options });
  const lines = said.mock.calls.map(([line]) => String(line));
  said.mockRestore();
  return { sum, lines, exitCode: process.exitCode };
}

describe('npm run admin -- audit', () => {
  test('finds nothing where all is right', async () => {
    await applyStream();
    const { sum, lines, exitCode } = await run();
    expect(sum.differences).toBe(0);
    expect(lines).toEqual([]);
    expect(exitCode).toBe(0);
    expect(sum.items).toBeGreaterThan(5);
  });

  async function expectRepair({ pk, sk }: Key, fault: string) {
    expect(await run()).toMatchObject({ lines: [`${pk} ${sk}: ${fault}`], exitCode: 1 });
    process.exitCode = 0;
    const repaired = await run({ repair: true });
    expect(repaired).toMatchObject({ sum: { differences: 1, repaired: 1 }, exitCode: 0 });
    expect(await run()).toMatchObject({ lines: [], exitCode: 0 });
    await applyStream();
    expect(await differences()).toEqual([]);
  }
  const review = () => ({ pk: `REVIEW#${review_id}`, sk: 'REVIEW' });
  const revision = () => ({ pk: `REVIEW#${review_id}`, sk: 'REVISION#000001' });
  const user = () => ({ pk: `USER#${author.id}`, sk: 'USER' });
  const counts = () => ({ pk: `USER#${author.id}`, sk: 'COUNTS' });
  const entity = () => ({ pk: `ENTITY#${entity_id}`, sk: 'ENTITY' });

  test.each([
    ['a vote too many', review, { votes_positive: 2 }, 'votes_positive is 2, not 1'],
    ['a tally of a revision', revision, { votes_positive: 0 }, 'votes_positive is 0, not 1'],
    ['an index attribute', review, { kind: 'text' }, 'kind is text, not both2'],
    ['a karma', user, { karma: 7 }, 'karma is 7, not 1'],
    ['a count of an author', counts, { work: 3 }, 'work is 3, not 0'],
    ['a count of an entity', entity, { b5: 5 }, 'b5 is 5, not 0'],
  ])('finds and repairs %s', async (_, keyOf, damage, fault) => {
    await setAttributes(keyOf(), { ...damage });
    await expectRepair(keyOf(), fault);
  });

  test('finds and repairs a claim that is missing', async () => {
    const claim = { pk: user().pk, sk: `CLAIM#${entity_id}` };
    await batchWrite([{ delete: claim }]);
    await expectRepair(claim, `review_id is undefined, not ${review_id}`);
  });

  test('finds and repairs the counts of an entity that are missing', async () => {
    await batchWrite([{ delete: entity() }]);
    const { pk, sk } = entity();
    const { lines } = await run({ repair: true });
    expect(lines).toContain(`${pk} ${sk}: EN is undefined, not 1`);
    const counted = { EN: 1, b2: 1, release_group: 1, version: expect.any(Number) };
    expect(await readItem(entity())).toEqual({ ...entity(), ...counted });
    expect((await run()).lines).toEqual([]);
  });

  test('names the commands that mend a lost place of a thing', async () => {
    await nameEntities({ [entity_id]: 'Blue Train' });
    await applyStream();
    const place = (await scanTable()).find((item) => /^(THINGS|WORD)#/.test(item.pk)) as Key;
    const { pk, sk } = place;
    await batchWrite([{ delete: { pk, sk } }]);
    const { lines, exitCode } = await run();
    expect(lines).toEqual([
      `${pk} ${sk}: item is none, not entry`,
      expect.stringContaining('aggregates rebuild'),
    ]);
    expect(lines[1]).toContain('audit --repair');
    expect(exitCode).toBe(1);
    process.exitCode = 0;
    expect(await run({ repair: true })).toMatchObject({ sum: { repaired: 1 }, exitCode: 0 });
    expect(await run()).toMatchObject({ lines: [], exitCode: 0 });
  });

  test('takes away what has lost its review', async () => {
    const lost = 'a7d1f0ee-0000-4000-8000-000000000000';
    const content = { review_id: lost, user_id: voter.id, vote: true, voted_at: '', revision: 1 };
    await batchWrite([{ put: { ...voteKey(lost, voter.id), ...content } }]);
    const { lines } = await run({ repair: true });
    expect(lines[0]).toBe(`REVIEW#${lost} VOTE#${voter.id}: item is vote, not none`);
    expect(await readItem(voteKey(lost, voter.id))).toBeUndefined();
  });

  test('tells what it can not repair, and does not count it as repaired', async () => {
    const revision = await readItem(revisionKey(review_id, 1));
    await batchWrite([{ delete: revisionKey(review_id, 1) }]);
    await setAttributes(reviewKey(review_id), { votes_positive: 2 });
    const { sum, lines, exitCode } = await run({ repair: true });
    await batchWrite([{ put: { ...revision } }]);
    expect(lines.filter((line) => line.startsWith('REVIEW#'))).toEqual([
      `REVIEW#${review_id} REVISION#000001: item is none, not revision (cannot be repaired)`,
      `REVIEW#${review_id} REVIEW: votes_positive is 2, not 1`,
    ]);
    expect(sum.differences).toBe(2);
    expect(sum.repaired).toBe(1);
    expect(exitCode).toBe(1);
    expect(await readItem(reviewKey(review_id))).toMatchObject({ votes_positive: 1 });
  });

  const rank = () => ({ pk: 'TREE#all|release_group', sk: 'root' });
  const total = () => ({ pk: 'TOTALS', sk: 'TOTAL#release_group' });
  const projection = (pk: string) => ({ pk, sk: 'PROJECTION' });

  test.each([
    ['totals', total, { EN: 7 }, 'EN is 7, not 1'],
    ['a rank tree', rank, { v9b: 2 }, 'v9b is 2, not 0'],
    [
      'the sums',
      () => ({ pk: 'TOTALS', sk: 'SUMS' }),
      { counts: '{"release_group":{"b":7}}' },
      'release_group b is 7, not 1',
    ],
  ])('finds what is wrong in %s, which a rebuild corrects', async (_, keyOf, damage, fault) => {
    await applyStream();
    const { pk, sk } = keyOf();
    await setAttributes({ pk, sk }, { ...damage });
    const line = `${pk} ${sk}: ${fault} (cannot be repaired)`;
    expect(await run({ repair: true })).toMatchObject({ lines: [line], exitCode: 1 });
    await rebuildTotals();
    process.exitCode = 0;
    expect(await run()).toMatchObject({ lines: [], exitCode: 0 });
  });

  test('finds a review and an account that the stream has not counted, after a while', async () => {
    const late = await makeUser();
    const id = await late.publishes();
    const { lines, exitCode } = await run({ patience: 100 });
    const [first, second] = [`REVIEW#${id}`, `USER#${late.id}`].map(projection);
    expect(lines.toSorted()).toEqual(
      expect.arrayContaining([
        `${first?.pk} PROJECTION: counted is undefined, not release_group|en|both4 (cannot be repaired)`,
        `${second?.pk} PROJECTION: counted is undefined, not USER (cannot be repaired)`,
      ]),
    );
    expect(exitCode).toBe(1);
    process.exitCode = 0;
    await applyStream();
    expect(await run()).toMatchObject({ lines: [], exitCode: 0 });
  });

  test('waits for the stream where it is only behind', async () => {
    const late = await makeUser();
    await late.publishes();
    const running = run({ patience: 10_000 });
    await applyStream();
    expect(await running).toMatchObject({ lines: [], exitCode: 0 });
  });
});

/** Findings of a repairing audit of a partition, without the wait. */
async function repair({ pk }: Pick<Key, 'pk'>) {
  const found = { lines: [] as string[], repaired: 0 };
  const { differences, repaired } = await auditPartitions([pk], { repair: true, settle: 0 });
  for (const { sk, attribute, stored, counted } of differences) {
    if (sk !== 'PROJECTION') found.lines.push(`${attribute} ${stored} ${counted}`);
  }
  found.repaired += repaired;
  return found;
}

describe('a repair beside traffic', () => {
  let user: Person;

  beforeEach(async () => {
    user = await makeUser();
  });

  test('leaves the claim of a review that has replaced the scanned one', async () => {
    const first = reviewBy(user.id);
    const second = reviewBy(user.id, { entity_id: first.entity_id });
    const key = claimKey(user.id, first.entity_id);
    await insertReview(first);
    beforeFirst(
      (command) => command instanceof GetCommand,
      async () => {
        await deleteReview(first.id, user.id);
        await insertReview(second);
      },
    );
    const found = await repair(key);
    expect(found).toEqual({ lines: [], repaired: 0 });
    expect(await readItem(key)).toMatchObject({ review_id: second.id });
  });

  test('leaves a lost claim that is given to another review at the last moment', async () => {
    const key = claimKey(user.id, randomUUID());
    await batchWrite([{ put: { ...key, review_id: randomUUID() } }]);
    beforeTransaction(() => setAttributes(key, { review_id: 'other' }));
    const found = await repair(key);
    expect(found).toEqual({ lines: [], repaired: 0 });
    expect(await readItem(key)).toMatchObject({ review_id: 'other' });
  });

  test('takes away more than a transaction has room for', async () => {
    const { pk } = reviewKey(randomUUID());
    const votes = Array.from({ length: 150 }, () => ({ put: { pk, sk: `VOTE#${randomUUID()}` } }));
    await batchWrite(votes);
    expect((await repair({ pk })).repaired).toBe(150);
    expect(await repair({ pk })).toEqual({ lines: [], repaired: 0 });
  });

  test('mends more revisions than a transaction has room for, and their review', async () => {
    const review = { ...reviewBy(user.id), edits: 101, votes_positive: 1 };
    const key = claimKey(user.id, review.entity_id);
    const tally = { votes_positive: 1, votes_negative: 0 };
    const revisions = Array.from({ length: 101 }, (_, i) => revisionKey(review.id, i + 1));
    await batchWrite([
      { put: reviewItem(review) },
      { put: { ...key, review_id: review.id } },
      ...revisions.map((revision) => ({ put: { ...revision, ...tally } })),
    ]);
    expect((await repair(reviewKey(review.id))).repaired).toBe(102);
    expect(await repair(reviewKey(review.id))).toEqual({ lines: [], repaired: 0 });
  });

  test('counts a withdrawn review, whose karma the eraser takes back', async () => {
    const votes = { popularity: 3, votes_positive: 3, revision_votes_positive: 3 };
    const deleted = { is_hidden: true, deleted_at: new Date().toISOString() };
    const review = { ...reviewBy(user.id), ...votes, ...deleted };
    await setAttributes(userKey(user.id), { karma: 3 });
    await batchWrite([
      { put: reviewItem(review) },
      { put: { ...claimKey(user.id, review.entity_id), review_id: review.id } },
    ]);
    expect(await repair(userKey(user.id))).toEqual({ lines: [], repaired: 0 });
    await finishDeletion(review.id);
    expect(await readItem(userKey(user.id))).toMatchObject({ karma: 0 });
  });

  test('counts a review once, also one whose claim is missing', async () => {
    const kept = reviewBy(user.id);
    const lost = reviewBy(user.id, { is_draft: true });
    await insertReview(kept);
    await insertReview(lost);
    const twice = { ...claimKey(user.id, randomUUID()), review_id: kept.id };
    await batchWrite([{ delete: claimKey(user.id, lost.entity_id) }, { put: twice }]);
    await setAttributes(reviewKey(kept.id), { popularity: 2 });
    await setAttributes(reviewKey(lost.id), { popularity: 5 });
    await setAttributes(userKey(user.id), { karma: 7 });
    expect(await repair(userKey(user.id))).toEqual({ lines: [], repaired: 0 });
  });
});
