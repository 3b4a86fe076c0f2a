import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { runAudit } from '../../bin/audit.ts';
import { handler as getMe } from '../../functions/get-me.ts';
import { handler as updateReview } from '../../functions/update-review.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import {
  claimKey,
  entityKey,
  reviewKey,
  revisionKey,
  userKey,
  voteKey,
} from '../../shared/table/keys.ts';
import {
  applyStream,
  makeReview,
  makeUsers,
  readItem,
  setAttributes,
  type TestUser,
  vote,
} from '../fixtures.ts';
import { invoke } from '../invoke.ts';
import { differences } from '../recount.ts';

let author: TestUser;
let voter: TestUser;
let review_id: string;
let entity_id: string;

beforeAll(async () => {
  [author, voter] = (await makeUsers(2)) as [TestUser, TestUser];
  review_id = await makeReview(author);
  await vote(voter, review_id);
  const path = { review_id };
  await invoke(updateReview, { caller: author.caller, path, body: { rating: 2 } });
  entity_id = String((await readItem(reviewKey(review_id)))?.entity_id);
});

beforeEach(() => {
  process.exitCode = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
  process.exitCode = 0;
});

/** What the audit tells, and its summary. */
async function run(options: Parameters<typeof runAudit>[0] = {}) {
  const said = jest.spyOn(console, 'error').mockImplementation(() => {});
  const sum = await runAudit(options);
  const lines = said.mock.calls.map(([line]) => String(line));
  said.mockRestore();
  return { sum, lines, exitCode: process.exitCode };
}

describe('npm run admin -- audit', () => {
  test('finds nothing where all is right', async () => {
    await applyStream();
    const { sum, lines, exitCode } = await run();
    expect([sum.differences, lines, exitCode]).toEqual([0, [], 0]);
    expect(sum.items).toBeGreaterThan(5);
  });

  test.each<[string, () => Promise<unknown>, () => string]>([
    [
      'a vote too many',
      () => setAttributes(reviewKey(review_id), { votes_positive: 2 }),
      () => `REVIEW#${review_id} REVIEW: votes_positive is 2, not 1`,
    ],
    [
      'a tally of a revision',
      () => setAttributes(revisionKey(review_id, 1), { votes_positive: 0 }),
      () => `REVIEW#${review_id} REVISION#000001: votes_positive is 0, not 1`,
    ],
    [
      'an index attribute',
      () => setAttributes(reviewKey(review_id), { kind: 'text' }),
      () => `REVIEW#${review_id} REVIEW: kind is text, not both`,
    ],
    [
      'a karma',
      () => setAttributes(userKey(author.id), { karma: 7 }),
      () => `USER#${author.id} USER: karma is 7, not 1`,
    ],
    [
      'a count of an author',
      () => setAttributes(userKey(author.id), { 'work|en|both': 3 }),
      () => `USER#${author.id} USER: work|en|both is 3, not 0`,
    ],
    [
      'a sum of ratings',
      () => setAttributes(entityKey(entity_id), { rating_sum: 5 }),
      () => `ENTITY#${entity_id} ENTITY: rating_sum is 5, not 2`,
    ],
    [
      'a claim that is missing',
      () => batchWrite([{ delete: claimKey(author.id, entity_id) }]),
      () => `USER#${author.id} CLAIM#${entity_id}: review_id is undefined, not ${review_id}`,
    ],
  ])('finds and repairs %s', async (_, damage, told) => {
    await damage();
    expect(await run()).toMatchObject({
      lines: [told()],
      exitCode: 1,
    });
    process.exitCode = 0;
    const repaired = await run({ repair: true });
    expect(repaired).toMatchObject({ sum: { differences: 1, repaired: 1 }, exitCode: 0 });
    expect(await run()).toMatchObject({ lines: [], exitCode: 0 });
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('parts what is not public from an account of before', async () => {
    const { id } = author;
    await setAttributes(userKey(id), { email: 'ann@example.com', musicdb_username: 'ann' });
    const me = async () => (await invoke(getMe, { caller: author.caller })).body.user.email;
    expect(await me()).toBe('ann@example.com');
    expect((await run({ repair: true })).sum).toMatchObject({ differences: 2, repaired: 2 });
    expect(await readItem(userKey(id))).not.toHaveProperty('email');
    expect(await me()).toBe('ann@example.com');
  });

  test('takes away what has lost its review', async () => {
    const lost = 'a7d1f0ee-0000-4000-8000-000000000000';
    const content = { review_id: lost, user_id: voter.id, vote: true, voted_at: '', revision: 1 };
    await batchWrite([{ put: { ...voteKey(lost, voter.id), ...content } }]);
    const { lines } = await run({ repair: true });
    expect(lines[0]).toBe(`REVIEW#${lost} VOTE#${voter.id}: item is vote, not none`);
    expect(await readItem(voteKey(lost, voter.id))).toBeUndefined();
  });

  test('leaves alone what changes while it is repaired', async () => {
    await setAttributes(userKey(author.id), { karma: 7 });
    const [first] = [await audited()];
    await setAttributes(userKey(author.id), { karma: 8 });
    expect(first?.differences).toMatchObject([{ attribute: 'karma', stored: 7, counted: 1 }]);
    await run({ repair: true });
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 1 });
  });

  test('goes on from a position, and refuses what is none', async () => {
    const all = await run();
    const position = Buffer.from(JSON.stringify([`REVIEW#${review_id}`, 'REVIEW'])).toString(
      'base64url',
    );
    const rest = await run({ from: position });
    expect(rest.sum.items).toBeLessThan(all.sum.items);
    await expect(run({ from: 'x' })).rejects.toThrow('--from must be a position');
  });
});

async function audited() {
  const { audit } = await import('../../shared/audit/audit.ts');
  for await (const progress of audit({ settle: 0 }))
    if (progress.differences.length > 0) return progress;
  return undefined;
}
