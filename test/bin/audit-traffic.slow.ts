import { randomUUID } from 'node:crypto';
import { runAudit } from '../../bin/audit.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { table } from '../../shared/base/table/client.ts';
import type { Item, Key } from '../../shared/base/table/item.ts';
import { claimKey, entityKey, reviewKey, userKey, voteKey } from '../../shared/core/keys.ts';
import { auditPartitions } from '../../shared/features/audit/audit.ts';
import { silence } from '../helpers/console.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { differences } from '../helpers/recount.ts';
import { afterSend, beforeTransaction } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers } from '../helpers/world.ts';

beforeEach(() => {
  process.exitCode = 0;
  silence('error');
});

interface Input {
  Key?: Key;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/**
 * Acts after each command, but not after those of its own. A Query of a whole partition has an
 * empty sort key.
 */
function afterCommands(act: (kind: string, key?: Key) => Promise<unknown>) {
  let isActing = false;
  afterSend(async (command) => {
    if (isActing) return;
    isActing = true;
    await act(command.constructor.name, readBy(command.input));
    await applyStream();
    isActing = false;
  });
}

function readBy({ Key, ExpressionAttributeValues: values = {} }: Input) {
  const { ':partition': pk, ':low': low, ':high': high } = values;
  const isWhole = pk !== undefined && low === undefined && high === undefined;
  return Key ?? (isWhole ? { pk: `${pk}`, sk: '' } : undefined);
}

/** Acts before the first transaction. */
function beforeRepair(act: () => Promise<unknown>) {
  beforeTransaction(async () => {
    await act();
    await applyStream();
  });
}

/** Audits and repairs while the stream is followed. */
async function repair() {
  await applyStream();
  return runAudit({ repair: true, settle: 20, patience: 100 });
}

function isOf(key: Key | undefined, { pk, sk }: Key) {
  return key?.pk === pk && key.sk === sk;
}

function lines() {
  return jest.mocked(console.error).mock.calls.map(([line]) => String(line));
}

async function expectRight() {
  await applyStream();
  expect(await differences()).toEqual([]);
}

describe('audit --repair', () => {
  test('leaves a right karma alone that is another whenever the reviews are read', async () => {
    const [author, voter] = await makeUsers(2);
    const id = await author.publishes();
    await voter.votes(id);
    const key = userKey(author.id);
    // The karma is wrong in the scan. Afterwards the author is read with the vote for the review,
    // and the review with the vote against it.
    await setAttributes(key, { karma: 3 });
    afterCommands(async (kind, read) => {
      if (kind === 'ScanCommand') await setAttributes(key, { karma: 1 });
      const isReviews = kind === 'BatchGetCommand';
      if (isReviews || isOf(read, { ...key, sk: '' }))
        await voter.votes(id, isReviews ? 'up' : 'down');
    });
    const sum = await repair();
    jest.mocked(table.send).mockRestore();
    expect(await readItem(key)).toMatchObject({ karma: 1 });
    expect(await readItem(reviewKey(id))).toMatchObject({ popularity: 1 });
    expect(sum).toMatchObject({ differences: 0, repaired: 0, changing: 1 });
    expect(lines()).toContain(
      `USER#${author.id} USER: changed during the audit and could not be checked: run the audit again`,
    );
    expect(process.exitCode).toBe(3);
    await expectRight();
  });

  test('leaves the right counts of an entity alone that is erased and made again in between', async () => {
    const author = await makeUser();
    const entity_id = randomUUID();
    let review_id = await author.publishes({ entity_id });
    let isErased = false;
    afterCommands(async (kind, read) => {
      if (isOf(read, entityKey(entity_id))) {
        await author.deletes(review_id);
        await applyStream();
        isErased = (await readItem(entityKey(entity_id))) === undefined;
      } else if (isErased && kind === 'QueryCommand') {
        isErased = false;
        review_id = await author.publishes({ entity_id });
      }
    });
    const sum = await repair();
    jest.mocked(table.send).mockRestore();
    expect(sum).toMatchObject({ differences: 0, repaired: 0 });
    expect(await readItem(entityKey(entity_id))).toMatchObject({ release_group: 1 });
    await expectRight();
  });

  test('leaves a review alone that changes whenever it is checked, and mends it at rest', async () => {
    const [author, ...voters] = await makeUsers(12);
    const id = await author.publishes();
    const item = await readItem(reviewKey(id));
    const claim = claimKey(author.id, `${item?.entity_id}`);
    await setAttributes(reviewKey(id), { votes_positive: 5 });
    afterCommands(async (_, read) => {
      const voter = isOf(read, claim) && voters.pop();
      if (voter) await voter.votes(id);
    });
    const sum = await repair();
    jest.mocked(table.send).mockRestore();
    expect(sum).toMatchObject({ differences: 0, repaired: 0, changing: 1 });
    expect(process.exitCode).toBe(3);
    const rest = await repair();
    expect(rest).toMatchObject({ differences: 1, repaired: 1, changing: 0 });
    await expectRight();
  });

  test('leaves alone what a vote changes at the moment of the repair', async () => {
    const [author, voter] = await makeUsers(2);
    const id = await author.publishes();
    await setAttributes(userKey(author.id), { karma: 7 });
    await applyStream();
    beforeRepair(async () => {
      await voter.votes(id);
      await voter.votes(id, 'down');
    });
    const sum = await repair();
    expect(sum).toMatchObject({ differences: 0, repaired: 0, changing: 1 });
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 6 });
    expect((await repair()).repaired).toBe(1);
    await expectRight();
  });

  test('waits once for all that differs in a page', async () => {
    const users = await makeUsers(3);
    for (const { id } of users) await setAttributes(userKey(id), { karma: 3 });
    const read: string[] = [];
    afterCommands(async (_, key) => {
      const user = users.findIndex(({ id }) => isOf(key, { ...userKey(id), sk: '' }));
      if (user >= 0) read.push(`${user}`);
    });
    const sum = await repair();
    expect(sum).toMatchObject({ differences: 3, repaired: 3 });
    const first = read.slice(0, 3);
    expect(first.toSorted()).toEqual(['0', '1', '2']);
    expect(read).toEqual([...first, ...first]);
    expect(process.exitCode).toBe(0);
  });

  test('leaves a vote alone whose review comes back before the vote is deleted', async () => {
    const [author, voter] = await makeUsers(2);
    const id = await author.publishes();
    await voter.votes(id);
    const { pk, sk, ...content } = (await readItem(reviewKey(id))) as Item;
    await batchWrite([{ delete: { pk, sk } }]);
    beforeRepair(() => setAttributes({ pk, sk }, content));
    const { repaired } = await auditPartitions([pk], { repair: true, settle: 0 });
    expect(repaired).toBe(0);
    expect(await readItem(voteKey(id, voter.id))).toMatchObject({ vote: true });
  });
});
