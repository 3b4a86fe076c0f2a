import type { Order } from './definition.ts';
import type { Key } from './item.ts';

/**
 * Items of the table and their keys. Times in keys are ISO 8601 (UTC, milliseconds), which sort by
 * time. A test compares these lines with the items that a journey writes.
 *
 * | item        | pk               | sk                        | listed in (index partition → order)                     |
 * |-------------|------------------|---------------------------|---------------------------------------------------------|
 * | review      | REVIEW#<id>      | REVIEW                    | public: all REVIEW, type <type>, facet <type>|<language>, entity <id>, author <user> → both |
 * |             |                  |                           | draft or hidden: author UNLISTED#<user> → date          |
 * |             |                  |                           | being deleted: none                                     |
 * | long text   | REVIEW#<id>      | LONGTEXT                  | an imported text that is longer than people write: the whole of the current one |
 * | revision    | REVIEW#<id>      | REVISION#<n, 6 digits>    | an earlier one; the review holds the current one         |
 * | vote        | REVIEW#<id>      | VOTE#<user>               | author VOTER#<user> → date                              |
 * | spam report | REVIEW#<id>      | REPORT#<user>             | author REPORTER#<user> → date                           |
 * | case        | REVIEW#<id>      | CASE                      | all CASE → both while it is open                        |
 * | waiting text | REVIEW#<id>     | WAITING                   | the text of an edit that waits for a moderator          |
 * | decision    | DECISION#<id>    | DECISION                  | all DECISION → date, author SUBJECT#<user> → date       |
 * | user        | USER#<id>        | USER                      | all USER → date                                         |
 * | counts      | USER#<id>        | COUNTS                    | counts of the user's reviews, see review/owner-counts.ts |
 * | contact     | CONTACT#<user>   | CONTACT                   | private fields of the account                           |
 * | claim       | USER#<id>        | CLAIM#<entity>            | the one review that a user has of an entity             |
 * |             |                  |                           | marked (hidden, then deleted): author HIDDEN#<user> → date |
 * |             |                  |                           | reported, then deleted: with the undecided reports      |
 * | moderator's name | NAME#<sha-256> | NAME                  | number of moderators with this name                     |
 * | daily votes | USER#<id>        | VOTES#<yyyy-mm-dd>        | all VOTES → date; also reports, publications and edits  |
 * | grant       | USER#<id>        | GRANT#<client>#<grant id> | author CLIENT#<client> → date                           |
 * | application | APP#<client>     | APP                       | author OWNER#<user> → date                              |
 * | webhook     | WEBHOOK          | HOOK#<client>#<n>         | all WEBHOOK → date of the next attempt, while active   |
 * | sending     | WEBHOOK#RUN      | RUN                       | time up to which webhooks have told everything          |
 * | code        | CODE#<sha-256>   | CODE                      | author APPROVER#<user> → date                           |
 * | request     | REQUEST#<id>     | REQUEST                   | an authorization request, until shortly after its answer |
 * | identity    | IDENTITY#<sha-256> | IDENTITY                | user that an issuer and subject sign in to; after its deletion: its block, hidden and reported reviews |
 * | idempotency | IDEMPOTENCY#<sha-256> | IDEMPOTENCY          | the answer to a request, by its user and key            |
 * | entity      | ENTITY#<id>      | ENTITY                    | counts of its reviews, see review/owner-counts.ts       |
 * | metadata    | METADATA#<type>#<id> | METADATA              | record of an entity; by a person: author NAMER#<user> → date |
 * |             |                  |                           | of a database, or waiting for a name: all DUE#<database> → date |
 * |             |                  |                           | named by a newcomer, not public yet: all NAMING → date  |
 * | proposal    | METADATA#<type>#<id> | PROPOSAL#<user>       | all PROPOSAL → date, author PROPOSER#<user> → date      |
 * | name        | WORD#<character> | NAMED#<level>#<words> #<type>#<entity> | one for each word that a thing is found by, by the level of its reviews |
 * | thing       | THINGS#<sort>#<type> | THING#<rank>#<entity>   | a thing in a list of things, see things/listing.ts      |
 * | latest thing | THINGS#latest   | THING#<time>#<entity>     | a thing in the list of the latest of all types          |
 * | pace        | METADATA#<database> | PACE                   | earliest time of the next request to that database      |
 * | pace of searches | METADATA#<database> | PACE#SEARCH       | earliest time of the next search in that database       |
 * | pace of names | METADATA#<database> | PACE#NAMES           | earliest time of the next run that asks for names       |
 * | search      | METADATA#SEARCH#<sha-256> | SEARCH           | entities that a database found by a name, for an hour   |
 * | totals      | TOTALS           | TOTAL#<type>              | counts of the public reviews of a type                  |
 * | rank tree   | TREE#<list>      | root                      | counters of both trees' children: list/rank-tree.ts     |
 * | rank tree   | TREE#<list>      | date#<child>…             | counters of the children of a node                      |
 * | rank tree   | TREE#<list>      | popularity#<child>…       | counters of the children of a node                      |
 * | projection  | REVIEW#<id>      | PROJECTION                | contribution of a review to totals and rank trees       |
 * | projection  | USER#<id>        | PROJECTION                | contribution of a user                                  |
 * | deferred    | DEFERRED         | COUNTS#<uuid>             | counts to be added to totals and upper nodes after the batch |
 * | rebuild     | TOTALS           | REBUILD#<lane>            | held while totals and rank trees are rebuilt            |
 * | bulk import | IMPORT           | IMPORT                    | exists until everything imported is counted             |
 * | last run    | HEALTH           | DONE#<task>               | when a task was last done |
 * | changes     | CHANGES#<lane>   | AT#<epoch ms, 13 digits>  | public reviews that were written, people whose access ended |
 * | lane        | CHANGES          | LANE#<lane>               | time of the last item in a lane of the change log       |
 * | epoch       | CHANGES          | EPOCH                     | time of the last restore, after which cursors are gone  |
 *
 * An item is in an index when it has both attributes of the index (definition.ts). Prefixes end in
 * #. Sort keys of one partition differ in more than case, because the embedded engine ignores case
 * when it compares prefixes.
 */

const key = (pk: string, sk: string): Key => ({ pk, sk });

export const reviewKey = (id: string) => key(`REVIEW#${id}`, 'REVIEW');

/** Sorts before the review: a scan that meets a long review has its text, also beside an edit. */
export const longTextKey = (review: string) => key(`REVIEW#${review}`, 'LONGTEXT');

export const revisionKey = (review: string, number: number) =>
  key(`REVIEW#${review}`, `REVISION#${String(number).padStart(6, '0')}`);
export const voteKey = (review: string, user: string) => key(`REVIEW#${review}`, `VOTE#${user}`);
export const reportKey = (review: string, user: string) =>
  key(`REVIEW#${review}`, `REPORT#${user}`);
export const caseKey = (review: string) => key(`REVIEW#${review}`, 'CASE');
export const waitingKey = (review: string) => key(`REVIEW#${review}`, 'WAITING');
export const decisionKey = (id: string) => key(`DECISION#${id}`, 'DECISION');
export const userKey = (id: string) => key(`USER#${id}`, 'USER');

/** Separate from the user, because every list reads its authors, and none their counts. */
export const countsKey = (user: string) => key(`USER#${user}`, 'COUNTS');

/** `sha256` is the hexadecimal hash of a name as people read it, see user/moderator-name.ts. */
export const moderatorNameKey = (sha256: string) => key(`NAME#${sha256}`, 'NAME');

/** Separate from the user, because public readers may read everything under USER#. */
export const contactKey = (user: string) => key(`CONTACT#${user}`, 'CONTACT');

export const claimKey = (user: string, entity: string) => key(`USER#${user}`, `CLAIM#${entity}`);
export const grantKey = (user: string, client: string, grant: string) =>
  key(`USER#${user}`, `GRANT#${client}#${grant}`);
export const applicationKey = (client: string) => key(`APP#${client}`, 'APP');

/** Ends of the keys of an application's webhooks: it has at most two. */
export const webhookSlots = [1, 2] as const;

/** Returns the key of a webhook of an application, or the prefix of those of one, or of all. */
export const webhookKey = (client = '', slot: number | string = '') =>
  key('WEBHOOK', `HOOK#${client && `${client}#`}${slot}`);

/** Not in the partition of webhooks, because readers of the state of the service may read it. */
export const webhookRunKey = key('WEBHOOK#RUN', 'RUN');

export const authorizationRequestKey = (id: string) => key(`REQUEST#${id}`, 'REQUEST');
export const entityKey = (id: string) => key(`ENTITY#${id}`, 'ENTITY');

/** `day` is a UTC day, yyyy-mm-dd. */
export const dailyVotesKey = (user: string, day: string) => key(`USER#${user}`, `VOTES#${day}`);

/** `sha256` is the hexadecimal hash of the authorization code. */
export const codeKey = (sha256: string) => key(`CODE#${sha256}`, 'CODE');

/** `sha256` is the hexadecimal hash of issuer and subject. */
export const identityKey = (sha256: string) => key(`IDENTITY#${sha256}`, 'IDENTITY');

/** `sha256` is the hexadecimal hash of a user and the key of a request. */
export const idempotencyKey = (sha256: string) => key(`IDEMPOTENCY#${sha256}`, 'IDEMPOTENCY');

export const metadataKey = (type: string, id: string) => key(`METADATA#${type}#${id}`, 'METADATA');

/** Returns the key of a person's proposal for a record, or the prefix of all proposals for it. */
export const proposalKey = (type: string, id: string, user: string) =>
  key(metadataKey(type, id).pk, `PROPOSAL#${user}`);

/**
 * Returns the key of a thing in the index of names, under the words from one of its words on. The
 * space before `#` sorts before all that can follow a word, so the very name is the first.
 */
export const nameKey = (level: number, words: string, type: string, id: string) =>
  namesFrom(level, `${words} #${type}#${id}`);

/** Returns the prefix of all names of a level that have a word from which on they begin so. */
export const namesFrom = (level: number, words: string) =>
  key(`WORD#${[...words][0] ?? ''}`, `NAMED#${level}#${words}`);

/** Returns the key of a thing in a list of a type, or of all types, or the prefix of the list. */
export const thingKey = (sort: string, type: string | undefined, place = '') =>
  key(['THINGS', sort, ...(type === undefined ? [] : [type])].join('#'), `THING#${place}`);

export const paceKey = (group: string) => key(`METADATA#${group}`, 'PACE');

export const searchPaceKey = (group: string) => key(`METADATA#${group}`, 'PACE#SEARCH');

export const namesPaceKey = (group: string) => key(`METADATA#${group}`, 'PACE#NAMES');

/** `sha256` is the hexadecimal hash of a database's search, the type and the name. */
export const searchKey = (sha256: string) => key(`METADATA#SEARCH#${sha256}`, 'SEARCH');

/** Returns the key of the totals of an entity type, or the prefix of all such keys. */
export const totalKey = (type = '') => key('TOTALS', `TOTAL#${type}`);

/** Returns true for the key of the totals of a type, which are not the only items beside them. */
export const isTotalKey = ({ pk, sk }: Key) => pk === totalKey().pk && sk.startsWith(totalKey().sk);

/** Returns the key of a node. `path` holds the child numbers from the root of the list's tree. */
export const rankTreeKey = (list: string, order: Order | 'root', path: readonly number[]) =>
  key(`TREE#${list}`, [order, ...path].join('#'));

/**
 * Locks of a rebuild of totals and rank trees, which holds all 16, and the totals of each type.
 * Other transactions that change trees alone delete one at random, if it is absent or expired: one
 * missing lock makes the rebuild fail. Several locks avoid conflicts between these transactions.
 */
export const rebuildKeys: readonly Key[] = Array.from({ length: 16 }, (_, lane) =>
  key('TOTALS', `REBUILD#${lane}`),
);

/** Mark of a bulk import. While it exists, authors, entities and lists are not counted. */
export const bulkImportKey = key('IMPORT', 'IMPORT');

/** Returns the key of the last run of a regular task, such as `backup`. */
export const lastRunKey = (task: string) => key('HEALTH', `DONE#${task}`);

/** Returns the key of deferred counts, or the prefix of all such keys. */
export const deferredKey = (id = '') => key('DEFERRED', `COUNTS#${id}`);

/**
 * Lanes of the change log. A review keeps its lane, so writers of different reviews seldom meet.
 */
export const changesLanes = 8;

/** Returns the key of changes logged at a time (epoch ms), or the prefix for the lane. */
export const changesKey = (lane: number, at?: number) =>
  key(`CHANGES#${lane}`, `AT#${at === undefined ? '' : `${at}`.padStart(13, '0')}`);

/** Returns the key of the head of a lane, which points to its last item, or the prefix of all. */
export const laneKey = (lane?: number) => key('CHANGES', `LANE#${lane ?? ''}`);

/** Key of the epoch of the change log. It sorts before the lanes. */
export const epochKey = key('CHANGES', 'EPOCH');

export const projectionKey = ({ pk }: Pick<Key, 'pk'>) => key(pk, 'PROJECTION');

/** Returns the id in a partition key: all after the first #. */
export function idIn({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice(pk.indexOf('#') + 1);
}

/** Difference that one vote makes in `popularityRank`. */
export const rankStep = 10n ** 29n;

/**
 * Returns the number that the popularity order sorts by: 38 digits of popularity, time of
 * publication (ms) and the first 52 bits of the id. It is a number so that a vote moves a review
 * with one ADD, without reading its popularity.
 */
export function popularityRank(popularity: number, published_on: string, id: string): bigint {
  const bits = BigInt(`0x${id.replaceAll('-', '').slice(0, 13)}`);
  return firstRank(popularity, Date.parse(published_on)) + bits;
}

/** Returns the lowest rank of a popularity and a time of publication (epoch ms). */
export function firstRank(popularity: number, time: number): bigint {
  return BigInt(popularity) * rankStep + BigInt(time) * 10n ** 16n;
}

/** Returns the popularity in a rank. */
export function popularityOf(rank: bigint): number {
  const votes = rank / rankStep;
  // Division of bigints rounds towards zero, and the time in a rank is positive.
  return Number(rank < 0n && votes * rankStep !== rank ? votes - 1n : votes);
}
