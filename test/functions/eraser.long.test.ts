import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';

import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler as deleteMe } from '../../functions/delete-me.ts';
import { handler as deleteReview } from '../../functions/delete-review.ts';
import { handler } from '../../functions/eraser.ts';
import { handler as updateReview } from '../../functions/update-review.ts';
import { deleteApplication, insertApplication } from '../../shared/oauth/application-repository.ts';
import { insertGrant, listGrants } from '../../shared/oauth/grant-repository.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import { table } from '../../shared/table/client.ts';
import { makeReview, makeUser, makeUsers, type TestUser, text, vote } from '../helpers/fixtures.ts';
import { invoke } from '../helpers/invoke.ts';
import { scanTable } from '../helpers/items.ts';
import { applyStream, readStream } from '../helpers/stream.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const author = await makeUser();

/**
 * Deletes a review with more items than a page and a batch. Returns its id and its stream records.
 */
async function deleted(): Promise<[string, DynamoDBRecord[]]> {
  const review_id = await makeReview(author);
  for (const voter of await makeUsers(3)) await vote(voter, review_id);
  const body = { text: `${text} More.` };
  await invoke(updateReview, { caller: author.caller, path: { review_id }, body });
  const more = Array.from({ length: 300 }, (_, i) => ({
    pk: `REVIEW#${review_id}`,
    sk: `VOTE#${i}`,
  }));
  await batchWrite(more.map((put) => ({ put })));
  await readStream();
  await invoke(deleteReview, { caller: author.caller, path: { review_id } });
  const records = (await readStream()).filter(({ dynamodb }) => dynamodb?.Keys?.sk?.S === 'REVIEW');
  expect(records.map(({ eventName }) => eventName)).toEqual(['REMOVE']);
  return [review_id, records];
}

async function remains(review_id: string): Promise<string[]> {
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
    const [owner, user] = [await makeUser(), await makeUser()];
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
    const [ann, fan] = (await makeUsers(2)) as [TestUser, TestUser];
    await vote(fan, await makeReview(ann));
    const review_id = await makeReview(ann);
    await vote(fan, review_id);
    const body = { text: `${text} More.` };
    await invoke(updateReview, { caller: ann.caller, path: { review_id }, body });
    await applyStream();
    const before = await scanTable();
    await invoke(deleteReview, { caller: ann.caller, path: { review_id } });
    await invoke(deleteMe, { caller: ann.caller });
    const Records: DynamoDBRecord[] = [];
    for (let some = await readStream(); some.length > 0; some = await readStream()) {
      const due = some.filter(({ dynamodb }) =>
        ['REVIEW', 'USER'].includes(`${dynamodb?.Keys?.sk?.S}`),
      );
      await handler({ Records: due });
      Records.push(...due);
    }
    await batchWrite(before.map((put) => ({ put })));
    expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
    expect(await scanTable()).toEqual(before);
  });

  test('keeps reviews and accounts that still exist', async () => {
    const id = await makeReview(author);
    const before = await remains(id);
    const Records = await readStream();
    const ofReviews = Records.filter(({ dynamodb }) => dynamodb?.Keys?.sk?.S === 'REVIEW');
    expect(await handler({ Records: ofReviews })).toEqual({ batchItemFailures: [] });
    expect(await remains(id)).toEqual(before);
  });

  test('reports the record that failed, and resumes there', async () => {
    const [first, [one]] = await deleted();
    const [second, [two]] = await deleted();
    const Records = [one, two] as DynamoDBRecord[];
    const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
    const send = table.send.bind(table);
    let writes = 0;
    const interruption = Object.assign(new Error('ann@example.org'), { $metadata: {} });
    // The failure is in the middle of the second record.
    jest.spyOn(table, 'send').mockImplementation(((command: never) => {
      if ((command as object) instanceof TransactWriteCommand && ++writes > 6) throw interruption;
      return send(command);
    }) as never);
    expect(await handler({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: two?.dynamodb?.SequenceNumber }],
    });
    const error = { name: 'Error', stack: expect.any(Array) };
    expect(logged.mock.calls).toEqual([
      [{ message: 'Erasing failed', eventID: two?.eventID, error }],
    ]);
    jest.restoreAllMocks();
    expect(await remains(first)).toEqual([]);
    const left = (await remains(second)).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(305);
    expect(await handler({ Records: Records.slice(1) })).toEqual({ batchItemFailures: [] });
    expect(await remains(second)).toEqual([]);
  });
});
