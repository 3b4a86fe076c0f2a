import * as v from 'valibot';
import { entityTypes } from '../entity/entity-type.ts';
import { Case } from '../moderation/case.ts';
import { Decision } from '../moderation/decision.ts';
import { Report } from '../moderation/report.ts';
import { Application } from '../oauth/application.ts';
import { Grant } from '../oauth/grant.ts';
import { nobody, PersonalToken } from '../oauth/personal-token-repository.ts';
import { languages } from '../review/languages.ts';
import { licenses } from '../review/licenses.ts';
import { Review } from '../review/review.ts';
import { type Item, keyString } from '../table/batch.ts';
import {
  applicationKey,
  caseKey,
  decisionKey,
  grantKey,
  type Key,
  reportKey,
} from '../table/keys.ts';
import { Contact, User } from '../user/user.ts';
import { oneOf } from '../values.ts';
import { Vote } from '../vote/vote.ts';

/**
 * What stands in an export: facts, and nothing that can be counted from them. So an export beside traffic never contradicts itself, and an
 * import makes every number anew. Users, reviews and votes have a form of their own; other kinds are kept as they lie in the table.
 */
export type TransferRecord = UserRecord | FullReviewRecord | VoteRecord | KeptRecord;

const Uuid = v.pipe(
  v.string('must be a UUID'),
  v.regex(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/, 'must be a UUID in lower case'),
);
const Time = v.pipe(
  v.string('must be a time'),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'must be a time in ISO 8601, as toISOString'),
  v.check((time) => !Number.isNaN(Date.parse(time)), 'must be a time that there is'),
);

const { karma: _, ...userAttributes } = User.entries;

/** An account. Attributes that this version does not know are kept. */
export const UserRecord = v.looseObject({
  ...userAttributes,
  kind: v.literal('user'),
  id: Uuid,
  display_name: v.string(),
  created: Time,
  /** What of it is not public; null where nothing is known. */
  contact: v.nullable(v.looseObject(Contact.entries)),
});
export type UserRecord = v.InferOutput<typeof UserRecord>;

const RevisionRecord = v.pipe(
  v.object({
    id: v.pipe(v.number(), v.integer(), v.minValue(1)),
    // History may be shorter or longer than what the API takes.
    text: v.nullable(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
    rating: v.nullable(
      v.pipe(v.number(), v.integer(), v.minValue(1, 'must be 1 to 5'), v.maxValue(5)),
    ),
    timestamp: Time,
  }),
  v.check(({ text, rating }) => text !== null || rating !== null, 'must have a text or a rating'),
);

/** A review with all its revisions, the first one first; drafts and hidden ones too. */
export const FullReviewRecord = v.looseObject({
  kind: v.literal('review'),
  id: Uuid,
  entity_id: Uuid,
  entity_type: oneOf(entityTypes),
  user_id: Uuid,
  language: v.picklist(languages, 'must be an ISO 639-1 code, in lower case'),
  license: oneOf(licenses.map(({ id }) => id)),
  created: Time,
  published_on: v.nullable(Time),
  is_hidden: v.boolean(),
  source: v.nullable(v.string()),
  source_url: v.nullable(v.string()),
  deleted_at: Review.entries.deleted_at,
  moderation: Review.entries.moderation,
  appealed_at: Review.entries.appealed_at,
  revisions: v.pipe(
    v.array(RevisionRecord),
    v.minLength(1, 'must not be empty'),
    v.check((all) => all.every(({ id }, i) => id === i + 1), 'must be numbered from 1'),
  ),
});
export type FullReviewRecord = v.InferOutput<typeof FullReviewRecord>;

/** Who voted how on a review, and on which of its revisions. */
export const VoteRecord = v.object({
  kind: v.literal('vote'),
  review_id: Uuid,
  user_id: Uuid,
  vote: v.boolean(),
  voted_at: Time,
  revision: v.pipe(v.number(), v.integer(), v.minValue(1)),
});
export type VoteRecord = v.InferOutput<typeof VoteRecord>;

/** Kinds that are kept as they lie in the table, by the form of their keys. */
const keptKeys = {
  identity: /^IDENTITY#[\da-f]{64}\nIDENTITY$/,
  application: /^APP#[\da-f]{32}\nAPP$/,
  grant: /^USER#[\da-f-]{36}\nGRANT#[\da-f]{32}#[\da-f]{32}$/,
  report: /^REVIEW#[\da-f-]{36}\nREPORT#[\da-f-]{36}$/,
  case: /^REVIEW#[\da-f-]{36}\nCASE$/,
  decision: /^DECISION#[^\n]+\nDECISION$/,
} as const;
export type KeptKind = keyof typeof keptKeys;

/** What items of these kinds are. */
const keptSchemas = {
  identity: v.object({ user_id: Uuid }),
  application: Application,
  grant: Grant,
  report: Report,
  case: Case,
  decision: Decision,
} as const;

/** The key of an item by what is in it; that of an identity is made of what is not. */
function keyByContent(kind: KeptKind, item: Readonly<Record<string, unknown>>): Key | undefined {
  const id = (name: string) => `${item[name]}`;
  switch (kind) {
    case 'application':
      return applicationKey(id('client_id'));
    case 'grant':
      return grantKey(id('user_id'), id('client_id'), id('grant_id'));
    case 'report':
      return reportKey(id('review_id'), id('user_id'));
    case 'case':
      return caseKey(id('review_id'));
    case 'decision':
      return decisionKey(id('id'));
    case 'identity':
      return undefined;
  }
}

/** An item of another kind, with its keys and index attributes. */
export const KeptRecord = v.pipe(
  v.object({
    kind: v.picklist(Object.keys(keptKeys) as KeptKind[]),
    item: v.looseObject({
      pk: v.string(),
      sk: v.string(),
      user_id: v.nullish(Uuid),
      // It may be beyond what a number of JSON holds.
      popularity_rank: v.optional(v.pipe(v.string(), v.regex(/^-?\d+$/))),
    }),
  }),
  v.check(({ kind, item }) => {
    const key = keyByContent(kind, item) ?? item;
    return keptKeys[kind].test(keyString(item)) && keyString(key) === keyString(item);
  }, 'has another key'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { kind, item } = dataset.value;
    const isPersonal = kind === 'grant' && item.client_id === nobody;
    const result = v.safeParse(isPersonal ? PersonalToken : keptSchemas[kind], item);
    if (result.success) return;
    const [issue] = result.issues;
    addIssue({ message: `item.${v.getDotPath(issue)}: ${issue.message}` });
  }),
);
export type KeptRecord = v.InferOutput<typeof KeptRecord>;

/** The first line of an export. */
export const Header = v.looseObject({
  kind: v.literal('header'),
  format: v.string(),
  version: v.number(),
  /** That of the newest change in it, ISO 8601: the same data makes the same file. Null where there is none. */
  time: v.nullish(v.string()),
  /** How many records of each kind follow. */
  counts: v.optional(v.record(v.string(), v.number())),
});
export type Header = v.InferOutput<typeof Header>;

/** The name of what an operator moves, and of what everybody may have. */
export const formats = { all: 'review-service', public: 'review-service-public' } as const;
export const formatVersion = 1;

/** What kind of record an item belongs to, by what its sort key begins with. `contact` and `revision` are parts of other records. */
const kindsBySortKey = {
  USER: 'user',
  CONTACT: 'contact',
  IDENTITY: 'identity',
  APP: 'application',
  GRANT: 'grant',
  REVIEW: 'review',
  REVISION: 'revision',
  VOTE: 'vote',
  REPORT: 'report',
  CASE: 'case',
  DECISION: 'decision',
} as const;

/** What is not exported, and why. */
export const leftOut = {
  CLAIM: 'follows from the review',
  VOTES: 'counted from votes, for a month',
  CODE: 'lives for a minute',
  REQUEST: 'lives for minutes',
  IDEMPOTENCY: 'lives for a day',
  ENTITY: 'counted from reviews',
  METADATA: 'comes from another database',
  PACE: 'of the moment',
  TOTAL: 'counted from reviews',
  root: 'counted from reviews and users',
  date: 'counted from reviews and users',
  popularity: 'counted from reviews',
  PROJECTION: 'what has been counted of an item',
  COUNTS: 'what is still to be counted',
  REBUILD: 'of the moment',
  AT: 'tells what has changed here, for 30 days',
  LANE: 'where that ends',
} as const;

/** The kind of an item; undefined for what is not exported. */
export function kindOfItem({ sk }: Pick<Item, 'sk'>) {
  const [start = ''] = sk.split('#', 1);
  return Object.hasOwn(kindsBySortKey, start)
    ? kindsBySortKey[start as keyof typeof kindsBySortKey]
    : undefined;
}

/** Attributes of users and reviews that follow from their other attributes, or from other items. */
const derived = new Set([
  ...['pk', 'sk', 'all', 'facet', 'entity', 'author', 'date', 'popularity_rank', 'kind', 'version'],
  ...['karma', 'applications', 'rank_tree', 'edits', 'last_updated', 'popularity'],
  ...['votes_positive', 'votes_negative', 'revision_votes_positive', 'revision_votes_negative'],
]);
const ofContact = Object.keys(Contact.entries);

/** What is known of a thing beside its `named` attributes. */
export function others(
  attributes: Readonly<Record<string, unknown>>,
  named: readonly string[],
): Record<string, unknown> {
  const rest = Object.entries(attributes).filter(
    ([name]) => !named.includes(name) && !derived.has(name) && !name.includes('|'),
  );
  return ordered(Object.fromEntries(rest)) as Record<string, unknown>;
}

/** The same with all names in one order: DynamoDB keeps none. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, ordered(each)]));
}

/** Attributes that every user and review has, and that a record is begun with. */
const userNames = ['kind', 'id', 'display_name', 'created', 'contact'];
const reviewNames = [
  ...['kind', 'id', 'entity_id', 'entity_type', 'user_id', 'language', 'license', 'created'],
  ...['published_on', 'is_hidden', 'source', 'source_url', 'revisions', 'text', 'rating'],
];

/** The attributes of a record that are neither named nor derived. */
export function othersOf(record: UserRecord | FullReviewRecord): Record<string, unknown> {
  return others(record, record.kind === 'user' ? userNames : reviewNames);
}

/** The record of an account. Older ones hold themselves what is not public. */
export function userRecord(item: Item, contact: Item | undefined): UserRecord {
  const { id, display_name, created } = v.parse(User, item);
  const known = { ...pick(item, ofContact), ...contact };
  const { email, musicdb_username } = v.parse(Contact, known);
  return {
    kind: 'user',
    id,
    display_name,
    created,
    ...others(item, [...userNames, ...ofContact]),
    contact:
      Object.keys(known).length > 0
        ? { email, musicdb_username, ...others(known, ['email', 'musicdb_username']) }
        : null,
  };
}

/** The record of a review; undefined when not all its earlier revisions are given, because it is being deleted. */
export function fullReviewRecord(
  item: Item,
  revisions: readonly Item[],
): FullReviewRecord | undefined {
  const review = v.parse(Review, item);
  // One that was made after the review was read is not of its time.
  const earlier = revisions.filter(({ id }) => Number(id) <= review.edits);
  if (earlier.length < review.edits) return undefined;
  const current = { ...review, id: review.edits + 1, timestamp: review.last_updated };
  return {
    kind: 'review',
    id: review.id,
    entity_id: review.entity_id,
    entity_type: review.entity_type,
    user_id: review.user_id,
    language: review.language as FullReviewRecord['language'],
    license: review.license,
    created: review.created,
    published_on: review.published_on,
    is_hidden: review.is_hidden,
    source: review.source,
    source_url: review.source_url,
    ...others(item, reviewNames),
    revisions: [...(earlier as unknown as (typeof current)[]), current].map(
      ({ id, text, rating, timestamp }) => ({ id, text, rating, timestamp }),
    ),
  };
}

/** The record of a vote on a review that has so many revisions. */
export function voteRecord(item: Item, revisions: number): VoteRecord {
  const { review_id, user_id, vote, voted_at, revision } = v.parse(Vote, item);
  // Cast since the review was read, on a revision that was made since.
  const on = Math.min(revision, revisions);
  return { kind: 'vote', review_id, user_id, vote, voted_at, revision: on };
}

/** The record of an item of any other kind. */
export function keptRecord(kind: KeptKind, { pk, sk, ...attributes }: Item): KeptRecord {
  const { popularity_rank, ...rest } = attributes;
  const rank = popularity_rank === undefined ? {} : { popularity_rank: `${popularity_rank}` };
  return { kind, item: { pk, sk, ...(ordered({ ...rest, ...rank }) as object) } };
}

/** The item of such a record. */
export function keptItem({ item: { popularity_rank, ...item } }: KeptRecord): Item {
  return {
    ...item,
    ...(popularity_rank !== undefined && { popularity_rank: BigInt(popularity_rank) }),
  };
}

const timeNames = /^(created|published_on|timestamp|voted_at|renewed|[a-z_]+ed_at)$/;

/** The newest of the times in a record at which something was done; empty where there is none. */
export function newestTime(record: object): string {
  let newest = '';
  for (const [name, value] of Object.entries(record)) {
    const time = Array.isArray(value)
      ? value
          .map((each) => (isObject(each) ? newestTime(each) : ''))
          .sort()
          .at(-1)
      : name === 'item' && isObject(value)
        ? newestTime(value)
        : timeNames.test(name) && typeof value === 'string'
          ? value
          : '';
    if (time && time > newest) newest = time;
  }
  return newest;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function pick(item: Item, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])),
  );
}

const schemas: Record<string, v.GenericSchema<unknown, TransferRecord>> = {
  user: UserRecord,
  review: FullReviewRecord,
  vote: VoteRecord,
  ...Object.fromEntries(Object.keys(keptKeys).map((kind) => [kind, KeptRecord])),
};

/** Reads a line of an export: a record, or why it is none, in words. */
export function parseRecord(text: string): TransferRecord | string {
  const value = parseJson(text);
  if (value === undefined || !isObject(value)) return 'is not a JSON object';
  const kind = 'kind' in value ? `${value.kind}` : '';
  const schema = Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
  if (!schema) return kind === '' ? 'has no kind' : 'is of a kind that is not known';
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  return `${v.getDotPath(issue) ?? kind}: ${issue.message}`;
}

/** Reads the first line. Throws a sentence where it is not that of an export that can be imported. */
export function parseHeader(text: string | undefined): Header {
  const result = v.safeParse(Header, parseJson(text ?? ''));
  const header = result.success ? result.output : undefined;
  if (header?.format === formats.public) {
    throw new Error(
      'this is a public dump, which has no accounts and no votes by person: only an export without --public can be imported',
    );
  }
  if (header?.format !== formats.all)
    throw new Error('this is no export: its first line is no header');
  if (header.version !== formatVersion) {
    throw new Error(
      `this export has version ${header.version} of the format, and version ${formatVersion} is what can be read here`,
    );
  }
  return header;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
