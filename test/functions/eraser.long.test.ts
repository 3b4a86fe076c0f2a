import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/background/eraser.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import {
  deleteApplication,
  insertApplication,
} from '../../shared/core/oauth/application-repository.ts';
import { insertGrant, listGrants } from '../../shared/core/oauth/grant-repository.ts';
import { silence } from '../helpers/console.ts';
import { scanTable, storeItems } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream, readStream } from '../helpers/stream.ts';
import { makeUser, makeUsers, text } from '../helpers/world.ts';

const author = await makeUser();
const sortKeyOf = ({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.sk?.S;
const isOfReview = (record: DynamoDBRecord) => sortKeyOf(record) === 'REVIEW';

/**
 * Deletes a review with more items than a page and a batch. Returns its id and its stream records.
 */
async function deleted(): Promise<[string, DynamoDBRecord[]]> {
  const review_id = await author.publishes();
  for (const voter of await makeUsers(3)) await voter.votes(review_id);
  await author.edits(review_id, { text: `${text} More.` });
  const pk = `REVIEW#${review_id}`;
  await batchWrite(Array.from({ length: 300 }, (_, i) => ({ put: { pk, sk: `VOTE#${i}` } })));
  await readStream();
  await author.deletes(review_id);
  const records = (await readStream()).filter(isOfReview);
  expect(records.map(({ eventName }) => eventName)).toEqual(['REMOVE']);
  return [review_id, records];
}

async function remains(review_id: string) {
  return (await scanTable()).filter(({ pk }) => pk === `REVIEW#${review_id}`).map(({ sk }) => sk);
}

describe('the eraser', () => {
  test('erases everything that a deleted review leaves, however often records repeat', async () => {
    const [id, Records] = await deleted();
    expect(await remains(id)).toHaveLength(304);
    for (let i = 0; i < 2; i++) {
      expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
      expect(await remains(id)).toEqual([]);
    }
  });

  test('keeps the grants of an application that the same form registered again', async () => {
    const owner = await makeUser();
    const user = await makeUser();
    const redirect_uri = 'https://client.example/';
    const form = { name: 'Demo', desc: '', website: redirect_uri, redirect_uri };
    const { client_id } = await insertApplication(owner.id, form, 'form');
    await readStream();
    await deleteApplication(client_id, owner.id);
    const Records = await readStream();
    expect((await insertApplication(owner.id, form, 'form')).client_id).toBe(client_id);
    await insertGrant({ user_id: user.id, client_id, scopes: ['user'] });
    expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
    expect(await listGrants(user.id)).toHaveLength(1);
  });

  test('keeps a review and an account that were restored', async () => {
    const [ann, fan] = await makeUsers(2);
    await fan.votes(await ann.publishes());
    const review_id = await ann.publishes();
    await fan.votes(review_id);
    await ann.edits(review_id, { text: `${text} More.` });
    await applyStream();
    const before = await scanTable();
    await ann.deletes(review_id);
    await ann.leaves();
    const Records = [];
    for (let some = await readStream(); some.length > 0; some = await readStream()) {
      const due = some.filter((each) => isOfReview(each) || sortKeyOf(each) === 'USER');
      await handler({ Records: due });
      Records.push(...due);
    }
    await storeItems(before);
    expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
    expect(await scanTable()).toEqual(before);
  });

  test('keeps reviews and accounts that still exist', async () => {
    const id = await author.publishes();
    const before = await remains(id);
    const Records = (await readStream()).filter(isOfReview);
    expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
    expect(await remains(id)).toEqual(before);
  });

  test('reports the record that failed, and resumes there', async () => {
    const [first, [one]] = await deleted();
    const [second, [two]] = await deleted();
    const Records = [one, two] as DynamoDBRecord[];
    const logged = silence('error');
    let writes = 0;
    const message = 'A key attribute cannot contain an empty string value';
    const refusal = Object.assign(new Error(message), { name: 'ValidationException' });
    // The failure is in the middle of the second record.
    beforeSend((command) => {
      if (command instanceof TransactWriteCommand && ++writes > 6) throw refusal;
    });
    const itemIdentifier = two?.dynamodb?.SequenceNumber;
    expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier }] });
    const error = { name: 'ValidationException', message, stack: expect.any(Array) };
    const line = { message: 'Erasing failed', eventID: two?.eventID, error };
    expect(logged.mock.calls).toEqual([[line]]);
    jest.restoreAllMocks();
    expect(await remains(first)).toEqual([]);
    const left = (await remains(second)).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(305);
    expect(await handler({ Records: Records.slice(1) })).toEqual({ batchItemFailures: [] });
    expect(await remains(second)).toEqual([]);
  });
});
