import { randomUUID } from 'node:crypto';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { contactKey, identityKey, userKey } from '../../shared/core/keys.ts';
import { listGrants } from '../../shared/core/oauth/grant-repository.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { silence } from '../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeGrant, makeUser, type Person, reviewBody, signIn, visitor } from '../helpers/world.ts';

const operator = { reason: 'abuse', note: 'Insults.', moderator_id: null } as const;

/** A person who signs in repeatedly, to one account after another. */
function makeIdentity() {
  const identity = { subject: randomUUID(), display_name: `Zoë ${randomUUID()}` };
  return { name: identity.display_name, enter: () => signIn(identity) };
}

const blockOf = async ({ id }: Person) => (await readItem(userKey(id)))?.blocked_at;

describe('DELETE /user/me', () => {
  test('closes the account at once, before anything is erased', async () => {
    const user = await makeUser({ display_name: 'Vic' });
    const review_id = await user.publishes();
    await user.publishes();
    await makeGrant(user, ['user'], { owner: await makeUser() });
    expect(await user.triesToLeave()).toMatchObject({
      status: 200,
      body: { message: 'Request processed successfully' },
    });
    expect(await visitor.readsUser(user.id)).toHaveStatus(404);
    expect(await visitor.reads(review_id)).toHaveStatus(404);
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
    const logged = silence('warn');
    let isDone = false;
    const spy = beforeSend((command) => {
      if (isDone) throw new Error('down');
      isDone = command instanceof TransactWriteCommand;
    });
    const { status } = await user.triesToLeave();
    spy.mockRestore();
    expect(status).toBe(200);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(await listGrants(user.id)).toEqual([]);
    expect(await readItem(userKey(user.id))).toHaveProperty('deleted_at');
    await applyStream();
    expect(await readItem(userKey(user.id))).toBeUndefined();
  });

  test('succeeds only once', async () => {
    const user = await makeUser();
    const answers = await Promise.all(Array.from({ length: 5 }, () => user.triesToLeave()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
  });

  test('lets the same person sign up again', async () => {
    const { enter } = makeIdentity();
    const before = await enter();
    expect((await enter()).id).toBe(before.id);
    const [, during] = await Promise.all([before.leaves(), enter()]);
    const after = await enter();
    expect(after.id).not.toBe(before.id);
    expect([before.id, after.id]).toContain(during.id);
  });

  test('keeps a block: the person’s next account has it, with its original time', async () => {
    const { name, enter } = makeIdentity();
    const first = await enter();
    const { decided_at } = await decideUser(first.id, 'block', operator);
    let last = first;
    for (const isErased of [false, true]) {
      await last.leaves();
      if (isErased) await applyStream();
      const left = (await scanTable()).filter(({ blocked_at }) => blocked_at === decided_at);
      const pk = expect.stringMatching(/^IDENTITY#[\da-f]{64}$/);
      expect(left.filter(({ sk }) => sk === 'IDENTITY')).toEqual([
        { pk, sk: 'IDENTITY', blocked_at: decided_at },
      ]);
      expect(JSON.stringify(await scanTable())).not.toContain(name);
      const next = await enter();
      expect(next.id).not.toBe(last.id);
      expect(await blockOf(next)).toBe(decided_at);
      const refused = { status: 403, body: { error: 'access_denied' } };
      expect(await next.triesToPublish(reviewBody())).toMatchObject(refused);
      last = next;
    }
    await decideUser(last.id, 'unblock', operator);
    expect(await last.triesToPublish(reviewBody())).toHaveStatus(200);
    await last.leaves();
    const free = await enter();
    expect(await blockOf(free)).toBeUndefined();
    expect(await free.triesToPublish(reviewBody())).toHaveStatus(200);
  });

  test.each(['block', 'unblock'] as const)(
    'racing with the %s of the account records which came first',
    async (verdict) => {
      for (let i = 0; i < 10; i++) {
        const { enter } = makeIdentity();
        const user = await enter();
        if (verdict === 'unblock') await decideUser(user.id, 'block', operator);
        const [deleted, decided] = await Promise.all([
          user.triesToLeave(),
          decideUser(user.id, verdict, operator).then(
            () => true,
            ({ status }) => status !== 404,
          ),
        ]);
        expect(deleted).toHaveStatus(200);
        const block = await blockOf(await enter());
        expect(block !== undefined).toBe(decided === (verdict === 'block'));
      }
    },
  );

  test('racing with many sign-ins leads to one account, which is blocked', async () => {
    const { enter } = makeIdentity();
    const first = await enter();
    await decideUser(first.id, 'block', operator);
    const [{ status }] = await Promise.all([
      first.triesToLeave(),
      ...Array.from({ length: 8 }, enter),
    ]);
    expect(status).toBe(200);
    const after = await Promise.all(Array.from({ length: 8 }, enter));
    expect(new Set(after.map((user) => user.id)).size).toBe(1);
    expect(await blockOf(after[0] as Person)).toBeDefined();
  });

  test('does not change an identity that leads to another account', async () => {
    const { enter } = makeIdentity();
    const first = await enter();
    const key = identityKey(`${(await readItem(contactKey(first.id)))?.identity}`);
    const other = await makeUser();
    await setAttributes(key, { user_id: other.id });
    await first.leaves();
    expect(await readItem(key)).toMatchObject({ user_id: other.id });
  });
});
