import { randomUUID } from 'node:crypto';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler as createReview } from '../../functions/create-review.ts';
import { handler } from '../../functions/delete-me.ts';
import { findOrCreateUser } from '../../shared/account/identity-repository.ts';
import { decideUser } from '../../shared/moderation/decision-repository.ts';
import { listGrants } from '../../shared/oauth/grant-repository.ts';
import { contactKey, identityKey, userKey } from '../../shared/table/keys.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeGrant, makeUser, reviewBody, visitor } from '../helpers/world.ts';

const operator = { reason: 'abuse', note: 'Insults.', moderator_id: null } as const;

/** A person who signs in, with calls to make as that person. */
function person() {
  const name = `Zoë ${randomUUID()}`;
  const identity = { issuer: 'https://id.example', subject: randomUUID() };
  const profile = { display_name: name, email: null, musicdb_username: null };
  const as = (user_id: string) => ({ user_id, client_id: 'x', scope: 'user review' });
  return {
    name,
    signIn: () => findOrCreateUser({ ...identity, ...profile }),
    leave: (id: string) => invoke(handler, { caller: as(id), method: 'DELETE' }),
    publish: (id: string) =>
      invoke(createReview, { method: 'POST', caller: as(id), body: reviewBody() }),
  };
}

describe('DELETE /user/me', () => {
  test('closes the account at once, before anything is erased', async () => {
    const user = await makeUser({ display_name: 'Vic' });
    const review_id = await user.publishes();
    await user.publishes();
    await makeGrant(user, ['user'], { owner: await makeUser() });
    const { caller } = user;
    expect(await invoke(handler, { caller, method: 'DELETE' })).toMatchObject({
      status: 200,
      body: { message: 'Request processed successfully' },
    });
    expect((await visitor.readsUser(user.id)).status).toBe(404);
    expect((await visitor.reads(review_id)).status).toBe(404);
    // Nothing is added any more, although the eraser has not run yet.
    const { body } = await visitor.lists({ user_id: user.id, limit: '1' });
    expect(body).toEqual({ count: 0, limit: 1, offset: 0, reviews: [] });
    expect(await listGrants(user.id)).toEqual([]);
    expect(JSON.stringify(await readItem(userKey(user.id)))).not.toContain('Vic');
    expect(await readItem(contactKey(user.id))).toBeUndefined();
  });

  test('succeeds if only a later step fails, and refuses all tokens', async () => {
    const user = await makeUser();
    const owner = await makeUser();
    for (let i = 0; i < 3; i++) await makeGrant(user, ['user'], { owner });
    const logged = jest.spyOn(console, 'warn').mockImplementation(() => {});
    let isDone = false;
    const spy = beforeSend((command) => {
      if (isDone) throw new Error('down');
      isDone = command instanceof TransactWriteCommand;
    });
    const { status } = await invoke(handler, { caller: user.caller, method: 'DELETE' });
    spy.mockRestore();
    expect(status).toBe(200);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(await listGrants(user.id)).toEqual([]);
    expect(await readItem(userKey(user.id))).toHaveProperty('deleted_at');
    await applyStream();
    expect(await readItem(userKey(user.id))).toBeUndefined();
  });

  test('succeeds only once', async () => {
    const { caller } = await makeUser();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => invoke(handler, { caller, method: 'DELETE' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
  });

  test('lets the same person sign up again', async () => {
    const { signIn, leave } = person();
    const before = await signIn();
    expect((await signIn()).id).toBe(before.id);
    const [, during] = await Promise.all([leave(before.id), signIn()]);
    const after = await signIn();
    expect(after.id).not.toBe(before.id);
    expect([before.id, after.id]).toContain(during.id);
  });

  test('keeps a block: the person’s next account has it, with its original time', async () => {
    const { name, signIn, leave, publish } = person();
    const first = await signIn();
    const { decided_at } = await decideUser(first.id, 'block', operator);
    let last = first;
    for (const isErased of [false, true]) {
      expect((await leave(last.id)).status).toBe(200);
      if (isErased) await applyStream();
      const left = (await scanTable()).filter(({ blocked_at }) => blocked_at === decided_at);
      const pk = expect.stringMatching(/^IDENTITY#[\da-f]{64}$/);
      expect(left.filter(({ sk }) => sk === 'IDENTITY')).toEqual([
        { pk, sk: 'IDENTITY', blocked_at: decided_at },
      ]);
      expect(JSON.stringify(await scanTable())).not.toContain(name);
      const next = await signIn();
      expect(next.id).not.toBe(last.id);
      expect(next.blocked_at).toBe(decided_at);
      const refused = { status: 403, body: { error: 'access_denied' } };
      expect(await publish(next.id)).toMatchObject(refused);
      last = next;
    }
    await decideUser(last.id, 'unblock', operator);
    expect((await publish(last.id)).status).toBe(200);
    await leave(last.id);
    const free = await signIn();
    expect(free.blocked_at).toBeUndefined();
    expect((await publish(free.id)).status).toBe(200);
  });

  test.each(['block', 'unblock'] as const)(
    'racing with the %s of the account records which came first',
    async (verdict) => {
      for (let i = 0; i < 10; i++) {
        const { signIn, leave } = person();
        const { id } = await signIn();
        if (verdict === 'unblock') await decideUser(id, 'block', operator);
        const [deleted, decided] = await Promise.all([
          leave(id),
          decideUser(id, verdict, operator).then(
            () => true,
            ({ status }) => status !== 404,
          ),
        ]);
        expect(deleted.status).toBe(200);
        expect((await signIn()).blocked_at !== undefined).toBe(decided === (verdict === 'block'));
      }
    },
  );

  test('racing with many sign-ins leads to one account, which is blocked', async () => {
    const { signIn, leave } = person();
    const { id } = await signIn();
    await decideUser(id, 'block', operator);
    const [{ status }] = await Promise.all([leave(id), ...Array.from({ length: 8 }, signIn)]);
    expect(status).toBe(200);
    const after = await Promise.all(Array.from({ length: 8 }, signIn));
    expect(new Set(after.map((user) => user.id)).size).toBe(1);
    expect(after.every(({ blocked_at }) => blocked_at !== undefined)).toBe(true);
  });

  test('does not change an identity that leads to another account', async () => {
    const { signIn, leave } = person();
    const first = await signIn();
    const key = identityKey(`${(await readItem(contactKey(first.id)))?.identity}`);
    const other = await makeUser();
    await setAttributes(key, { user_id: other.id });
    expect((await leave(first.id)).status).toBe(200);
    expect(await readItem(key)).toMatchObject({ user_id: other.id });
  });
});
