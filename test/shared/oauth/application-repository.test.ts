import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, expect, test } from '@jest/globals';
import { deleteAccount } from '../../../shared/account/delete-account.ts';
import {
  deleteApplication,
  listApplications,
} from '../../../shared/oauth/application-repository.ts';
import { table, tableName } from '../../../shared/table/client.ts';
import { applicationKey, userKey } from '../../../shared/table/keys.ts';
import { applyStream, makeUser, readItem, setAttributes, type TestUser } from '../../fixtures.ts';
import { makeClient } from '../../oauth/client.ts';
import { differences } from '../../recount.ts';

/** Registers so many at once, and says how many succeeded; the others were refused with 400. */
async function register(user: TestUser, count: number): Promise<number> {
  const answers = await Promise.allSettled(Array.from({ length: count }, () => makeClient(user)));
  for (const answer of answers) {
    if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 400 });
  }
  return answers.filter(({ status }) => status === 'fulfilled').length;
}

async function countOf({ id }: TestUser): Promise<unknown> {
  return (await readItem(userKey(id)))?.applications;
}

/** An account from before applications were counted. */
async function makeOldUser(applications: number): Promise<TestUser> {
  const user = await makeUser();
  await register(user, applications);
  const UpdateExpression = 'REMOVE applications';
  await table.send(
    new UpdateCommand({ TableName: tableName(), Key: userKey(user.id), UpdateExpression }),
  );
  return user;
}

afterEach(async () => {
  await applyStream();
  expect(await differences()).toEqual([]);
});

async function deleteOne({ id }: TestUser): Promise<void> {
  const [application] = await listApplications(id);
  await deleteApplication(application?.client_id ?? '', id);
}

test('of 40 applications that a user registers at once there will be 25', async () => {
  const user = await makeUser();
  expect(await register(user, 40)).toBe(25);
  expect(await listApplications(user.id)).toHaveLength(25);
  expect(await register(user, 2)).toBe(0);
});

test('a deletion makes room for one, however often it is asked for', async () => {
  const user = await makeUser();
  await register(user, 25);
  const [application] = await listApplications(user.id);
  const answers = await Promise.allSettled(
    Array.from({ length: 5 }, () => deleteApplication(application?.client_id ?? '', user.id)),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(answers).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ status: 404 }),
  });
  expect(await register(user, 3)).toBe(1);
});

test.each([
  [0, 30, 25],
  [20, 10, 5],
  [25, 2, 0],
])('where nobody counted the %i so far, there is room as well', async (before, asked, given) => {
  const user = await makeOldUser(before);
  expect(await register(user, asked)).toBe(given);
  expect(await listApplications(user.id)).toHaveLength(before + given);
  await deleteOne(user);
  expect(await countOf(user)).toBe(24);
});

test('a deletion counts what nobody counted so far, too', async () => {
  const user = await makeOldUser(3);
  await Promise.all([deleteOne(user), makeClient(user)]);
  expect(await countOf(user)).toBe(3);
  await deleteOne(user);
  await deleteOne(user);
  await deleteOne(user);
  expect(await countOf(user)).toBe(0);
});

test('more than there may be can be deleted, and no further comes before there is room', async () => {
  const [user, other] = await Promise.all([makeOldUser(20), makeOldUser(20)]);
  // They were 40 of one user, before there was a limit.
  for (const { client_id } of await listApplications(other.id)) {
    const owner = { user_id: user.id, author: `OWNER#${user.id}` };
    await setAttributes(applicationKey(client_id), owner);
  }
  for (let left = 39; left >= 24; left--) {
    expect(await register(user, 1)).toBe(0);
    await deleteOne(user);
    expect(await countOf(user)).toBe(left);
  }
  expect(await register(user, 2)).toBe(1);
});

test('an account that is gone registers and deletes nothing', async () => {
  const user = await makeUser();
  const { client_id } = await makeClient(user);
  await deleteAccount(user.id);
  await expect(makeClient(user)).rejects.toMatchObject({ status: 404 });
  await expect(deleteApplication(client_id, user.id)).rejects.toMatchObject({ status: 401 });
});
