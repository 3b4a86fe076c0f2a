/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { randomUUID } from 'node:crypto';
import { loadFunction } from '../../../../infra/local/invoke.ts';
import { routes } from '../../../../shared/base/routes.ts';
import { contactKey, userKey } from '../../../../shared/base/table/keys.ts';
import { insertAuthorizationRequest } from '../../../../shared/core/oauth/authorization-repository.ts';
import { createPersonalToken } from '../../../../shared/core/oauth/personal-token-repository.ts';
import { decideReview } from '../../../../shared/core/report/decision-repository.ts';
import { listFiles } from '../../../../shared/features/bring/brought-file.ts';
import { takeFile } from '../../../../shared/features/bring/take-file.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { stopUrl } from '../../../../shared/features/notices/pages/stop-mails.ts';
import { undoUrl } from '../../../../shared/features/notices/undo-link.ts';
import {
  insertWebhook,
  listWebhooks,
} from '../../../../shared/features/webhooks/webhook-repository.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { makeClient, makeCode, redeem } from '../../../helpers/oauth-client.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import { ask } from '../../../helpers/visit.ts';
import { makeUser, Person, reviewBody, text, visitor } from '../../../helpers/world.ts';

process.env.OIDC_LOGOUT_URL = 'https://id.example/logout';

const table = 'Date,Name,Year,Letterboxd URI,Rating\n2024-03-02,Solaris,1972,u,4';

const other = await makeUser();
const why = { reason: 'abuse', note: '', moderator_id: null } as const;
const profile = { display_name: 'Annie' };

/** A request of a user with a review, a vote, an application and a token. */
type Sent = Partial<Record<'path' | 'query' | 'body' | 'form', Record<string, string>>>;
interface Scene {
  user: Person;
  own: string;
  voted: string;
  unseen: string;
  client: Awaited<ReturnType<typeof makeClient>>;
}

/** Requests that a block refuses, by operation. Each succeeds for a user who is not blocked. */
const refused: Record<string, (scene: Scene) => Sent | Promise<Sent>> = {
  'create-review': () => ({ body: reviewBody() as Record<string, string> }),
  'update-review': ({ own }) => ({ path: { review_id: own }, body: { rating: 1 } as never }),
  'delete-review': ({ own }) => ({ path: { review_id: own } }),
  'put-vote': ({ unseen }) => ({ path: { review_id: unseen }, body: { vote: true } as never }),
  'delete-vote': ({ voted }) => ({ path: { review_id: voted } }),
  'send-vote': ({ unseen }) => ({ path: { review_id: unseen }, query: { vote: 'up' }, form: {} }),
  'report-review': ({ voted }) => ({ path: { review_id: voted }, body: {} }),
  'send-report': ({ voted }) => ({ path: { review_id: voted }, form: { reason: 'spam' } }),
  'publish-review': () => ({
    query: { entity_id: randomUUID(), entity_type: 'work' },
    form: { name: 'Blue', rating: '4', language: 'en', license_choice: 'CC0 1.0' },
  }),
  'save-naming': () => ({
    path: { entity_id: randomUUID() },
    query: { entity_type: 'work' },
    form: { name: 'Blue', seen: '' },
  }),
  'create-entity': () => ({ body: { name: 'Blue', entity_type: 'film' } }),
  'add-entity': () => ({
    form: { name: 'Blue', entity_type: 'film', entity_id: randomUUID() },
  }),
  'send-file': () => ({ form: { file: table } }),
  'decide-file': async ({ user }) => {
    const [file] = await listFiles(user.id);
    const sent = { site: 'letterboxd', rows: [], empty: 1, entity_type: 'work' } as const;
    const slot = file?.slot ?? (await takeFile(user.id, sent));
    return { path: { slot: `${slot}` }, form: { decision: 'continue' } };
  },
  'save-review': async ({ own }) => {
    const revision = (await visitor.reads(own)).headers.etag?.slice(1, 12) ?? '';
    return { path: { review_id: own }, form: { rating: '1', revision } };
  },
  'confirm-review-deletion': ({ own }) => ({ path: { review_id: own }, form: {} }),
  'update-me': () => ({ body: profile }),
  'update-account': () => ({ form: profile }),
  'register-application': ({ client }) => ({ form: registrationOf(client) }),
  'update-application': ({ client }) => ({ path: of(client), form: registrationOf(client) }),
  'register-webhook': ({ client }) => ({ path: of(client), form: webhookForm }),
  'update-webhook': async ({ client, user }) => {
    const address = 'https://receiver.example/before';
    const types = ['review.edited' as const];
    const [existing] = await listWebhooks(client.client_id);
    const webhook =
      existing ?? (await insertWebhook(client.client_id, user.id, { address, types }));
    const path = { client_id: client.client_id, webhook_id: webhook.id };
    return { path, form: { action: 'save', ...webhookForm } };
  },
  'create-personal-token': () => ({ form: { name: 'Script', days: '7' } }),
  'answer-authorization': async ({ client }) => ({
    query: { request_id: await askedBy(client) },
    form: { decision: 'approve' },
  }),
};

/** Requests that a block allows: leaving, revoking access and appealing. */
const allowed: Record<string, (scene: Scene) => Sent | Promise<Sent>> = {
  'sign-out': () => ({ form: {} }),
  'rotate-secret': ({ client }) => ({ path: of(client), form: {} }),
  'revoke-application': ({ client }) => ({ path: of(client), form: { everybody: 'yes' } }),
  'revoke-connection': ({ client }) => ({ path: of(client), form: {} }),
  'update-mails': () => ({ form: { shown: 'news' } }),
  'stop-mails': async ({ user: { id } }) => {
    await setAttributes(contactKey(id), { email: 'ann@example.org' });
    const url = await stopUrl({ user_id: id, kind: 'news', address: 'ann@example.org' });
    return { path: { token: url.replace(/.*\//, '') }, form: {} };
  },
  'undo-move': async ({ user: { id } }) => {
    const from = 'e'.repeat(64);
    await setAttributes(contactKey(id), { identity: from });
    return { path: { move: (await undoUrl({ user_id: id, from })).replace(/.*\//, '') }, form: {} };
  },
  'revoke-personal-token': () => ({ path: { token_id: 'f'.repeat(32) }, form: {} }),
  'delete-application': ({ client }) => ({ path: of(client), form: { confirm: 'yes' } }),
  'appeal-decision': async ({ own }) => {
    await decideReview(own, 'hide', why);
    return { path: { review_id: own }, form: {} };
  },
  'delete-account': () => ({ form: { name: 'Ann' } }),
  'delete-me': () => ({}),
};

const webhookForm = { address: 'https://receiver.example/', 'review.edited': 'yes' };

const of = ({ client_id }: Scene['client']) => ({ client_id });

function registrationOf({ website, redirect_uri }: Scene['client']) {
  return { name: 'Shelf', desc: '', website, redirect_uri };
}

function askedBy({ client_id, name, redirect_uri }: Scene['client']) {
  const asked = { client_id, name, redirect_uri, scopes: [], state: null, code_challenge: null };
  return insertAuthorizationRequest(asked);
}

async function makeScene(): Promise<Scene> {
  const user = await makeUser();
  const own = await user.publishes();
  const voted = await other.publishes();
  const unseen = await other.publishes();
  await user.votes(voted);
  return { user, own, voted, unseen, client: await makeClient(user) };
}

async function send(operation: string, { user }: Scene, { path, query, body, form }: Sent) {
  if (form !== undefined) return ask(operation, user, { path, query, form });
  const method = routes.find((each) => each.operation === operation)?.method;
  const headers = { 'Content-Type': 'application/json' };
  const { caller } = user;
  return invoke(await loadFunction(operation), { method, path, query, caller, headers, body });
}

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
    const known = [...Object.keys(refused), ...Object.keys(allowed), ...others, ...moderators];
    const writing = routes.filter((route) => route.table === 'write');
    expect(writing.map(({ operation }) => operation).toSorted()).toEqual(known.toSorted());
  });

  test.each(Object.keys(refused))('may not %s', async (operation) => {
    const scene = await makeScene();
    const sent = (await refused[operation]?.(scene)) ?? {};
    await decideUser(scene.user.id, 'block', why);
    const answer = await send(operation, scene, sent);
    expect(answer).toHaveStatus(403);
    if (sent.form) expect(answer.body).toContain(`<p>${blocked}.</p>`);
    else expect(answer.body).toEqual({ error: 'access_denied', description: blocked });
    await decideUser(scene.user.id, 'unblock', why);
    expect((await send(operation, scene, sent)).status).toBeLessThan(400);
  });

  test('may not send a change of nothing', async () => {
    const { user, own } = await makeScene();
    expect(await user.edits(own, {})).toHaveStatus(200);
    await decideUser(user.id, 'block', why);
    for (const body of [{}, { text }, { is_draft: false }]) {
      const answer = await user.edits(own, body);
      expect(answer).toHaveStatus(403);
      expect(answer.body.description).toEqual(blocked);
    }
  });

  test('gets no access for its applications by a code from before the block', async () => {
    const { user, client } = await makeScene();
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
  const held = Object.keys(refused).filter((operation) => operation !== 'delete-vote');
  test.each(held)('may not %s if blocked at the last moment', async (operation) => {
    const scene = await makeScene();
    const sent = (await refused[operation]?.(scene)) ?? {};
    let isBlocked = false;
    beforeTransaction(async () => {
      isBlocked = true;
      await setAttributes(userKey(scene.user.id), { blocked_at: new Date().toISOString() });
    });
    expect(await send(operation, scene, sent)).toHaveStatus(403);
    expect(isBlocked).toBe(true);
  });

  test.each(Object.keys(allowed))('may %s', async (operation) => {
    const scene = await makeScene();
    const sent = (await allowed[operation]?.(scene)) ?? {};
    await decideUser(scene.user.id, 'block', why);
    expect((await send(operation, scene, sent)).status).toBeLessThan(400);
  });

  test('gets no new tokens, and has the type Blocked whatever the karma', async () => {
    const { user, client } = await makeScene();
    const code = await makeCode(client, user);
    await setAttributes(userKey(user.id), { karma: 5000 });
    await decideUser(user.id, 'block', why);
    const body = { error: 'invalid_grant' };
    expect(await redeem(client, code)).toMatchObject({ status: 400, body });
    const token = createPersonalToken({ user_id: user.id, name: 'Script', scopes: [], days: 7 });
    await expect(token).rejects.toHaveStatus(403);
    const getUser = await loadFunction('get-user');
    const read = () => invoke(getUser, { path: { user_id: user.id } });
    expect((await read()).body.user.user_type).toBe('Blocked');
    await decideUser(user.id, 'unblock', why);
    expect((await read()).body.user.user_type).toBe('Sorcerer');
    await setAttributes(userKey(user.id), { karma: 0 });
  });

  test('can read as before', async () => {
    const scene = await makeScene();
    await decideUser(scene.user.id, 'block', why);
    for (const operation of ['get-me', 'list-my-reviews', 'list-my-tokens']) {
      const handler = await loadFunction(operation);
      expect(await invoke(handler, { caller: scene.user.caller })).toHaveStatus(200);
    }
    const { status, html } = await ask('show-account', scene.user);
    expect(status).toBe(200);
    expect(html.includes('Account blocked: abuse')).toBe(true);
  });
});

test('a blocked deleted account is refused as deleted', async () => {
  const gone = { ...(await makeScene()), user: new Person(randomUUID()) };
  const answer = await send('create-review', gone, { body: reviewBody() as never });
  expect(answer).toHaveStatus(401);
  expect(answer.body.error).toBe('invalid_token');
});

test('refused requests have changed no number', async () => {
  await expectExact();
});
