// Turns stored items into records of an export, and the records of other kinds back into items.
import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import { tableDefinition } from '../../base/table/definition.ts';
import { type Item, idIn, type Key, keyString } from '../../base/table/item.ts';
import { applicationKey, reviewKey, userKey } from '../../core/keys.ts';
import { nobody } from '../../core/oauth/grant.ts';
import { join } from '../../core/review/long-text.ts';
import { isCount } from '../../core/review/owner-counts.ts';
import { countedFields, Review, type WholeReview } from '../../core/review/review.ts';
import type { Revision } from '../../core/review/revision.ts';
import { writtenNames } from '../../core/review/written.ts';
import { Contact, User } from '../../core/user/user.ts';
import { Vote } from '../../core/vote/vote.ts';
import { type ExportedKind, kindOf, kinds } from '../kinds.ts';
import type { FullReviewRecord, RawKind, RawRecord, UserRecord, VoteRecord } from './record.ts';

/**
 * Returns the kind of an item, or undefined for items that are not exported. Those are also claims
 * without a mark, records of entities that a search has found or that wait for a name, and
 * identities whose account has moved.
 */
export function exportedKindOf(item: Item): ExportedKind | undefined {
  const kind = kindOf(item);
  if (!kind || kinds[kind].unexported) return undefined;
  if (kind === 'claim' && (item.marked_at ?? item.reported) === undefined) return undefined;
  // It ends in a week, with the time to undo a move.
  if (kind === 'identity' && item.former_of !== undefined) return undefined;
  const isPassing = typeof item.name !== 'string' || item.expires_at !== undefined;
  return kind === 'entity' && isPassing ? undefined : (kind as ExportedKind);
}

/** Returns the keys of the account, the application and the review that an item is of. */
export function thingsOf({ pk, sk, user_id, client_id }: Item): Key[] {
  const keys: Key[] = [];
  if (user_id) keys.push(userKey(`${user_id}`));
  if (client_id && client_id !== nobody) keys.push(applicationKey(`${client_id}`));
  if (pk.startsWith(reviewKey('').pk)) keys.push({ pk, sk: reviewKey('').sk });
  return keys.filter((key) => keyString(key) !== keyString({ pk, sk }));
}

/** Attributes of users and reviews that are derived from other attributes or items. */
const derived = new Set<string>([
  ...Object.keys(tableDefinition.attributeTypes),
  'kind',
  'rank_tree',
  ...countedFields,
]);

/** Attributes that the record of a user or review has elsewhere. */
const elsewhere = ['contact', 'revisions', ...writtenNames, 'long_text'];

/** Returns the attributes of a user or review, or of its record, that are facts of themselves. */
export function factsIn(attributes: object): Record<string, unknown> {
  const facts = Object.entries(attributes).filter(
    ([name]) => !elsewhere.includes(name) && !derived.has(name) && !isCount(name),
  );
  return ordered(Object.fromEntries(facts));
}

/** Sorts all names, because DynamoDB keeps no order of attributes. */
function ordered<T>(value: T): T;
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, ordered(each)]));
}

/** Is true for an object or array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns the record of a user, with the contact if there is one. */
export function userRecord(item: Item, contact: Item | undefined): UserRecord {
  const { id, display_name, created } = v.parse(User, item);
  const facts = { id, display_name, created, ...factsIn(item) };
  const fields = contact && { ...v.parse(Contact, contact), ...factsIn(contact) };
  return { kind: 'user', ...facts, contact: fields ?? null };
}

/** Reads a review with its long text among the items beside it. Undefined if that is missing. */
export function wholeReview(item: Item, texts: readonly Item[]): WholeReview | undefined {
  return join(
    v.parse(Review, item),
    new Map(texts.map(({ pk, text }) => [idIn({ pk }), `${text}`])),
  );
}

/** Makes the record of a review of all its revisions. */
export function fullReviewRecord(item: Item, revisions: readonly Revision[]): FullReviewRecord {
  const record: object = {
    kind: 'review',
    ...factsIn(item),
    revisions: revisions.map((revision) => pick(revision, ['id', ...writtenNames, 'timestamp'])),
  };
  return record as FullReviewRecord;
}

/** Makes the record of a vote on a review with `revisions` revisions. */
export function voteRecord(item: Item, revisions: number): VoteRecord {
  const vote = v.parse(Vote, item);
  // The vote may be newer than the review as it was read, and name a later revision.
  return { kind: 'vote', ...vote, revision: Math.min(vote.revision, revisions) };
}

/** Returns the record of an item. A rank becomes text, because JSON has no such number. */
export function rawRecord(kind: RawKind, { pk, sk, ...attributes }: Item): RawRecord {
  const { popularity_rank: rank } = attributes;
  if (rank !== undefined) attributes.popularity_rank = `${rank}`;
  return { kind, item: { pk, sk, ...ordered(attributes) } };
}

/** Returns the item of a record, with the rank as a bigint. */
export function rawItem({ item: { popularity_rank: rank, ...item } }: RawRecord): Item {
  return rank === undefined ? item : { ...item, popularity_rank: BigInt(rank) };
}
