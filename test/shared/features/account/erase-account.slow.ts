import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler as eraser } from '../../../../functions/background/eraser.ts';
import { handler as updateAggregates } from '../../../../functions/background/update-aggregates.ts';
import { type Consumer, isFor } from '../../../../shared/base/background/consumer.ts';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import { type Item, keyString } from '../../../../shared/base/table/item.ts';
import { insertGrant } from '../../../../shared/core/oauth/grant-repository.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { consumers } from '../../../../shared/features/background.ts';
import { silence } from '../../../helpers/console.ts';
import { scanTable } from '../../../helpers/items.ts';
import { makeClient, makeCode } from '../../../helpers/oauth-client.ts';
import { differences } from '../../../helpers/recount.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { readStream } from '../../../helpers/stream.ts';
import {
  makeUser,
  makeUsers,
  type Person,
  reviewBody,
  signIn,
  text,
} from '../../../helpers/world.ts';

/** Returns the stream records that a consumer subscribes to. */
function dueTo(name: string, records: readonly DynamoDBRecord[]) {
  const consumer = consumers.find(({ operation }) => operation === name) as Consumer;
  return records.filter((record) => isFor(consumer, record));
}

/**
 * Runs the consumers to the end of the stream. The eraser dies at its `killAt`th write, and
 * restarts at the same record, as with Lambda. Between two writes the call at which it dies makes
 * no difference. Returns the number of its writes.
 */
async function follow(killAt = Number.POSITIVE_INFINITY) {
  let writes = 0;
  for (let records = await readStream(); records.length > 0; records = await readStream()) {
    const fed = dueTo('update-aggregates', records);
    for (let start = 0; start < fed.length; start += 100) {
      const batch = { Records: fed.slice(start, start + 100) };
      expect(await updateAggregates(batch)).toEqual({ batchItemFailures: [] });
    }
    let due = dueTo('eraser', records);
    while (due.length > 0) {
      const spy = beforeSend((command) => {
        if (!isRead(command) && ++writes === killAt) throw new Error('killed');
      });
      const { batchItemFailures } = await eraser({ Records: due });
      spy.mockRestore();
      const failed = batchItemFailures[0]?.itemIdentifier;
      const at = due.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed);
      due = failed ? due.slice(at) : [];
    }
  }
  return writes;
}

const isRead = (command: object) =>
  [GetCommand, BatchGetCommand, QueryCommand].some((kind) => command instanceof kind);

/** Makes a user who has signed in before, and has left an item of every type. */
async function makeRichUser() {
  const user = await signIn({ display_name: 'Vic', email: 'v@example.com' });
  const [friend, foe] = await makeUsers(2);

  const [edited, , hidden] = await Promise.all([
    user.publishes(),
    user.publishes({ is_draft: true }),
    user.publishes({ text: `Hidden. ${text}`, rating: null }),
    user.publishes({ text: null }),
  ]);
  await Promise.all([friend.votes(edited), friend.votes(hidden), foe.votes(edited, 'down')]);
  await setHidden(hidden, true, { reason: 'abuse', note: 'Names a person.' });
  await user.edits(edited, { text: `Better. ${text}` });
  await friend.votes(edited);
  await foe.reports(edited);

  const loved = await friend.publishes();
  const gone = await foe.publishes();
  const hated = await foe.publishes();
  await user.votes(loved);
  await user.votes(hated, 'down');
  await user.votes(gone);
  await setHidden(hated, true);
  await foe.deletes(gone);
  await user.reports(loved);

  const [own, others] = await Promise.all([makeClient(user), makeClient(friend)]);
  await insertGrant({ user_id: user.id, client_id: own.client_id, scopes: [] });
  await insertGrant({ user_id: friend.id, client_id: own.client_id, scopes: [] });
  await insertGrant({ user_id: user.id, client_id: others.client_id, scopes: ['vote'] });
  await makeCode(others, user);
  return user;
}

/** Restores the table to these items. */
async function resetTo(items: readonly Item[]) {
  const kept = new Set(items.map(keyString));
  const others = (await scanTable()).filter((item) => !kept.has(keyString(item)));
  await batchWrite([
    ...items.map((item) => ({ put: item })),
    ...others.map(({ pk, sk }) => ({ delete: { pk, sk } })),
  ]);
  await readStream();
}

async function expectNothingOf(users: readonly Person[]) {
  expect(await differences()).toEqual([]);
  const remains = (await scanTable()).filter((item) => {
    const toText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
    const written = JSON.stringify(item, toText);
    return users.some(({ id }) => written.includes(id));
  });
  // The log of decisions keeps ids. That of changes, and projection states, expire by themselves.
  const decisions = remains.filter(({ sk }) => sk === 'DECISION');
  const changes = remains.filter(({ pk }) => pk.startsWith('CHANGES#'));
  for (const { expires_at } of changes) expect(expires_at).toEqual(expect.any(Number));
  const others = remains.filter((item) => !decisions.includes(item) && !changes.includes(item));
  for (const { note, author } of decisions) expect([note, author]).toEqual(['', undefined]);
  expect(others.filter(({ pk, sk }) => !pk.startsWith('USER#') || sk !== 'PROJECTION')).toEqual([]);
  for (const state of others) {
    expect(state).toMatchObject({ counted: null, expires_at: expect.any(Number) });
  }
}

describe('the erasure of an account', () => {
  test('resumes wherever it was killed, and leaves nothing behind', async () => {
    silence('error');
    const user = await makeRichUser();
    await follow();
    const before = await scanTable();
    let killAt = 0;
    let writes: number;
    do {
      await resetTo(before);
      await user.leaves();
      writes = await follow(++killAt);
      await expectNothingOf([user]);
    } while (writes >= killAt);
    // Otherwise the kill was elsewhere.
    expect(killAt).toBeGreaterThan(18);
  });

  test('changes nothing when it is repeated', async () => {
    const user = await makeRichUser();
    await follow();
    await user.leaves();
    const records = dueTo('eraser', await readStream());
    for (let i = 0; i < 2; i++) await eraser({ Records: records });
    await follow();
    const before = await scanTable();
    expect(await eraser({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(await scanTable()).toEqual(before);
    expect(await readStream()).toEqual([]);
  });

  test('counts or refuses a vote, review or grant of the last moment', async () => {
    const author = await makeUser();
    const client = await makeClient(author);
    const users = [];
    for (let i = 0; i < 12; i++) {
      const [user, fan] = await makeUsers(2);
      const [own, others] = await Promise.all([user.publishes(), author.publishes()]);
      const answers = await Promise.all([
        user.triesToVote(others, { vote: true }),
        fan.triesToVote(own, { vote: true }),
        user.leaves(),
        user.triesToPublish(reviewBody()),
        user.edits(own, { rating: 1 }),
        user.reports(others),
      ]);
      await insertGrant({ user_id: user.id, client_id: client.client_id, scopes: [] }).then(
        () => expect(user).toBe('gone'),
        ({ status }) => expect(status).toBe(404),
      );
      for (const { status } of answers) expect([200, 401, 404]).toContain(status);
      users.push(user);
    }
    await follow();
    await expectNothingOf(users);
  });

  test('erases a voter and the author of the same review', async () => {
    const [author, voter] = await makeUsers(2);
    const review_id = await author.publishes();
    await voter.votes(review_id);
    await Promise.all([author.leaves(), voter.leaves()]);
    await follow();
    await expectNothingOf([author, voter]);
  });
});
