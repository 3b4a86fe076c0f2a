import { randomUUID } from 'node:crypto';
import { loadFunction } from '../../infra/local/invoke.ts';
import { contactKey } from '../../shared/core/keys.ts';
import { insertAuthorizationRequest } from '../../shared/core/oauth/authorization-repository.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { listFiles } from '../../shared/features/bring/brought-file.ts';
import { takeFile } from '../../shared/features/bring/take-file.ts';
import { stopUrl } from '../../shared/features/notices/pages/stop-mails.ts';
import { undoUrl } from '../../shared/features/notices/undo-link.ts';
import { insertWebhook, listWebhooks } from '../../shared/features/webhooks/webhook-repository.ts';
import { call, invoke } from './invoke.ts';
import { setAttributes } from './items.ts';
import { makeClient } from './oauth-client.ts';
import { routeOf } from './routes.ts';
import { pageRequest, signInAs } from './visit.ts';
import { makeUsers, type Person, reviewBody, visitor } from './world.ts';

/** A file from Letterboxd. */
const ratings = 'Date,Name,Year,Letterboxd URI,Rating\n2024-03-02,Solaris,1972,u,4';

/** The parts of a request. A page takes a form. */
export type Sent = Partial<Record<'path' | 'query' | 'body' | 'form', Record<string, string>>>;

/** A person with a review, a vote and an application, and what somebody else has written. */
export interface Writing {
  user: Person;
  own: string;
  voted: string;
  unseen: string;
  client: Awaited<ReturnType<typeof makeClient>>;
}

/**
 * A legal request of each route that writes, but for the sign-in, tokens, and forms of moderators,
 * which repeat what a page shows.
 */
export const writes: Record<string, (scene: Writing) => Sent | Promise<Sent>> = {
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
  'send-file': () => ({ form: { file: ratings } }),
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
  'update-me': () => ({ body: { display_name: 'Annie' } }),
  'update-account': () => ({ form: { display_name: 'Annie' } }),
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
  'sign-out': () => ({ form: {} }),
  'rotate-secret': ({ client }) => ({ path: of(client), form: {} }),
  'revoke-application': ({ client }) => ({ path: of(client), form: { everybody: 'yes' } }),
  'revoke-connection': ({ client }) => ({ path: of(client), form: {} }),
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
    await decideReview(own, 'hide', { reason: 'abuse', note: '', moderator_id: null });
    return { path: { review_id: own }, form: {} };
  },
  'delete-account': () => ({ form: { name: 'Ann' } }),
  'delete-me': () => ({}),
};

const webhookForm = { address: 'https://receiver.example/', 'review.edited': 'yes' };

const of = ({ client_id }: Writing['client']) => ({ client_id });

function registrationOf({ website, redirect_uri }: Writing['client']) {
  return { name: 'Shelf', desc: '', website, redirect_uri };
}

function askedBy({ client_id, name, redirect_uri }: Writing['client']) {
  const asked = { client_id, name, redirect_uri, scopes: [], state: null, code_challenge: null };
  return insertAuthorizationRequest(asked);
}

/** Makes the person, and the reviews of another. */
export async function makeWriting(): Promise<Writing> {
  const [user, other] = await makeUsers(2);
  const own = await user.publishes();
  const voted = await other.publishes();
  const unseen = await other.publishes();
  await user.votes(voted);
  return { user, own, voted, unseen, client: await makeClient(user) };
}

/** Returns a request as its route takes it: a form of a page with the session, or JSON. */
export async function requestOf(operation: string, { user }: Writing, sent: Sent) {
  const { path, query, body, form } = sent;
  const route = routeOf(operation);
  if (form === undefined) {
    const headers = { 'Content-Type': 'application/json' };
    return { method: route.method, path, query, caller: user.caller, headers, body };
  }
  const { cookie, csrf } = await signInAs(user.id);
  return pageRequest(route, { path, query, headers: { cookie }, form: { ...form, csrf } });
}

/** Sends a request. */
export async function sendWrite(operation: string, writing: Writing, sent: Sent) {
  const handler = await loadFunction(operation);
  const request = await requestOf(operation, writing, sent);
  return sent.form ? call(handler, request, routeOf(operation)) : invoke(handler, request);
}
