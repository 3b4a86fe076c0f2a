import { sumsKey } from '../base/list/keys.ts';
import type { Kind } from '../base/table/kind.ts';
import {
  accountMailKey,
  addressKey,
  applicationKey,
  authorizationRequestKey,
  bulkImportKey,
  caseKey,
  claimKey,
  codeKey,
  contactKey,
  countsKey,
  dailyVotesKey,
  decisionKey,
  deferredKey,
  deskPartitions,
  entityKey,
  grantKey,
  idempotencyKey,
  identityKey,
  longTextKey,
  metadataKey,
  moderatorNameKey,
  noticeKey,
  reportKey,
  reviewKey,
  revisionKey,
  userKey,
  voteKey,
  waitingKey,
} from './keys.ts';

/** Kinds of items that the core and the base store, in the order of an export. */
export const coreKinds = {
  user: {
    key: userKey,
    all: 'USER',
    author: 'MODERATOR',
    kilobytes: 2,
    own: 'profile',
    isCounted: true,
    writers: [
      'votes',
      'reports',
      'reviews',
      'profile',
      'accounts',
      'grants',
      'hooks',
      'counters',
      'lists',
    ],
  },
  // Private fields of the account. Listed by the time of the next digest, if one is asked for.
  contact: {
    key: contactKey,
    all: 'DIGEST',
    kilobytes: 4,
    beside: 'user',
    own: 'profile',
    writers: ['profile', 'accounts', 'notices'],
  },
  // The user that an issuer and subject sign in to. After its deletion: its block, and at most 200
  // hidden and 60 reported reviews. After a move, for a week: the user that it had.
  identity: {
    key: identityKey,
    kilobytes: 64,
    own: 'profile',
    writers: ['accounts'],
  },
  // Two URLs of 2,000 characters, and a description of 500.
  application: {
    key: applicationKey,
    author: 'OWNER#<user_id>',
    kilobytes: 8,
    own: 'applications',
    isCounted: true,
    writers: ['accounts', 'grants'],
  },
  grant: {
    key: grantKey,
    author: 'CLIENT#<client_id>',
    own: 'connections',
  },
  // The one review that a user has of an entity. After its deletion: a hidden one, which is listed,
  // or the undecided reports.
  claim: {
    key: claimKey,
    author: 'HIDDEN#<user_id>',
    own: 'hidden_and_deleted',
    isCounted: true,
  },
  // The record of an entity: three texts of 200 characters, two URLs of 2,048, and 22 ids of things
  // that are the same. By a person, in the queue of a database, or named by a newcomer and waiting.
  entity: {
    key: metadataKey,
    all: ['DUE#<database>', deskPartitions.name],
    author: 'NAMER#<user_id>',
    kilobytes: 8,
    isLasting: true,
    own: 'names',
    isCounted: true,
    writers: ['reviews', 'asks', 'lists'],
  },
  // 5,000 characters of four bytes, and 3,800 bytes of other fields, which imports check. Of a
  // longer text it has the beginning. Older code has stored the whole: `audit --repair` moves it.
  // A draft or hidden one is listed by its author alone.
  review: {
    key: reviewKey,
    all: 'REVIEW',
    type: '<entity_type>',
    facet: '<entity_type>|<language>',
    entity: '<entity_id>',
    author: ['<user_id>', 'UNLISTED#<user_id>'],
    kilobytes: 24,
    own: 'reviews',
    isCounted: true,
    writers: ['votes', 'reports', 'reviews', 'accounts', 'lists'],
  },
  // An imported text that is longer than people write, of 390,000 bytes in JSON: the current one.
  text: {
    key: longTextKey,
    kilobytes: 390,
    beside: 'review',
    isCounted: true,
  },
  // An earlier one; the review holds the current one. `number` has six digits. An imported one has
  // a longer text, up to 390 KB.
  revision: {
    key: revisionKey,
    kilobytes: 22,
    beside: 'review',
    isCounted: true,
  },
  vote: {
    key: voteKey,
    author: 'VOTER#<user_id>',
    beside: 'review',
    own: 'votes',
    isCounted: true,
  },
  // A reason of 1,000 characters.
  report: {
    key: reportKey,
    author: 'REPORTER#<user_id>',
    kilobytes: 5,
    beside: 'review',
    own: 'reports',
    isCounted: true,
  },
  // The text of an edit that waits for a moderator.
  waiting: {
    key: waitingKey,
    kilobytes: 22,
    beside: 'review',
    isCounted: true,
  },
  // A statement of 1,000 characters. Listed while it is open.
  case: {
    key: caseKey,
    all: [deskPartitions.report, deskPartitions.held, deskPartitions.appeal],
    kilobytes: 5,
    beside: 'review',
    isCounted: true,
  },
  // Two records, of a correction. Listed for its author, or for who gave or corrected a name.
  decision: {
    key: decisionKey,
    all: 'DECISION',
    author: ['SUBJECT#<user_id>', 'NAMING#<user_id>'],
    kilobytes: 16,
    isLasting: true,
    own: ['decisions', 'given_names'],
    writers: ['reviews'],
  },
  // 11 types, 183 languages and 11 contents.
  counts: {
    key: countsKey,
    kilobytes: 5,
    unexported: 'counted from reviews',
    isCounted: true,
  },
  // Also reports, publications and edits of the day (yyyy-mm-dd).
  dailyVotes: {
    key: dailyVotesKey,
    all: 'VOTES',
    unexported: 'counted from votes, kept for a month',
    own: 'votes_by_day',
  },
  moderatorName: {
    key: moderatorNameKey,
    unexported: 'counted from moderators',
    writers: ['reviews', 'profile', 'accounts'],
  },
  code: {
    key: codeKey,
    author: 'APPROVER#<user_id>',
    kilobytes: 4,
    unexported: 'lives for a minute',
    writers: ['accounts', 'grants'],
  },
  // A URL, and a state of 2,048 bytes.
  authorizationRequest: {
    key: authorizationRequestKey,
    kilobytes: 6,
    unexported: 'lives for minutes',
    writers: ['accounts', 'grants'],
  },
  // An account that waits for the person with an address.
  address: {
    key: addressKey,
    author: 'CLAIMABLE#<user_id>',
    unexported: 'made from verified addresses of accounts without an identity',
    writers: ['profile', 'accounts'],
  },
  // The answer to a request, by the hash of its user and key.
  idempotency: {
    key: idempotencyKey,
    unexported: 'lives for a day',
    writers: ['reports', 'reviews'],
  },
  entityCounts: {
    key: entityKey,
    kilobytes: 4,
    unexported: 'counted from reviews',
    isCounted: true,
    writers: ['reviews', 'lists'],
  },
  totals: {
    key: { form: { pk: 'TOTALS', sk: 'TOTAL#<entity_type>' } },
    kilobytes: 4,
    unexported: 'counted from reviews',
    writers: ['lists'],
  },
  // Three contents of 19 types. With counts of 100 million and the longest own names it has 1.3 KB,
  // and each publication then costs a unit more. Usually it has 0.6 KB.
  sums: {
    key: { form: sumsKey },
    kilobytes: 2,
    unexported: 'copied from totals',
  },
  // It grows by 12 bytes in three weeks for each content, as no other item does.
  treeRoot: {
    key: { form: { pk: 'TREE#<list>', sk: 'root' } },
    kilobytes: 64,
    unexported: 'counted from reviews and users',
    writers: ['lists'],
  },
  treeByDate: {
    key: { form: { pk: 'TREE#<list>#<path>', sk: 'date' } },
    kilobytes: 8,
    unexported: 'counted from reviews and users',
  },
  treeByPopularity: {
    key: { form: { pk: 'TREE#<list>#<path>', sk: 'popularity' } },
    kilobytes: 8,
    unexported: 'counted from reviews',
  },
  // Projections outlive what they are of, and expire by themselves.
  reviewProjection: {
    key: { form: { pk: 'REVIEW#<id>', sk: 'PROJECTION' } },
    unexported: 'what aggregates count of a review',
    isCounted: true,
  },
  userProjection: {
    key: { form: { pk: 'USER#<id>', sk: 'PROJECTION' } },
    unexported: 'what aggregates count of a user',
    isCounted: true,
  },
  // As many numbers as counts have.
  deferred: {
    key: deferredKey,
    kilobytes: 5,
    unexported: 'counts to be added to totals and upper nodes after a batch',
    writers: ['lists'],
  },
  // Held while totals and rank trees are rebuilt.
  rebuild: {
    key: { form: { pk: 'TOTALS', sk: 'REBUILD#<lane>' } },
    unexported: 'temporary',
  },
  // Exists until everything imported is counted.
  bulkImport: {
    key: { form: bulkImportKey },
    unexported: 'temporary',
  },
  lastRun: {
    key: { form: { pk: 'HEALTH', sk: 'DONE#<task>' } },
    unexported: 'times of jobs and backups of this table',
    writers: ['health', 'counters', 'lists'],
  },
  // News that wait to be told by mail. The job drops those of accounts that are gone.
  notice: {
    key: noticeKey,
    unexported: 'lives for two days',
    writers: ['notices'],
  },
  // A mail to a former address of an account, with the address.
  accountMail: {
    key: accountMailKey,
    unexported: 'lives for three days',
    writers: ['accounts', 'notices'],
  },
} as const satisfies Record<string, Kind>;
