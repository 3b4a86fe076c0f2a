import type { Within } from '../routes.ts';
import type { IndexScope } from './definition.ts';
import type { Item, Key } from './item.ts';
import {
  accountMailKey,
  addressKey,
  applicationKey,
  authorizationRequestKey,
  bulkImportKey,
  caseKey,
  changesKey,
  claimKey,
  codeKey,
  contactKey,
  countsKey,
  dailyVotesKey,
  decisionKey,
  deferredKey,
  deskPartitions,
  entityKey,
  epochKey,
  fileKey,
  grantKey,
  idempotencyKey,
  identityKey,
  invitationKey,
  laneKey,
  lastRunKey,
  longTextKey,
  mailedKey,
  metadataKey,
  moderatorNameKey,
  noticeKey,
  noticesPaceKey,
  paceKey,
  proposalKey,
  reportKey,
  reviewKey,
  revisionKey,
  rowsKey,
  searchKey,
  sumsKey,
  totalKey,
  userKey,
  voteKey,
  waitingKey,
  webhookKey,
  webhookRunKey,
} from './keys.ts';

/** Functions that write a part of the table: by `table`, `within` or `asks` of their route. */
export type Writer = 'health' | 'webhooks' | 'notices' | Within | 'asks';

/**
 * A kind of stored items. In keys and index partitions, `<user_id>`, `<review_id>` and
 * `<client_id>` are the account, the review and the application that an item is of.
 */
export interface Kind extends Lists {
  key: { form: Key };
  /** The most that an item has, in DynamoDB's counting: 1 unless it is given. */
  kilobytes?: number;
  /** The reason why it is in no export. Any other kind has a schema in transfer/record.ts. */
  unexported?: string;
  /** The kind that it is exported beside, and erased with. */
  beside?: 'user' | 'review';
  /** True if it stays when the account is erased, without naming it. */
  isLasting?: true;
  /** The lists of a person's own data that have it. */
  own?: string | readonly string[];
  /** True if the audit recounts it, or counts something by it. */
  isCounted?: true;
  /** Functions that may write it, beside those that may write everything. */
  writers?: readonly Writer[];
}

/** Index partitions. An item is in an index when it has both attributes of the index. */
type Lists = { readonly [scope in IndexScope]?: string | readonly string[] };

/**
 * Every kind of stored items, in the order of an export: a record stands after those it names. The
 * start of both keys tells a kind from all others. Times in keys are ISO 8601 (UTC, milliseconds),
 * which sort by time. Tests compare the rows with what a journey writes.
 */
const rows = {
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
  // A URL, and the last 20 attempts. Listed by the date of the next attempt, while it is active.
  webhook: {
    key: webhookKey,
    all: 'WEBHOOK',
    kilobytes: 8,
    writers: ['webhooks', 'hooks'],
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
  // A reason of 500 characters, and three fields of a record.
  proposal: {
    key: proposalKey,
    all: deskPartitions.proposal,
    author: 'PROPOSER#<user_id>',
    kilobytes: 8,
    own: 'proposed_names',
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
  // How far a file of reviews from another site is, that a person brings.
  file: {
    key: fileKey,
    unexported: 'lives for 30 days',
  },
  // At most 25 rows of it, in 40 KB of JSON, and a sentence and an id for each.
  rows: {
    key: rowsKey,
    kilobytes: 48,
    unexported: 'lives for 30 days',
    own: 'brought',
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
  // A link with which people may open an account.
  invitation: {
    key: invitationKey,
    unexported: 'lives for 120 days at most',
    writers: ['accounts'],
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
  // One for each word that a thing is found by: 101 bytes of words, a type, an id and who named it.
  // So 20 make 4 KB: 204 bytes each.
  name: {
    key: {
      form: { pk: 'WORD#<character>', sk: 'NAMED#<level>#<words>#<entity_type>#<entity_id>' },
    },
    kilobytes: 204 / 1024,
    unexported: 'word of a thing, made from its record and counts',
    isCounted: true,
    writers: ['lists'],
  },
  // A thing in a list of things, see things/listing.ts: texts of 820 bytes, and numbers.
  place: {
    key: { form: { pk: 'THINGS#<list>', sk: 'THING#<path>#<entity_id>' } },
    unexported: 'place of a thing, made from its record and counts',
    isCounted: true,
    writers: ['lists'],
  },
  // Earliest time of the next request to a database. Searches and the queue of names have another.
  pace: {
    key: paceKey,
    unexported: 'temporary',
  },
  // Entities that a database found by a name.
  search: {
    key: searchKey,
    kilobytes: 32,
    unexported: 'comes from another database, kept for an hour',
  },
  totals: {
    key: totalKey,
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
    key: lastRunKey,
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
  noticesPace: {
    key: { form: noticesPaceKey },
    unexported: 'state of a job of this table',
    writers: ['notices'],
  },
  // The last mail of a kind to an address.
  mailed: {
    key: mailedKey,
    unexported: 'lives for eight days',
    writers: ['notices'],
  },
  // Time up to which webhooks have told everything.
  sending: {
    key: { form: webhookRunKey },
    unexported: 'time of a job of this table',
    writers: ['webhooks'],
  },
  // Public reviews that were written, and people whose access ended: 20 changes.
  changes: {
    key: changesKey,
    kilobytes: 4,
    unexported: 'change log of this table, kept for 31 days',
    writers: ['hooks', 'lists'],
  },
  lane: {
    key: laneKey,
    unexported: 'end of the change log',
    writers: ['hooks', 'lists'],
  },
  // Time of the last restore, after which cursors are gone.
  epoch: {
    key: { form: epochKey },
    unexported: 'begins the change log of this table',
  },
} as const satisfies Record<string, Kind>;

type Rows = typeof rows;
export type KindName = keyof Rows;

/** Kinds that an export has, as records of their own or in those of others. */
export type ExportedKind = {
  [K in KindName]: Rows[K] extends { unexported: string } ? never : K;
}[KindName];

/** Lists of a person's own data. */
export type OwnList = Extract<Rows[KindName], { own: unknown }>['own'] extends infer Own
  ? Own extends readonly (infer List)[]
    ? List
    : Own
  : never;

export const kinds: Readonly<Record<KindName, Kind>> = rows;

export const kindNames = Object.keys(rows) as KindName[];

/** The starts of both keys, or of their forms. */
const startOf = ({ pk, sk }: Key) => `${pk.split('#')[0]} ${sk.split('#')[0]}`;

const byStart = new Map(kindNames.map((name) => [startOf(kinds[name].key.form), name]));

/** Returns the kind of an item. Undefined for one that newer code has written. */
export const kindOf = (key: Key) => byStart.get(startOf(key));

/** Returns the ids in the keys of an item and in its `author`, by their names in the form. */
export function idsIn(kind: KindName, { pk, sk, author = '' }: Item): Record<string, string> {
  const { key, author: lists = [] } = kinds[kind];
  const ids = [lists].flat().map((list) => valuesIn(list, `${author}`));
  return Object.assign({}, ...ids, valuesIn(key.form.pk, pk), valuesIn(key.form.sk, sk));
}

/** A name in a form. */
export const placeholder = /<(\w+)(?::\d+)?>/g;

function valuesIn(form: string, text: string): Record<string, string> | undefined {
  return new RegExp(`^${form.replaceAll(placeholder, '(?<$1>[^#]+)')}$`).exec(text)?.groups;
}
