import * as v from 'valibot';
import { pick } from '../pick.ts';
import { isCount } from '../review/owner-counts.ts';
import { Review } from '../review/review.ts';
import type { Item } from '../table/item.ts';
import { Contact, User } from '../user/user.ts';
import { Vote } from '../vote/vote.ts';
import {
  type FullReviewRecord,
  isObject,
  type RawKind,
  type RawRecord,
  type UserRecord,
  type VoteRecord,
} from './record.ts';

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
  CLAIM: 'follows from the review, unless it is marked',
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
  IMPORT: 'of the moment',
  DONE: 'of this table: its jobs and backups',
  AT: 'tells what has changed here, for 30 days',
  LANE: 'where that ends',
} as const;

/** The kind of an item; undefined for what is not exported. */
export function kindOfItem({ sk, marked_at }: Pick<Item, 'sk'> & { marked_at?: unknown }) {
  const [start = ''] = sk.split('#', 1);
  if (start === 'CLAIM' && marked_at !== undefined) return 'claim';
  return Object.hasOwn(kindsBySortKey, start)
    ? kindsBySortKey[start as keyof typeof kindsBySortKey]
    : undefined;
}

/** Attributes of users and reviews that follow from their other attributes, or from other items. */
const derived = new Set([
  ...['pk', 'sk', 'all', 'facet', 'entity', 'author', 'date', 'popularity_rank', 'kind', 'version'],
  ...['rank_tree', 'edits', 'last_updated', 'popularity'],
  ...['votes_positive', 'votes_negative', 'revision_votes_positive', 'revision_votes_negative'],
]);

/** What is known of a thing beside its `named` attributes. */
function others(
  attributes: Readonly<Record<string, unknown>>,
  named: readonly string[],
): Record<string, unknown> {
  const rest = Object.entries(attributes).filter(
    ([name]) => !named.includes(name) && !derived.has(name) && !isCount(name),
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
const reviewStart = [
  ...(['id', 'entity_id', 'entity_type', 'user_id', 'language', 'license'] as const),
  ...(['created', 'published_on', 'is_hidden', 'source', 'source_url'] as const),
] as const;
const userNames = ['kind', 'id', 'display_name', 'created', 'contact'];
const reviewNames = ['kind', ...reviewStart, 'revisions', 'text', 'rating'];

/** The attributes of a record that are neither named nor derived. */
export function othersOf(record: UserRecord | FullReviewRecord): Record<string, unknown> {
  return others(record, record.kind === 'user' ? userNames : reviewNames);
}

/** The record of an account. */
export function userRecord(item: Item, contact: Item | undefined): UserRecord {
  const { id, display_name, created } = v.parse(User, item);
  const { email, musicdb_username } = v.parse(Contact, contact ?? {});
  return {
    kind: 'user',
    id,
    display_name,
    created,
    ...others(item, userNames),
    contact: contact
      ? { email, musicdb_username, ...others(contact, ['email', 'musicdb_username']) }
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
  const { language } = review as { language: FullReviewRecord['language'] };
  return {
    kind: 'review',
    ...pick({ ...review, language }, reviewStart),
    ...others(item, reviewNames),
    revisions: [...(earlier as unknown as (typeof current)[]), current].map((revision) =>
      pick(revision, ['id', 'text', 'rating', 'timestamp']),
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
export function rawRecord(kind: RawKind, { pk, sk, ...attributes }: Item): RawRecord {
  const { popularity_rank, ...rest } = attributes;
  const rank = popularity_rank === undefined ? {} : { popularity_rank: `${popularity_rank}` };
  return { kind, item: { pk, sk, ...(ordered({ ...rest, ...rank }) as object) } };
}

/** The item of such a record. */
export function rawItem({ item: { popularity_rank, ...item } }: RawRecord): Item {
  return {
    ...item,
    ...(popularity_rank !== undefined && { popularity_rank: BigInt(popularity_rank) }),
  };
}
