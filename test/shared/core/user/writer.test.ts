/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { randomUUID } from 'node:crypto';
import { loadFunction } from '../../../../infra/local/invoke.ts';
import { routes } from '../../../../shared/base/routes.ts';
import { userKey } from '../../../../shared/core/keys.ts';
import { createPersonalToken } from '../../../../shared/core/oauth/personal-token-repository.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { makeCode, redeem } from '../../../helpers/oauth-client.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { routeOf } from '../../../helpers/routes.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import { ask } from '../../../helpers/visit.ts';
import {
  beginErasure,
  makeUser,
  Person,
  reviewBody,
  text,
  visitor,
} from '../../../helpers/world.ts';
import { makeWriting, sendWrite, writes } from '../../../helpers/writes.ts';

process.env.OIDC_LOGOUT_URL = 'https://id.example/logout';

const other = await makeUser();
const why = { reason: 'abuse', note: '', moderator_id: null } as const;

/** Requests that a block allows: leaving, revoking access and appealing. It refuses the others. */
const allowed = `
  sign-out rotate-secret revoke-application revoke-connection stop-mails undo-move
  revoke-personal-token delete-application appeal-decision delete-account delete-me`
  .trim()
  .split(/\s+/);
const refused = Object.keys(writes).filter((operation) => !allowed.includes(operation));

const blocked = 'A moderator has blocked this account: it can read and be deleted, but not write';

describe('a blocked account', () => {
  test('has a rule for every operation that writes', () => {
    const others = ['create-token', 'revoke-token', 'finish-sign-in', 'request-authorization'];
    // It marks news as read.
    others.push('show-account');
    // Operations of moderators, who are not blocked in these tests.
    const moderators = [
      'decide-review',
      'decide-user',
      'decide-proposal',
      'decide-thing',
      'undo-correction',
      'create-invitation',
      'revoke-invitation',
    ];
    const known = [...Object.keys(writes), ...others, ...moderators];
    const writing = routes.filter((route) => route.table === 'write');
    expect(writing.map(({ operation }) => operation).toSorted()).toEqual(known.toSorted());
  });

  test.each(refused)('may not %s', async (operation) => {
    const scene = await makeWriting();
    const sent = (await writes[operation]?.(scene)) ?? {};
    await decideUser(scene.user.id, 'block', why);
    const answer = await sendWrite(operation, scene, sent);
    expect(answer).toHaveStatus(403);
    if (sent.form) expect(answer.body).toContain(`<p>${blocked}.</p>`);
    else expect(answer.body).toEqual({ error: 'access_denied', description: blocked });
    await decideUser(scene.user.id, 'unblock', why);
    expect((await sendWrite(operation, scene, sent)).status).toBeLessThan(400);
  });

  test('may not send a change of nothing', async () => {
    const { user, own } = await makeWriting();
    expect(await user.edits(own, {})).toHaveStatus(200);
    await decideUser(user.id, 'block', why);
    for (const body of [{}, { text }, { is_draft: false }]) {
      const answer = await user.edits(own, body);
      expect(answer).toHaveStatus(403);
      expect(answer.body.description).toEqual(blocked);
    }
  });

  test('gets no access for its applications by a code from before the block', async () => {
    const { user, client } = await makeWriting();
    const code = await makeCode(client, other);
    const own = await makeCode(client, user);
    const error = { error: 'invalid_grant', error_description: 'code is not valid' };
    await decideUser(user.id, 'block', why);
    for (const each of [code, own]) {
      const answer = await redeem(client, each);
      expect(answer).toHaveStatus(400);
      expect(answer.body).toEqual(error);
    }
    await decideUser(user.id, 'unblock', why);
    expect(await redeem(client, code)).toHaveStatus(200);
  });

  // Its transaction does not include the voter.
  const held = refused.filter((operation) => operation !== 'delete-vote');
  test.each(held)('may not %s if blocked at the last moment', async (operation) => {
    const scene = await makeWriting();
    const sent = (await writes[operation]?.(scene)) ?? {};
    let isBlocked = false;
    beforeTransaction(async () => {
      isBlocked = true;
      await setAttributes(userKey(scene.user.id), { blocked_at: new Date().toISOString() });
    });
    expect(await sendWrite(operation, scene, sent)).toHaveStatus(403);
    expect(isBlocked).toBe(true);
  });

  test.each(allowed)('may %s', async (operation) => {
    const scene = await makeWriting();
    const sent = (await writes[operation]?.(scene)) ?? {};
    await decideUser(scene.user.id, 'block', why);
    expect((await sendWrite(operation, scene, sent)).status).toBeLessThan(400);
  });

  test('gets no personal token, and has the type Blocked whatever the karma', async () => {
    const { user } = await makeWriting();
    await setAttributes(userKey(user.id), { karma: 5000 });
    await decideUser(user.id, 'block', why);
    const token = createPersonalToken({ user_id: user.id, name: 'Script', scopes: [], days: 7 });
    await expect(token).rejects.toHaveStatus(403);
    const typeOf = async () => (await visitor.readsUser(user.id)).body.user.user_type;
    expect(await typeOf()).toBe('Blocked');
    await decideUser(user.id, 'unblock', why);
    expect(await typeOf()).toBe('Sorcerer');
    await setAttributes(userKey(user.id), { karma: 0 });
  });

  test('can read as before', async () => {
    const scene = await makeWriting();
    await decideUser(scene.user.id, 'block', why);
    for (const operation of ['get-me', 'list-my-reviews', 'list-my-tokens']) {
      const handler = await loadFunction(operation);
      expect(await invoke(handler, { caller: scene.user.caller })).toHaveStatus(200);
    }
    const { status, html } = await ask('show-account', scene.user);
    expect(status).toBe(200);
    expect(html).toContain('Account blocked: abuse');
  });
});

const byApi = Object.keys(writes).filter((operation) => routeOf(operation).base === undefined);

test.each(byApi)('an account that is being deleted may not %s', async (operation) => {
  const scene = await makeWriting();
  const sent = (await writes[operation]?.(scene)) ?? {};
  await beginErasure(scene.user);
  expect(await sendWrite(operation, scene, sent)).toMatchObject({
    status: 401,
    body: { error: 'invalid_token' },
    headers: { 'www-authenticate': expect.stringContaining('error="invalid_token"') },
  });
});

test('a blocked deleted account is refused as deleted', async () => {
  const gone = { ...(await makeWriting()), user: new Person(randomUUID()) };
  const answer = await sendWrite('create-review', gone, { body: reviewBody() as never });
  expect(answer).toHaveStatus(401);
  expect(answer.body.error).toBe('invalid_token');
});

test('refused requests have changed no number', async () => {
  await expectExact();
});
