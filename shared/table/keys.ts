import type { Order } from './definition.ts';
import type { Key } from './item.ts';

/**
 * The table: what lies where. Times in keys are ISO 8601 (UTC, milliseconds), because they sort. A test holds these lines against what a
 * journey writes.
 *
 * | item        | pk               | sk                        | listed in (index partition → order)                     |
 * |-------------|------------------|---------------------------|---------------------------------------------------------|
 * | review      | REVIEW#<id>      | REVIEW                    | public: all REVIEW, facet <type>|<language>, entity <id>, author <user> → both |
 * |             |                  |                           | draft or hidden: author UNLISTED#<user> → date          |
 * |             |                  |                           | being deleted: none                                     |
 * | revision    | REVIEW#<id>      | REVISION#<n, 6 digits>    | an earlier one: the current one lies on the review      |
 * | vote        | REVIEW#<id>      | VOTE#<user>               | author VOTER#<user> → date                              |
 * | spam report | REVIEW#<id>      | REPORT#<user>             | author REPORTER#<user> → date                           |
 * | case        | REVIEW#<id>      | CASE                      | all CASE → both while it is open                        |
 * | decision    | DECISION#<id>    | DECISION                  | all DECISION → date, author SUBJECT#<user> → date       |
 * | user        | USER#<id>        | USER                      | all USER → date                                         |
 * | contact     | CONTACT#<user>   | CONTACT                   | what of an account is not public                        |
 * | claim       | USER#<id>        | CLAIM#<entity>            | the one review that a user has of an entity             |
 * |             |                  |                           | of a hidden and deleted one: author HIDDEN#<user> → date |
 * | daily votes | USER#<id>        | VOTES#<yyyy-mm-dd>        | all VOTES → date; also the reports of the day           |
 * | grant       | USER#<id>        | GRANT#<client>#<grant id> | author CLIENT#<client> → date                           |
 * | application | APP#<client>     | APP                       | author OWNER#<user> → date                              |
 * | code        | CODE#<sha-256>   | CODE                      | author APPROVER#<user> → date                           |
 * | request     | REQUEST#<id>     | REQUEST                   | an authorization request, until shortly after its answer |
 * | identity    | IDENTITY#<sha-256> | IDENTITY                | issuer and subject of a sign-in → user; after its deletion: the block and the hidden reviews |
 * | idempotency | IDEMPOTENCY#<sha-256> | IDEMPOTENCY          | user and key of a request → the answer to it            |
 * | entity      | ENTITY#<id>      | ENTITY                    | counts and ratings of its reviews                       |
 * | metadata    | METADATA#<type>#<id> | METADATA              | its name in another database, and when to ask again     |
 * | pace        | METADATA#<database> | PACE                   | when that database may be asked again                   |
 * | totals      | TOTALS           | TOTAL#<type>              | numbers of public reviews by `<language>|<content>`     |
 * | rank tree   | TREE#<list>      | root                      | counters of both trees' children: list/rank-tree.ts     |
 * | rank tree   | TREE#<list>      | date#<child>…             | counters of the children of a node                      |
 * | rank tree   | TREE#<list>      | popularity#<child>…       | counters of the children of a node                      |
 * | projection  | REVIEW#<id>      | PROJECTION                | what totals and rank trees hold of a review             |
 * | projection  | USER#<id>        | PROJECTION                | the same of a user                                      |
 * | deferred    | DEFERRED         | COUNTS#<uuid>             | counts that a batch has still to add to totals and upper nodes |
 * | rebuild     | TOTALS           | REBUILD#<lane>            | held while totals and rank trees are rebuilt            |
 * | bulk import | IMPORT           | IMPORT                    | until all that was written in bulk is counted           |
 * | deed        | HEALTH           | DONE#<deed>               | when the daily job, or a backup, was last done          |
 * | changes     | CHANGES#<lane>   | AT#<epoch ms, 13 digits>  | which public reviews were written, for who follows them |
 * | lane        | CHANGES          | LANE#<lane>               | when something was last logged in a lane of changes     |
 *
 * An item is in an index when it has both attributes of the index (definition.ts). Prefixes end in # and the sort keys
 * of one partition differ in more than case, because the embedded engine compares prefixes without it.
 */

export function reviewKey(reviewId: string): Key {
  return { pk: `REVIEW#${reviewId}`, sk: 'REVIEW' };
}

export function revisionKey(reviewId: string, revision: number): Key {
  return { pk: `REVIEW#${reviewId}`, sk: `REVISION#${String(revision).padStart(6, '0')}` };
}

export function voteKey(reviewId: string, userId: string): Key {
  return { pk: `REVIEW#${reviewId}`, sk: `VOTE#${userId}` };
}

export function reportKey(reviewId: string, userId: string): Key {
  return { pk: `REVIEW#${reviewId}`, sk: `REPORT#${userId}` };
}

/** What moderators have to decide about a review. */
export function caseKey(reviewId: string): Key {
  return { pk: `REVIEW#${reviewId}`, sk: 'CASE' };
}

export function decisionKey(id: string): Key {
  return { pk: `DECISION#${id}`, sk: 'DECISION' };
}

export function userKey(userId: string): Key {
  return { pk: `USER#${userId}`, sk: 'USER' };
}

/** Apart from the user, because public readers may read all that begins with USER#. */
export function contactKey(userId: string): Key {
  return { pk: `CONTACT#${userId}`, sk: 'CONTACT' };
}

export function claimKey(userId: string, entityId: string): Key {
  return { pk: `USER#${userId}`, sk: `CLAIM#${entityId}` };
}

/** `day` is a UTC day, yyyy-mm-dd. */
export function dailyVotesKey(userId: string, day: string): Key {
  return { pk: `USER#${userId}`, sk: `VOTES#${day}` };
}

export function grantKey(userId: string, clientId: string, grantId: string): Key {
  return { pk: `USER#${userId}`, sk: `GRANT#${clientId}#${grantId}` };
}

export function applicationKey(clientId: string): Key {
  return { pk: `APP#${clientId}`, sk: 'APP' };
}

/** `sha256` is the hexadecimal hash of the authorization code. */
export function codeKey(sha256: string): Key {
  return { pk: `CODE#${sha256}`, sk: 'CODE' };
}

export function authorizationRequestKey(id: string): Key {
  return { pk: `REQUEST#${id}`, sk: 'REQUEST' };
}

/** `sha256` is the hexadecimal hash of issuer and subject. */
export function identityKey(sha256: string): Key {
  return { pk: `IDENTITY#${sha256}`, sk: 'IDENTITY' };
}

/** `sha256` is the hexadecimal hash of a user and the key of a request. */
export function idempotencyKey(sha256: string): Key {
  return { pk: `IDEMPOTENCY#${sha256}`, sk: 'IDEMPOTENCY' };
}

export function entityKey(entityId: string): Key {
  return { pk: `ENTITY#${entityId}`, sk: 'ENTITY' };
}

/** What another database says of an entity of this type. */
export function metadataKey(type: string, entityId: string): Key {
  return { pk: `METADATA#${type}#${entityId}`, sk: 'METADATA' };
}

/** `group` is that of the entity types in the database. */
export function paceKey(group: string): Key {
  return { pk: `METADATA#${group}`, sk: 'PACE' };
}

/** The totals of all reviews of an entity type; without one, what all such keys begin with. */
export function totalKey(type = ''): Key {
  return { pk: 'TOTALS', sk: `TOTAL#${type}` };
}

/** A node of a rank tree of a list, by the numbers of the children that lead to it from the root. */
export function rankTreeKey(list: string, order: Order | 'root', path: readonly number[]): Key {
  return { pk: `TREE#${list}`, sk: [order, ...path].join('#') };
}

/**
 * Locks, all held while totals and rank trees are rebuilt, so that nothing else changes them.
 * Whoever changes them deletes one of the locks, if it has expired. One is enough to make the
 * holder fail, and two transactions that delete the same item conflict.
 */
export const rebuildKeys: readonly Key[] = Array.from({ length: 16 }, (_, lane) => ({
  pk: 'TOTALS',
  sk: `REBUILD#${lane}`,
}));

/** Marks a bulk import: until it is gone, authors, entities and lists are not counted. */
export const bulkImportKey: Key = { pk: 'IMPORT', sk: 'IMPORT' };

/** Time when something was last done that should not be long ago, such as `backup`. */
export function deedKey(deed: string): Key {
  return { pk: 'HEALTH', sk: `DONE#${deed}` };
}

/** Counts that are still to be added to totals and upper nodes; without an id, what all such keys begin with. */
export function deferredKey(id = ''): Key {
  return { pk: 'DEFERRED', sk: `COUNTS#${id}` };
}

/** How many lanes the changes of reviews are logged in: those of one review in one, so that writers of others seldom wait for each other. */
export const changesLanes = 8;

/** Changes that were logged at a time, epoch ms; without one, what all such keys of a lane begin with. */
export function changesKey(lane: number, at?: number): Key {
  return { pk: `CHANGES#${lane}`, sk: `AT#${at === undefined ? '' : `${at}`.padStart(13, '0')}` };
}

/** What says where a lane of changes ends; without a number, what all such keys begin with. */
export function laneKey(lane?: number): Key {
  return { pk: 'CHANGES', sk: `LANE#${lane ?? ''}` };
}

/** Beside a review or user: what totals and rank trees hold of it, and as of which version. */
export function projectionKey({ pk }: Pick<Key, 'pk'>): Key {
  return { pk, sk: 'PROJECTION' };
}

/** The id in a partition key: what follows the first #. */
export function idIn({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice(pk.indexOf('#') + 1);
}

/** One vote, in units of `popularityRank`. */
export const rankStep = 10n ** 29n;

/**
 * The number that the popularity order sorts by: popularity, then time of publication (ms), then the first 52 bits of the
 * id, in 38 decimal digits. A number and not a text, so that a vote moves a review with one ADD and needs not know its popularity.
 */
export function popularityRank(popularity: number, published_on: string, id: string): bigint {
  const bits = BigInt(`0x${id.replaceAll('-', '').slice(0, 13)}`);
  return firstRank(popularity, Date.parse(published_on)) + bits;
}

/** The lowest rank there can be for a popularity and a time of publication (epoch ms). */
export function firstRank(popularity: number, time: number): bigint {
  return BigInt(popularity) * rankStep + BigInt(time) * 10n ** 16n;
}

/** The popularity in a rank. */
export function popularityOf(rank: bigint): number {
  const votes = rank / rankStep;
  // Division of bigints rounds towards zero, and the time in a rank is positive.
  return Number(rank < 0n && votes * rankStep !== rank ? votes - 1n : votes);
}
