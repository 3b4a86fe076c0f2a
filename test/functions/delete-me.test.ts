import { randomUUID } from 'node:crypto';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/delete-me.ts';
import { handler as getReview } from '../../functions/get-review.ts';
import { handler as getUser } from '../../functions/get-user.ts';
import { handler as listReviews } from '../../functions/list-reviews.ts';
import { listGrants } from '../../shared/oauth/grant-repository.ts';
import { table } from '../../shared/table/client.ts';
import { contactKey, userKey } from '../../shared/table/keys.ts';
import { findOrCreateUser } from '../../shared/user/identity-repository.ts';
import { applyStream, makeGrant, makeReview, makeUser, readItem } from '../fixtures.ts';
import { invoke } from '../invoke.ts';

describe('DELETE /user/me', () => {
  test('ends the account at once, before anything is erased', async () => {
    const user = await makeUser({ display_name: 'Vic' });
    const review_id = await makeReview(user);
    await makeReview(user);
    await makeGrant(user, ['user'], { owner: await makeUser() });
    const { caller } = user;
    expect(await invoke(handler, { caller, method: 'DELETE' })).toMatchObject({
      status: 200,
      body: { message: 'Request processed successfully' },
    });
    expect((await invoke(getUser, { path: { user_id: user.id } })).status).toBe(404);
    expect((await invoke(getReview, { path: { review_id } })).status).toBe(404);
    // Nothing more to come, though the eraser has not been there yet.
    const query = { user_id: user.id, limit: '1' };
    expect((await invoke(listReviews, { query })).body).toEqual({
      count: 0,
      limit: 1,
      offset: 0,
      reviews: [],
    });
    expect(await listGrants(user.id)).toEqual([]);
    const item = JSON.stringify(await readItem(userKey(user.id)));
    expect(item).not.toContain('Vic');
    expect(await readItem(contactKey(user.id))).toBeUndefined();
  });

  test('succeeds when only what follows it fails, with all its tokens refused', async () => {
    const user = await makeUser();
    const owner = await makeUser();
    for (let i = 0; i < 3; i++) await makeGrant(user, ['user'], { owner });
    const logged = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const send = table.send.bind(table);
    let isDone = false;
    jest.spyOn(table, 'send').mockImplementation((async (command: object) => {
      if (isDone) throw new Error('down');
      const answer = await send(command as never);
      isDone = command instanceof TransactWriteCommand;
      return answer;
    }) as never);
    const { status } = await invoke(handler, { caller: user.caller, method: 'DELETE' });
    jest.mocked(table.send).mockRestore();
    expect(status).toBe(200);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(await listGrants(user.id)).toEqual([]);
    expect(await readItem(userKey(user.id))).toHaveProperty('deleted_at');
    await applyStream();
    expect(await readItem(userKey(user.id))).toBeUndefined();
  });

  test('happens once', async () => {
    const { caller } = await makeUser();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => invoke(handler, { caller, method: 'DELETE' })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 401, 401, 401, 401]);
  });

  test('lets the same person begin again', async () => {
    const identity = {
      issuer: 'https://id.example',
      subject: randomUUID(),
      display_name: 'Ann',
      email: null,
      musicdb_username: null,
    };
    const before = await findOrCreateUser(identity);
    expect((await findOrCreateUser(identity)).id).toBe(before.id);
    const caller = { user_id: before.id, client_id: 'x', scope: 'user' };
    const [, during] = await Promise.all([
      invoke(handler, { caller, method: 'DELETE' }),
      findOrCreateUser(identity),
    ]);
    const after = await findOrCreateUser(identity);
    expect(after.id).not.toBe(before.id);
    expect([before.id, after.id]).toContain(during.id);
  });
});
