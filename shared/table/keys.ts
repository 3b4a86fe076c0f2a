/**
 * The table: what lies where. Times in keys are ISO 8601 (UTC, milliseconds), because they sort.
 *
 * | item        | pk             | sk                         | listed in (index partition → order)                     |
 * |-------------|----------------|----------------------------|---------------------------------------------------------|
 * | review      | REVIEW#<id>    | REVIEW                     | public: all REVIEW, facet <type>|<language>, entity      |
 * |             |                |                            | <id>, author <user> → both orders;                      |
 * |             |                |                            | draft or hidden: author UNLISTED#<user> → date          |
 * | revision    | REVIEW#<id>    | REVISION#<n, 6 digits>     |                                                         |
 * | vote        | REVIEW#<id>    | VOTE#<user>                | author VOTER#<user> → date                              |
 * | spam report | REVIEW#<id>    | REPORT#<user>              | all REPORT, author REPORTER#<user> → date               |
 * | user        | USER#<id>      | USER                       | all USER → date                                         |
 * | claim       | USER#<id>      | CLAIM#<entity>             |                                                         |
 * | daily votes | USER#<id>      | VOTES#<yyyy-mm-dd>         | all VOTES → date                                        |
 * | grant       | USER#<id>      | GRANT#<client>#<grant id>  | author CLIENT#<client> → date                           |
 * | application | APP#<client>   | APP                        | author OWNER#<user> → date                              |
 * | code        | CODE#<sha-256> | CODE                       |                                                         |
 * | request     | REQUEST#<id>   | REQUEST                    | an authorization request that waits for its user        |
 * | identity    | IDENTITY#<sha-256> | IDENTITY               | issuer and subject of a sign-in → user                  |
 * | entity      | ENTITY#<id>    | ENTITY                     |                                                         |
 * | totals      | FEED           | TOTAL, TOTAL#<facet>, USERS | derived from the stream, see feed/feed.ts              |
 * | applied     | that of a review or user | FEED             | what the totals hold of it                              |
 *
 * An item is in an index when it has both attributes of the index (definition.ts). Prefixes end in # and the sort keys
 * of one partition differ in more than case, because the embedded engine compares prefixes without it.
 */

/** The primary key of an item. */
export interface Key {
  pk: string;
  sk: string;
}

/** What index entries of every kind carry; the rest depends on the index. */
export interface IndexAttributes {
  all?: string;
  facet?: string;
  entity?: string;
  author?: string;
  date?: string;
  popularity_rank?: bigint;
  /** Not a key, but in every entry: what a review has. */
  kind?: string;
}

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

export function userKey(userId: string): Key {
  return { pk: `USER#${userId}`, sk: 'USER' };
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

export function entityKey(entityId: string): Key {
  return { pk: `ENTITY#${entityId}`, sk: 'ENTITY' };
}

/** The totals of all reviews, or of one facet partition `<type>|<language>`. */
export function totalKey(facet?: string): Key {
  return { pk: 'FEED', sk: facet === undefined ? 'TOTAL' : `TOTAL#${facet}` };
}

/** The number of users. */
export const usersTotalKey: Key = { pk: 'FEED', sk: 'USERS' };

/** Held while the totals are rebuilt, so that nothing else changes them. */
export const rebuildKey: Key = { pk: 'FEED', sk: 'REBUILD' };

/** Beside a review or user: what of it the totals hold, and as of which version. */
export function appliedKey({ pk }: Pick<Key, 'pk'>): Key {
  return { pk, sk: 'FEED' };
}

/** Sort keys that begin with `prefix`: right on AWS too, and the embedded engine ignores case in begins_with. */
export function between(prefix: string): { ':from': string; ':to': string } {
  return { ':from': prefix, ':to': `${prefix}\u{10FFFF}` };
}

/** One vote, in units of `popularityRank`. */
export const rankStep = 10n ** 29n;

/**
 * The number that the popularity order sorts by: popularity, then time of publication (ms), then the first 52 bits of the
 * id, in 38 decimal digits. A number and not a text, so that a vote moves a review with one ADD and needs not know its popularity.
 */
export function popularityRank(popularity: number, published_on: string, id: string): bigint {
  const time = BigInt(Date.parse(published_on)) * 10n ** 16n;
  return BigInt(popularity) * rankStep + time + BigInt(`0x${id.replaceAll('-', '').slice(0, 13)}`);
}
