import { hash, randomUUID } from 'node:crypto';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import type { Item, Key } from '../../../../shared/base/table/item.ts';
import { waitInLine } from '../../../../shared/base/table/pace.ts';
import { tryUpdate } from '../../../../shared/base/table/transact.ts';
import {
  addressKey,
  applicationKey,
  authorizationRequestKey,
  bulkImportKey,
  caseKey,
  claimKey,
  codeKey,
  contactKey,
  entityKey,
  grantKey,
  identityKey,
  projectionKey,
  reviewKey,
  userKey,
  voteKey,
  webhookKey,
} from '../../../../shared/core/keys.ts';
import {
  deleteApplication,
  eraseGrants,
  rotateSecret,
} from '../../../../shared/core/oauth/application-repository.ts';
import {
  answerAuthorization,
  insertAuthorizationRequest,
} from '../../../../shared/core/oauth/authorization-repository.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { eraseEntity, eraseRemains } from '../../../../shared/core/review/erase.ts';
import { hashOfAddress } from '../../../../shared/core/user/claimable.ts';
import { setModerator, updateProfile } from '../../../../shared/core/user/name-repository.ts';
import { newsUpdate } from '../../../../shared/core/user/news.ts';
import { findUser, getUser, markRead } from '../../../../shared/core/user/user-repository.ts';
import { detachIdentity } from '../../../../shared/features/account/detach-identity.ts';
import { linkIdentity } from '../../../../shared/features/account/link.ts';
import { laneKey } from '../../../../shared/features/changes/kinds.ts';
import { laneOf, logChanges } from '../../../../shared/features/changes/log.ts';
import { paceKey } from '../../../../shared/features/databases/kinds.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { allowReview } from '../../../../shared/features/moderation/hidden-claims.ts';
import { undoAll } from '../../../../shared/features/moderation/undo-all.ts';
import { beginBulk } from '../../../../shared/features/transfer/bulk.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { continueWebhook } from '../../../../shared/features/webhooks/webhook-actions.ts';
import {
  deleteWebhook,
  insertWebhook,
} from '../../../../shared/features/webhooks/webhook-repository.ts';
import { silenceAll } from '../../../helpers/console.ts';
import { fateOf } from '../../../helpers/guards.ts';
import { readItem, scanTable, setAttributes } from '../../../helpers/items.ts';
import { makeClient, makeCode, redeem, refresh } from '../../../helpers/oauth-client.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { recordTime, sourced } from '../../../helpers/transfer.ts';
import { makeWebhook } from '../../../helpers/webhooks.ts';
import { makeModerator, makeUser, makeUsers, signIn } from '../../../helpers/world.ts';

// A condition holds what a write was decided by. Each row changes one attribute just before the
// write, as a race would. The write must then be refused.

silenceAll('error');

/** A write, and the key of the item that it is decided by. */
type Guarded = [act: () => Promise<unknown>, key: Key];
/** Each of the changes of the item must refuse the write. */
type Row = [name: string, scene: () => Promise<Guarded>, changes: Record<string, unknown>];

const later = '2030-01-01T00:00:00.000Z';
const byMia = async () => ({
  reason: 'spam' as const,
  note: '',
  moderator_id: (await makeModerator(`Mia ${randomUUID()}`)).id,
});

/** Imports an account that waits for its person. Returns how that person claims it. */
async function makeClaimable() {
  const id = randomUUID();
  const email = `${id}@old.example`;
  const contact = { email, email_verified: true, musicdb_username: null };
  const record = { kind: 'user', id, display_name: 'Bea', created: recordTime, contact } as const;
  await importRecords(sourced([record]));
  return { id, email, claim: () => signIn({ email, email_verified: true }) };
}

async function reviewed() {
  const [author, voter] = await makeUsers(2);
  const entity_id = randomUUID();
  return { author, voter, entity_id, id: await author.publishes({ entity_id }) };
}

async function voted() {
  const scene = await reviewed();
  await scene.voter.votes(scene.id);
  return { ...scene, key: voteKey(scene.id, scene.voter.id) };
}

const application = async () => {
  const { id } = await makeUser();
  const { name, ...client } = await makeClient({ id });
  const question = { ...client, name, state: null, code_challenge: null, scopes: [] };
  return { id, client_id: client.client_id, ask: () => insertAuthorizationRequest(question) };
};

async function hook() {
  const webhook = await makeWebhook({ url: 'https://127.0.0.1/hook' });
  const key = webhookKey(webhook.client_id, webhook.slot);
  await setAttributes(key, { state: 'paused' });
  return { webhook, key };
}

/** A scene of what was made before. */
const on =
  <Made>(make: () => Promise<Made>, guarded: (made: Made) => Guarded) =>
  async () =>
    guarded(await make());

const rows: Row[] = [
  [
    'a change is counted once, for the owners that were read',
    async () => {
      const { author, id } = await reviewed();
      await applyStream();
      await author.edits(id, { rating: 1 });
      return [() => applyStream(), projectionKey(reviewKey(id))];
    },
    { version: 7_777, owners: ['other'] },
  ],
  [
    'a vote is decided by its review',
    on(reviewed, ({ voter, id }) => [() => voter.votes(id), reviewKey(id)]),
    { edits: 7, is_hidden: true },
  ],
  [
    'a first vote is decided by there being none',
    on(reviewed, ({ voter, id }) => [() => voter.votes(id), voteKey(id, voter.id)]),
    { vote: true },
  ],
  [
    'another vote is decided by the one before',
    on(voted, ({ voter, id, key }) => [() => voter.votes(id, 'down'), key]),
    { voted_at: later, vote: false, revision: 9 },
  ],
  [
    'a vote is withdrawn as it was read',
    on(voted, ({ voter, id, key }) => [() => voter.withdrawsVote(id), key]),
    { voted_at: later, vote: false, revision: 9 },
  ],
  [
    'an edit is decided by the review and the votes that it freezes',
    on(reviewed, ({ author, id }) => [() => author.edits(id, { rating: 1 }), reviewKey(id)]),
    {
      edits: 7,
      is_hidden: true,
      published_on: later,
      revision_votes_positive: 5,
      revision_votes_negative: 5,
    },
  ],
  [
    'a publication is decided by the votes that order it',
    async () => {
      const author = await makeUser();
      const id = await author.publishes({ is_draft: true });
      return [() => author.edits(id, { is_draft: false }), reviewKey(id)];
    },
    { popularity: 5 },
  ],
  [
    'a deletion is decided by the review that is uncounted',
    on(reviewed, ({ author, id }) => [() => author.deletes(id), reviewKey(id)]),
    { edits: 7, is_hidden: true, published_on: later, popularity: 5, deleted_at: later },
  ],
  [
    'a deletion is decided by there being no case',
    on(reviewed, ({ author, id }) => [() => author.deletes(id), caseKey(id)]),
    { version: 1 },
  ],
  [
    'a deletion is decided by the case',
    async () => {
      const { author, voter, id } = await reviewed();
      await voter.reports(id);
      return [() => author.deletes(id), caseKey(id)];
    },
    { version: 77 },
  ],
  [
    'a report is decided by its review',
    on(reviewed, ({ voter, id }) => [() => voter.reports(id), reviewKey(id)]),
    { all: 'HIDDEN' },
  ],
  [
    'a first report is decided by there being no case',
    on(reviewed, ({ voter, id }) => [() => voter.reports(id), caseKey(id)]),
    { version: 1 },
  ],
  [
    'another report is decided by the round of its case',
    async () => {
      const { voter, id } = await reviewed();
      await voter.reports(id);
      const other = await makeUser();
      return [() => other.reports(id), caseKey(id)];
    },
    { state: 'closed', round: 77 },
  ],
  [
    // Renames pass each other: the last one stays.
    'a profile is decided by the right of its account',
    on(makeUser, ({ id }) => [() => updateProfile(id, { display_name: 'Anna' }), userKey(id)]),
    { is_moderator: true },
  ],
  [
    'the right of a moderator is decided by the name',
    on(makeUser, ({ id }) => [() => setModerator(id, true), userKey(id)]),
    { display_name: 'Other', is_moderator: true },
  ],
  [
    'the end of an account is decided by the name and the right that it frees',
    on(makeUser, (user) => [() => user.leaves(), userKey(user.id)]),
    { display_name: 'Other', is_moderator: true },
  ],
  [
    'news are read that were seen',
    async () => {
      const { id } = await makeUser();
      await tryUpdate(newsUpdate(id, 'name'));
      const user = await getUser(id);
      return [() => markRead(user), userKey(id)];
    },
    { news_name: 2 },
  ],
  [
    'a block is decided by the account',
    async () => {
      const { id } = await makeUser();
      const by = await byMia();
      return [() => decideUser(id, 'block', by), userKey(id)];
    },
    { id: 'other', deleted_at: later, blocked_at: later, hiding: 'other', is_moderator: true },
  ],
  [
    'all reviews are hidden by the decision that says so',
    async () => {
      const { author } = await reviewed();
      await decideUser(author.id, 'hide_all', await byMia());
      return [() => undoAll(author.id), userKey(author.id)];
    },
    { hiding: 'other' },
  ],
  [
    'another review is allowed after the deletion of the hidden one that was seen',
    async () => {
      const { author, entity_id, id } = await reviewed();
      await setHidden(id, true);
      await author.deletes(id);
      const by = await byMia();
      return [() => allowReview(author.id, entity_id, by), claimKey(author.id, entity_id)];
    },
    { marked_at: later },
  ],
  [
    'an application is deleted by its owner',
    on(application, ({ id, client_id }) => [
      () => deleteApplication(client_id, id),
      applicationKey(client_id),
    ]),
    { user_id: 'other' },
  ],
  [
    'a secret follows the ones that were read',
    on(application, ({ id, client_id }) => [
      () => rotateSecret(client_id, id),
      applicationKey(client_id),
    ]),
    { secret_id: 'other', previous_secret: { id: 'other', until: later } },
  ],
  [
    'an answer is to the application that was shown',
    async () => {
      const { id, client_id, ask } = await application();
      const question = await ask();
      return [() => answerAuthorization(question, 'approve', id), applicationKey(client_id)];
    },
    { redirect_uri: 'https://other.example/', name: 'Other' },
  ],
  [
    'a question has one answer',
    async () => {
      const { id, ask } = await application();
      const question = await ask();
      return [
        () => answerAuthorization(question, 'approve', id),
        authorizationRequestKey(question),
      ];
    },
    { answer: { verdict: 'deny' } },
  ],
  [
    'a code is redeemed once',
    async () => {
      const user = await makeUser();
      const client = await makeClient(user);
      const code = await makeCode(client, user);
      return [() => redeem(client, code), codeKey(hash('sha256', code))];
    },
    { is_redeemed: true },
  ],
  [
    'a grant is refreshed once',
    async () => {
      const user = await makeUser();
      const client = await makeClient(user);
      const { body } = await redeem(client, await makeCode(client, user));
      const prefix = grantKey(user.id, client.client_id, '');
      const items = await scanTable();
      const { pk, sk } = items.find(
        (it) => it.pk === prefix.pk && it.sk.startsWith(prefix.sk),
      ) as Item;
      return [() => refresh(client, body.refresh_token), { pk, sk }];
    },
    { generation: 77 },
  ],
  [
    'a webhook is deleted that was seen',
    on(hook, ({ webhook, key }) => [() => deleteWebhook(webhook), key]),
    { id: 'other' },
  ],
  [
    'an account is detached from the identity that was read',
    async () => {
      const person = await signIn();
      const contact = (await readItem(contactKey(person.id))) as Item;
      await person.leaves();
      // As if the deletion had stopped before the identity.
      await batchWrite([
        { put: contact },
        { put: { ...identityKey(`${contact.identity}`), user_id: person.id } },
      ]);
      expect(await findUser(person.id)).toBeUndefined();
      return [() => detachIdentity(person.id), identityKey(`${contact.identity}`)];
    },
    { user_id: 'other', hidden: [], reported: [] },
  ],
  [
    'the log goes on after its end',
    async () => {
      return [() => logChanges([{ id: 'a', version: 1, kind: 'published' }]), laneKey(laneOf('a'))];
    },
    { latest: Date.now() + 1_000_000 },
  ],
  [
    'a place in line is taken once',
    async () => {
      const key = paceKey(`test-${randomUUID()}`);
      return [() => waitInLine({ Key: key, milliseconds: 1 }, () => 50), key];
    },
    { due_at: 5 },
  ],
  [
    'an entity is erased as it was read',
    async () => {
      const { author, entity_id, id } = await reviewed();
      await author.deletes(id);
      return [() => eraseEntity(entity_id), entityKey(entity_id)];
    },
    { version: 77 },
  ],
  [
    'a publication is decided by there being no review',
    async () => {
      const author = await makeUser();
      const entity_id = randomUUID();
      return [() => author.publishes({ entity_id }), claimKey(author.id, entity_id)];
    },
    { review_id: 'other' },
  ],
  [
    'remains are erased of a review that is gone',
    async () => {
      const { author, voter, id } = await reviewed();
      await author.deletes(id);
      await batchWrite([{ put: voteKey(id, voter.id) }]);
      return [() => eraseRemains(id), reviewKey(id)];
    },
    { version: 1 },
  ],
  [
    'grants are ended of an application as it was revoked',
    async () => {
      const user = await makeUser();
      const client = await makeClient(user);
      await redeem(client, await makeCode(client, user));
      await setAttributes(applicationKey(client.client_id), { revoked_at: later });
      return [() => eraseGrants(client.client_id), applicationKey(client.client_id)];
    },
    { revoked_at: '2031-01-01T00:00:00.000Z' },
  ],
  [
    'a webhook is changed that was read',
    on(hook, ({ webhook, key }) => [() => continueWebhook(webhook), key]),
    { id: 'other', version: 77 },
  ],
  [
    'a webhook is of an application of its owner',
    async () => {
      const { id, client_id } = await application();
      const form = { address: 'https://127.0.0.1/hook', types: ['review.edited' as const] };
      return [() => insertWebhook(client_id, id, form), applicationKey(client_id)];
    },
    { user_id: 'other' },
  ],
  [
    'a person signs in as the identity that was read',
    async () => {
      const subject = randomUUID();
      const person = await signIn({ subject });
      const { identity } = (await readItem(contactKey(person.id))) as Item;
      await person.leaves();
      return [() => signIn({ subject }), identityKey(`${identity}`)];
    },
    { user_id: 'other', blocked_at: later, hidden: [], reported: [] },
  ],
  [
    'an account is claimed by the address that was read',
    on(makeClaimable, ({ claim, email }) => [claim, addressKey(hashOfAddress(email))]),
    { user_id: randomUUID(), replaces: 'other' },
  ],
  [
    'an account is claimed that nobody has claimed since',
    on(makeClaimable, ({ claim, id }) => [claim, contactKey(id)]),
    { identity: 'other' },
  ],
  [
    'an account is claimed that is not deleted',
    on(makeClaimable, ({ claim, id }) => [claim, userKey(id)]),
    { deleted_at: later },
  ],
  [
    'an identity is linked instead of the one that was read',
    on(makeClaimable, ({ id }) => [
      () => linkIdentity(id, { sha256: 'f'.repeat(64) }),
      contactKey(id),
    ]),
    { identity: 'other' },
  ],
  // The last, because its mark stays.
  [
    'a bulk import ends its own mark',
    on(beginBulk, (end) => [end, bulkImportKey]),
    { id: 'other' },
  ],
];

const cases = rows.flatMap(([name, scene, changes]) =>
  Object.entries(changes).map(([attribute, value]) => [name, attribute, scene, value] as const),
);

test.each(cases)('%s: %s', async (_, attribute, scene, value) => {
  const [act, key] = await scene();
  expect(await fateOf(act, key, { [attribute]: value })).toBe('refused');
});
