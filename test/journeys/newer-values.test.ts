import { randomUUID } from 'node:crypto';
import { handler as batchGetReviews } from '../../functions/api/batch-get-reviews.ts';
import { handler as getUserFeed } from '../../functions/api/get-user-feed.ts';
import { handler as listMyApplications } from '../../functions/api/list-my-applications.ts';
import type { Key } from '../../shared/base/table/item.ts';
import { collect } from '../../shared/base/table/query.ts';
import {
  applicationKey,
  caseKey,
  claimKey,
  contactKey,
  decisionKey,
  grantKey,
  reportKey,
  reviewKey,
  revisionKey,
  userKey,
  voteKey,
} from '../../shared/core/keys.ts';
import {
  insertApplication,
  scanApplications,
} from '../../shared/core/oauth/application-repository.ts';
import { nobody } from '../../shared/core/oauth/grant.ts';
import { listGrants, listGrantsOf } from '../../shared/core/oauth/grant-repository.ts';
import {
  createPersonalToken,
  listPersonalTokens,
} from '../../shared/core/oauth/personal-token-repository.ts';
import { listDecisions } from '../../shared/core/report/decision-log.ts';
import { readReports } from '../../shared/core/report/report-repository.ts';
import { findChangedReviews } from '../../shared/core/review/read-reviews.ts';
import { listAccounts } from '../../shared/core/user/user-repository.ts';
import { silenceAll } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import {
  idsOf,
  makeGrant,
  makeModerator,
  makeUser,
  makeUsers,
  signIn,
  visitor,
} from '../helpers/world.ts';

// After a deployment is taken back, the table has values that this code does not know.

const logged = silenceAll('error');

/** Stores a value of newer code, and expects the log to name it once, without the value. */
async function plant({ pk, sk }: Key, field: string, value: unknown = 'newer') {
  await setAttributes({ pk, sk }, { [field]: value });
  return () => {
    const lines = logged.mock.calls.map(([line]) => line);
    const named = lines.filter((line) => line.pk === pk && line.sk === sk);
    const path = expect.stringMatching(new RegExp(`^${field}\\b`));
    expect(named).toEqual([
      {
        message: 'A stored item cannot be read',
        pk,
        sk,
        field: path,
        expected: expect.any(String),
      },
    ]);
    expect(JSON.stringify(named)).not.toContain('newer');
  };
}

const moderator = await makeModerator('Mo');

test.each([
  ['a type', 'entity_type', 'newer'],
  ['a rating', 'rating', 6],
  ['a decision', 'moderation', { decision: 'newer', reason: 'spam', note: '', decided_at: '' }],
])('a review with %s of newer code is in no list, and alone an error', async (_, field, value) => {
  const entity_id = randomUUID();
  const [ann, ben, cleo] = await makeUsers(3);
  const newer = await ann.publishes({ entity_id });
  const other = await ann.publishes();
  const last = await ben.publishes({ entity_id });
  await ben.votes(newer);
  await ben.reports(newer);
  await moderator.decides(newer, 'dismiss');
  await cleo.reports(newer);
  await ben.reports(other);
  const expectLog = await plant(reviewKey(newer), field, value);
  expect(idsOf((await visitor.lists({ entity_id })).body.reviews)).toEqual([last]);
  expect(idsOf((await visitor.lists({ user_id: ann.id })).body.reviews)).toEqual([other]);
  expect(idsOf((await ann.listsOwnReviews()).body.reviews)).toEqual([other]);
  const query = { review_ids: [newer, other].join() };
  expect(Object.keys((await invoke(batchGetReviews, { query })).body.reviews)).toEqual([other]);
  const feed = await invoke(getUserFeed, { path: { user_id: ann.id } });
  expect([feed.body.includes(newer), feed.body.includes(other)]).toEqual([false, true]);
  for (const [operation, person, path] of [
    ['show-user', ben, { user_id: ann.id }],
    ['show-my-reviews', ann, {}],
    ['show-cases', moderator, {}],
    ['show-author', moderator, { user_id: ann.id }],
  ] as const) {
    const { status, html } = await ask(operation, person, { path });
    expect([operation, status, html.includes(other)]).toEqual([operation, 200, true]);
    // The log of decisions still links to it.
    const reviews = html.replace(/<h2>Decisions so far<[\s\S]*/, '');
    expect(reviews).not.toContain(newer);
  }
  const votes = await ask('show-my-votes', ben);
  expect([votes.status, votes.html.includes('not public any more')]).toEqual([200, true]);
  expect(await ask('show-account', ann)).toHaveStatus(200);
  const changes = [newer, other].map((id) => ({ id, version: 1, kind: 'edited' }));
  const changed = (await findChangedReviews(changes)).map(({ review }) => review.id);
  expect(changed).toEqual([other]);
  const exported = idsOf((await ann.exports()).body.reviews);
  expect(exported).toEqual([other]);
  expectLog();
  expect(await visitor.reads(newer)).toHaveStatus(500);
});

test('an author with a value of newer code is in no list, and alone an error', async () => {
  const entity_id = randomUUID();
  const [ann, ben] = await makeUsers(2);
  await ann.publishes({ entity_id });
  const last = await ben.publishes({ entity_id });
  const zoe = await signIn();
  const expectLog = await plant(userKey(ann.id), 'karma');
  const expectOther = await plant(contactKey(zoe.id), 'email', 5);
  const { reviews } = (await visitor.lists({ entity_id })).body;
  expect(reviews).toMatchObject([{ id: last }]);
  const accounts = (await collect(listAccounts())).map(({ user }) => user.id);
  expect(accounts).toContain(ben.id);
  for (const { id } of [ann, zoe]) expect(accounts).not.toContain(id);
  expectLog();
  expectOther();
  expect(await visitor.readsUser(ann.id)).toHaveStatus(500);
});

test('a revision of newer code is left out, and alone an error', async () => {
  const ann = await makeUser();
  const id = await ann.publishes();
  for (const rating of [1, 2, 3]) await ann.edits(id, { rating });
  const expectLog = await plant(revisionKey(id, 1), 'rating', 6);
  const { revisions } = (await visitor.listsRevisions(id)).body;
  const numbers = [4, 3, 2];
  expect(revisions.map((each: { id: number }) => each.id)).toEqual(numbers);
  const exported = (await ann.exports()).body.reviews.flatMap(
    (each: { revisions: { id: number }[] }) => each.revisions.map((revision) => revision.id),
  );
  expect(exported).toEqual(numbers.toReversed());
  expectLog();
  expect(await visitor.readsRevision(id, '1')).toHaveStatus(500);
});

test('a case of newer code is not in the queue, and alone an error', async () => {
  const [ann, ben] = await makeUsers(2);
  const newer = await ann.publishes();
  const other = await ann.publishes();
  for (const id of [newer, other]) await ben.reports(id);
  const expectLog = await plant(caseKey(newer), 'state');
  const html = await pageFor('show-cases', moderator);
  expect([html.includes(newer), html.includes(other)]).toEqual([false, true]);
  expectLog();
  const path = { review_id: newer };
  expect(await ask('show-case', moderator, { path })).toHaveStatus(500);
});

test('a decision of newer code is left out of the logs', async () => {
  const ann = await makeUser();
  const first = await ann.publishes();
  const second = await ann.publishes();
  for (const id of [first, second]) await moderator.decides(id, 'hide');
  const { decisions } = await listDecisions(50, { userId: ann.id });
  const newer = decisions.find(({ review_id }) => review_id === first);
  const expectLog = await plant(decisionKey(`${newer?.id}`), 'decision');
  const left = await listDecisions(50, { userId: ann.id });
  expect(left.decisions).toMatchObject([{ review_id: second }]);
  expect(await ask('show-decisions', moderator)).toHaveStatus(200);
  expect(await ask('show-account', ann)).toHaveStatus(200);
  expect((await ann.exports()).body.decisions).toHaveLength(1);
  expectLog();
});

test('votes, reports and marked claims of newer code are left out of lists', async () => {
  const [ann, ben] = await makeUsers(2);
  const entity_id = randomUUID();
  const newer = await ann.publishes({ entity_id });
  const other = await ann.publishes();
  for (const id of [newer, other]) await ben.votes(id);
  await ben.reports(newer);
  const expectLogs = [
    await plant(voteKey(newer, ben.id), 'vote'),
    await plant(reportKey(newer, ben.id), 'reported_at', 2030),
  ];
  expect(await pageFor('show-my-votes', ben)).toContain(other);
  expect(await ask('show-user', ben, { path: { user_id: ann.id } })).toHaveStatus(200);
  expect(await readReports({ review_id: newer, round: 0 })).toEqual({ open: [], earlier: [] });
  const { votes, reports } = (await ben.exports()).body;
  expect([votes.length, reports.length]).toEqual([1, 0]);
  await moderator.decides(newer, 'hide');
  await ann.deletes(newer);
  expectLogs.push(await plant(claimKey(ann.id, entity_id), 'entity_type'));
  const path = { user_id: ann.id };
  expect(await ask('show-author', moderator, { path })).toHaveStatus(200);
  for (const expectLog of expectLogs) expectLog();
});

test('applications, grants and tokens of newer code are left out of lists', async () => {
  const ann = await makeUser();
  const { grant } = await makeGrant(ann, ['review']);
  const other = await insertApplication(ann.id, {
    name: 'Other',
    desc: '',
    website: 'https://other.example/',
    redirect_uri: 'https://other.example/callback',
  });
  await createPersonalToken({ user_id: ann.id, name: 'Script', scopes: [], days: 30 });
  const [token] = await listPersonalTokens(ann.id);
  const expectLogs = [
    await plant(applicationKey(grant.client_id), 'name', 1),
    await plant(grantKey(ann.id, grant.client_id, grant.grant_id), 'scopes', ['newer']),
    await plant(grantKey(ann.id, nobody, `${token?.grant_id}`), 'scopes', ['newer']),
  ];
  const { applications } = (await invoke(listMyApplications, { caller: ann.caller })).body;
  expect(applications).toMatchObject([{ client_id: other.client_id }]);
  expect(await listGrants(ann.id, grant.client_id)).toEqual([]);
  expect(await listPersonalTokens(ann.id)).toEqual([]);
  expect(await collect(listGrantsOf(grant.client_id))).toEqual([]);
  const all = (await collect(scanApplications())).map(({ client_id }) => client_id);
  expect(all).toContain(other.client_id);
  expect(all).not.toContain(grant.client_id);
  for (const operation of ['show-connections', 'show-tokens', 'show-applications']) {
    expect(await ask(operation, ann)).toHaveStatus(200);
  }
  for (const expectLog of expectLogs) expectLog();
});
