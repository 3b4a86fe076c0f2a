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

/**
 * Kinds of records by the start of the sort key. `contact` and `revision` become parts of other
 * records.
 */
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

/** Items that are not exported, by the start of the sort key, and why. */
export const notExported = {
  CLAIM: 'derived from the review, unless it is marked',
  VOTES: 'counted from votes, kept for a month',
  CODE: 'lives for a minute',
  REQUEST: 'lives for minutes',
  IDEMPOTENCY: 'lives for a day',
  ENTITY: 'counted from reviews',
  METADATA: 'comes from another database',
  PACE: 'temporary',
  TOTAL: 'counted from reviews',
  root: 'counted from reviews and users',
  date: 'counted from reviews and users',
  popularity: 'counted from reviews',
  PROJECTION: 'contribution of an item to aggregates',
  COUNTS: 'counts to be added later',
  REBUILD: 'temporary',
  IMPORT: 'temporary',
  DONE: 'times of jobs and backups of this table',
  AT: 'change log of this table, kept for 31 days',
  LANE: 'end of the change log',
} as const;

/** Returns the kind of an item, or undefined for items that are not exported. */
export function kindOfItem({ sk, marked_at }: Pick<Item, 'sk'> & { marked_at?: unknown }) {
  const [start = ''] = sk.split('#', 1);
  if (start === 'CLAIM' && marked_at !== undefined) return 'claim';
  return Object.hasOwn(kindsBySortKey, start)
    ? kindsBySortKey[start as keyof typeof kindsBySortKey]
    : undefined;
}

/** Attributes of users and reviews that are derived from other attributes or items. */
const derived = new Set([
  ...['pk', 'sk', 'all', 'facet', 'entity', 'author', 'date', 'popularity_rank', 'kind', 'version'],
  ...['rank_tree', 'edits', 'last_updated', 'popularity'],
  ...['votes_positive', 'votes_negative', 'revision_votes_positive', 'revision_votes_negative'],
]);

/** Returns the attributes that are neither `named`, nor derived, nor counts. */
function otherAttributes(
  attributes: Readonly<Record<string, unknown>>,
  named: readonly string[],
): Record<string, unknown> {
  const rest = Object.entries(attributes).filter(
    ([name]) => !named.includes(name) && !derived.has(name) && !isCount(name),
  );
  return ordered(Object.fromEntries(rest)) as Record<string, unknown>;
}

/** Sorts all names, because DynamoDB keeps no order of attributes. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, ordered(each)]));
}

/** Attributes of every user and review, which begin the record. */
const reviewStart = [
  ...(['id', 'entity_id', 'entity_type', 'user_id', 'language', 'license'] as const),
  ...(['created', 'published_on', 'is_hidden', 'source', 'source_url'] as const),
] as const;
const userNames = ['kind', 'id', 'display_name', 'created', 'contact'];
const reviewNames = ['kind', ...reviewStart, 'revisions', 'text', 'rating'];

/** Returns the attributes of a record that are neither named nor derived. */
export function othersOf(record: UserRecord | FullReviewRecord): Record<string, unknown> {
  return otherAttributes(record, record.kind === 'user' ? userNames : reviewNames);
}

/** Makes the record of an account. */
export function userRecord(item: Item, contact: Item | undefined): UserRecord {
  const { id, display_name, created } = v.parse(User, item);
  const { email, musicdb_username } = v.parse(Contact, contact ?? {});
  return {
    kind: 'user',
    id,
    display_name,
    created,
    ...otherAttributes(item, userNames),
    contact: contact
      ? { email, musicdb_username, ...otherAttributes(contact, ['email', 'musicdb_username']) }
      : null,
  };
}

/**
 * Makes the record of a review. Returns undefined if earlier revisions are missing, because the
 * review is being deleted.
 */
export function fullReviewRecord(
  item: Item,
  revisions: readonly Item[],
): FullReviewRecord | undefined {
  const review = v.parse(Review, item);
  // Revisions made after the review was read are skipped.
  const earlier = revisions.filter(({ id }) => Number(id) <= review.edits);
  if (earlier.length < review.edits) return undefined;
  const current = { ...review, id: review.edits + 1, timestamp: review.last_updated };
  const { language } = review as { language: FullReviewRecord['language'] };
  return {
    kind: 'review',
    ...pick({ ...review, language }, reviewStart),
    ...otherAttributes(item, reviewNames),
    revisions: [...(earlier as unknown as (typeof current)[]), current].map((revision) =>
      pick(revision, ['id', 'text', 'rating', 'timestamp']),
    ),
  };
}

/** Makes the record of a vote on a review with `revisions` revisions. */
export function voteRecord(item: Item, revisions: number): VoteRecord {
  const { review_id, user_id, vote, voted_at, revision } = v.parse(Vote, item);
  // The vote may be newer than the review as it was read, and name a later revision.
  const on = Math.min(revision, revisions);
  return { kind: 'vote', review_id, user_id, vote, voted_at, revision: on };
}

/** Makes the record of an item of any other kind. */
export function rawRecord(kind: RawKind, { pk, sk, ...attributes }: Item): RawRecord {
  const { popularity_rank, ...rest } = attributes;
  const rank = popularity_rank === undefined ? {} : { popularity_rank: `${popularity_rank}` };
  return { kind, item: { pk, sk, ...(ordered({ ...rest, ...rank }) as object) } };
}

/** Returns the item of a raw record. */
export function rawItem({ item: { popularity_rank, ...item } }: RawRecord): Item {
  return {
    ...item,
    ...(popularity_rank !== undefined && { popularity_rank: BigInt(popularity_rank) }),
  };
}
