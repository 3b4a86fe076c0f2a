import { randomUUID } from 'node:crypto';
import { findLeftovers, type Leftovers } from '../../../shared/account/erase-leftovers.ts';
import { batchWrite } from '../../../shared/table/batch.ts';
import {
  applicationKey,
  caseKey,
  claimKey,
  contactKey,
  countsKey,
  dailyVotesKey,
  decisionKey,
  entityKey,
  grantKey,
  reportKey,
  reviewKey,
  revisionKey,
  userKey,
  voteKey,
} from '../../../shared/table/keys.ts';
import '../../helpers/table.ts';

/** A user, a review and an application, by their ids. */
interface Ids {
  user: string;
  review: string;
  application: string;
}

const now = new Date().toISOString();
const whole = ({ user, review, application }: Ids) => ({
  user: userKey(user),
  review: { ...reviewKey(review), user_id: user },
  application: { ...applicationKey(application), user_id: user },
});

const found: [string, (ids: Ids) => object, keyof Leftovers, keyof Ids][] = [
  ['a revision', ({ review }) => revisionKey(review, 1), 'reviews', 'review'],
  ['a case', ({ review }) => caseKey(review), 'reviews', 'review'],
  ['a vote', ({ review, user }) => voteKey(review, user), 'reviews', 'review'],
  ['a vote', ({ review, user }) => voteKey(review, user), 'users', 'user'],
  ['a report', ({ review, user }) => reportKey(review, user), 'reviews', 'review'],
  ['a report', ({ review, user }) => reportKey(review, user), 'users', 'user'],
  ['a grant', ({ user, application }) => grantKey(user, application, '1'), 'users', 'user'],
  [
    'a grant',
    ({ user, application }) => grantKey(user, application, '1'),
    'applications',
    'application',
  ],
  ['a claim', ({ user }) => claimKey(user, randomUUID()), 'users', 'user'],
  ['a contact', ({ user }) => contactKey(user), 'users', 'user'],
  ['counts', ({ user }) => countsKey(user), 'users', 'user'],
  ['votes of a day', ({ user }) => dailyVotesKey(user, '2026-11-24'), 'users', 'user'],
  ['a review', (ids) => whole(ids).review, 'users', 'user'],
  ['an application', (ids) => whole(ids).application, 'users', 'user'],
  [
    'a decision that lists the person',
    ({ user }) => ({ ...decisionKey(randomUUID()), user_id: user, author: `SUBJECT#${user}` }),
    'users',
    'user',
  ],
];

test.each(found)(
  '%s is found without its owner, and not with it (%#)',
  async (_, itemOf, list, of) => {
    const alone = { user: randomUUID(), review: randomUUID(), application: randomUUID() };
    const owned = { user: randomUUID(), review: randomUUID(), application: randomUUID() };
    await batchWrite([
      { put: itemOf(alone) as never },
      { put: whole(owned)[of] as never },
      { put: itemOf(owned) as never },
    ]);
    const leftovers = await findLeftovers();
    expect(leftovers[list]).toContain(alone[of]);
    expect(leftovers[list]).not.toContain(owned[of]);
  },
);

test.each<[string, (id: string) => object, keyof Leftovers]>([
  ['a user who is being deleted', (id) => ({ ...userKey(id), deleted_at: now }), 'users'],
  ['a review that is being deleted', (id) => ({ ...reviewKey(id), deleted_at: now }), 'reviews'],
  [
    'an application whose grants end',
    (id) => ({ ...applicationKey(id), revoked_at: now }),
    'applications',
  ],
  ['an author whose reviews are to be hidden', (id) => ({ ...userKey(id), hiding: 'x' }), 'hiding'],
  ['an entity without reviews', (id) => ({ ...entityKey(id), version: 1 }), 'entities'],
])('%s is found', async (_, itemOf, list) => {
  const id = randomUUID();
  await batchWrite([{ put: itemOf(id) as never }]);
  expect((await findLeftovers())[list]).toContain(id);
});

test('a decision that is reduced to ids is no leftover', async () => {
  const user_id = randomUUID();
  await batchWrite([{ put: { ...decisionKey(randomUUID()), user_id } as never }]);
  expect((await findLeftovers()).users).not.toContain(user_id);
});
