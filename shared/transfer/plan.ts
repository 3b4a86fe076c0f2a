import { isOpenIn, oneMore } from '../moderation/case.ts';
import { nobody } from '../oauth/personal-token-repository.ts';
import { newReview, type Review } from '../review/review.ts';
import { publication } from '../review/review-writes.ts';
import { revisionItem } from '../review/revision.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import {
  applicationKey,
  caseKey,
  claimKey,
  identityKey,
  projectionKey,
  reviewKey,
  userKey,
  voteKey,
} from '../table/keys.ts';
import { bytesIn } from '../table/merge.ts';
import { add, addCounts, type Write } from '../table/transact.ts';
import { isAlive, type User } from '../user/user.ts';
import { accountWrites } from '../user/user-repository.ts';
import { importedVote, type Voted } from '../vote/vote-repository.ts';
import { othersOf, rawItem } from './item-record.ts';
import type {
  FullReviewRecord,
  RawRecord,
  Sourced,
  TransferRecord,
  UserRecord,
  VoteRecord,
} from './record.ts';

/** Items that are there, or are about to be, by `keyString`. */
export type Known = ReadonlyMap<string, Item>;

/** In bytes of JSON; DynamoDB takes 400 KB, and counts a little less. */
const largestItem = 390_000;
/** Earlier revisions of a review that its transaction has room for. */
const mostRevisions = 40;

/** Partitions that are read, and then written, at once, and the most records of them. */
const chunkSize = 50;
const mostRecords = 5_000;

/** The reason for which a record is refused unless somebody waits. */
export const unfinished =
  'its deletion is not finished: import it again later, or call `npm run admin -- erase` before';
const noReview = 'its review is not there';
// What moderators decided on somebody would be lifted by an older account.
const wasModerated = 'its account was deleted while it was blocked or had hidden reviews';
const hasAnother = 'its person has signed in to another account since it was deleted';
const noAccount = 'user_id names no account';
const isThere = 'attribute_exists(pk)';

/**
 * Records that are at work together: those of a partition that follow each other are, such as a
 * review and its votes. `isLast` where what comes next may name them: it begins with another kind,
 * or goes on with the partition.
 */
export async function* chunksOf(
  records: AsyncIterable<Sourced>,
): AsyncGenerator<{ sources: Sourced[]; isLast: boolean }> {
  let sources: Sourced[] = [];
  let [kind, partition, partitions] = ['', '', 0];
  for await (const source of records) {
    const next = partitionOf(source.record);
    const isNext = next !== partition;
    const isOther = isNext && source.record.kind !== kind;
    if (isOther || (isNext && partitions >= chunkSize) || sources.length >= mostRecords) {
      if (sources.length > 0) yield { sources, isLast: isOther || !isNext };
      [sources, partitions] = [[], 0];
    }
    if (isNext) [kind, partition, partitions] = [source.record.kind, next, partitions + 1];
    sources.push(source);
  }
  if (sources.length > 0) yield { sources, isLast: true };
}

/** The partition in which a record is written. */
export function partitionOf(record: TransferRecord): string {
  if (record.kind === 'user') return userKey(record.id).pk;
  if (record.kind === 'review') return reviewKey(record.id).pk;
  return record.kind === 'vote' ? reviewKey(record.review_id).pk : record.item.pk;
}

/**
 * The writes of a record as things stand: none if it is there already. Or why it is refused, in
 * words.
 */
export function planOf(record: TransferRecord, known: Known): Write[] | string {
  if (record.kind === 'user') return planUser(record, known);
  if (record.kind === 'review') return planReview(record, known);
  return record.kind === 'vote' ? planVote(record, known) : planRaw(record, known);
}

/** Keys of what decides what becomes of a record. */
export function keysOf(record: TransferRecord): Key[] {
  if (record.kind === 'user') {
    const identity = record.contact?.identity;
    return [...withProjection(userKey(record.id)), ...(identity ? [identityKey(identity)] : [])];
  }
  if (record.kind === 'review') {
    const { id, user_id, entity_id } = record;
    return [...withProjection(reviewKey(id)), claimKey(user_id, entity_id), userKey(user_id)];
  }
  if (record.kind === 'vote') {
    const { review_id, user_id } = record;
    return [voteKey(review_id, user_id), userKey(user_id), reviewKey(review_id)];
  }
  const { pk, sk, user_id, client_id } = record.item;
  return [
    { pk, sk },
    ...(user_id ? [userKey(user_id)] : []),
    ...(record.kind === 'grant' && client_id !== nobody ? [applicationKey(`${client_id}`)] : []),
    ...(isOfReview(record) ? [reviewOf(record), { pk, sk: caseKey('').sk }] : []),
  ];
}

function withProjection(key: Key): Key[] {
  return [key, projectionKey(key)];
}

/** Stands among known items for whatever a deleted review has left. */
export function remainsKey(reviewId: string): Key {
  return { pk: reviewKey(reviewId).pk, sk: '' };
}

function planUser(record: UserRecord, known: Known): Write[] | string {
  const { id, display_name, created, contact } = record;
  const key = userKey(id);
  const there = known.get(keyString(key));
  if (there) return there.deleted_at === undefined ? [] : unfinished;
  const identity = contact?.identity && known.get(keyString(identityKey(contact.identity)));
  if (identity && identity.user_id !== id) return identity.user_id ? hasAnother : wasModerated;
  const user: User = { id, display_name, created, karma: 0, ...othersOf(record) };
  return accountWrites(user, contact, versionAfter(key, known));
}

function planReview(record: FullReviewRecord, known: Known): Write[] | string {
  const { id, user_id, entity_id, revisions } = record;
  const key = reviewKey(id);
  const there = known.get(keyString(key));
  if (there?.deleted_at !== undefined || known.has(keyString(remainsKey(id)))) return unfinished;
  if (there) return [];
  if (!hasAccount(user_id, known)) return noAccount;
  // Its own without itself was written between two reads: the transaction will fail, and all is
  // read again.
  const claim = known.get(keyString(claimKey(user_id, entity_id)));
  if (claim?.marked_at !== undefined) {
    return 'a moderator has hidden a review of this entity by the author, who has deleted it';
  }
  if ((claim?.review_id ?? id) !== id) return 'the author has another review of this entity';
  if (revisions.some((revision) => bytesIn(revision) > largestItem)) {
    return 'a text is larger than the table takes';
  }
  const version = versionAfter(key, known);
  // By its version the eraser sees that one ahead of its review belongs to none that was deleted.
  const ahead = revisions.length > mostRevisions && { version };
  const none = { votes_positive: 0, votes_negative: 0 };
  return [
    ...revisions.slice(0, -1).map((revision) => {
      const Item = { ...revisionItem({ review_id: id, ...revision, ...none }), ...ahead };
      return { Put: { Item } };
    }),
    ...publication(reviewIn(record, version)),
  ];
}

/** The review as it was published, before anybody voted on it. */
function reviewIn(record: FullReviewRecord, version: number): Review {
  const { text, rating, timestamp } = record.revisions.at(-1) as (typeof record.revisions)[number];
  const { license, published_on } = record;
  const content = { ...record, text, rating, license_choice: license };
  return {
    ...newReview(record.user_id, { ...content, is_draft: published_on === null }),
    id: record.id,
    created: record.created,
    last_updated: timestamp,
    published_on,
    edits: record.revisions.length - 1,
    is_hidden: record.is_hidden,
    source: record.source,
    source_url: record.source_url,
    version,
    ...othersOf(record),
  };
}

function planVote({ kind: _, ...vote }: VoteRecord, known: Known): Write[] | string {
  const { review_id, user_id, revision } = vote;
  const review = known.get(keyString(reviewKey(review_id))) as (Item & Voted) | undefined;
  if (!review || review.deleted_at !== undefined || !hasAccount(review.user_id, known)) {
    return noReview;
  }
  if (known.has(keyString(voteKey(review_id, user_id)))) return [];
  if (user_id === review.user_id) return 'a vote on the own review';
  if (revision > review.edits + 1) return 'revision is not one of its review';
  return hasAccount(user_id, known) ? importedVote(review, vote) : noAccount;
}

/** An item that depends on nothing but that what it names is there. */
function planRaw(record: RawRecord, known: Known): Write[] | string {
  const { kind, item } = record;
  const { pk, sk, user_id, client_id } = item;
  const there = known.get(keyString({ pk, sk }));
  if (there && kind === 'identity' && user_id && there.user_id === undefined) {
    return wasModerated;
  }
  if (there) return [];
  const writes: Write[] = [{ Put: { Item: rawItem(record), ...isNew } }];
  if (user_id && kind !== 'decision') {
    if (!hasAccount(user_id, known)) return noAccount;
    const alive = { ConditionExpression: isAlive };
    writes.push(
      kind === 'application'
        ? { Update: addCounts(userKey(user_id), { applications: 1 }, alive) }
        : { ConditionCheck: { Key: userKey(user_id), ...alive } },
    );
  }
  if (kind === 'grant' && client_id !== nobody) {
    const Key = applicationKey(`${client_id}`);
    if (!known.has(keyString(Key))) return 'client_id names no application';
    writes.push({ ConditionCheck: { Key, ConditionExpression: isThere } });
  }
  if (!isOfReview(record)) return writes;
  const Key = reviewOf(record);
  const review = known.get(keyString(Key));
  if (!review || review.deleted_at !== undefined) return noReview;
  writes.push({ ConditionCheck: { Key, ConditionExpression: isThere } });
  const open = known.get(keyString({ pk, sk: caseKey('').sk }));
  // A case comes after its reports: one that is there has not counted this one.
  if (kind === 'report' && open?.state === 'open' && open.round === item.round) {
    writes.push({
      Update: add(
        { pk, sk: open.sk },
        oneMore({ reason: `${item.reason}` }),
        isOpenIn(Number(item.round)),
      ),
    });
  }
  return writes;
}

const isNew = { ConditionExpression: 'attribute_not_exists(pk)' };

function isOfReview({ item }: RawRecord): boolean {
  return item.pk.startsWith(reviewKey('').pk);
}

function reviewOf({ item: { pk } }: RawRecord): Key {
  return { pk, sk: reviewKey('').sk };
}

function hasAccount(userId: string, known: Known): boolean {
  const user = known.get(keyString(userKey(userId)));
  return user !== undefined && user.deleted_at === undefined;
}

/**
 * The first version of something imported: the time, epoch ms. Versions only rise, also of what was
 * deleted and forgotten. A version counts changes, and nothing changes every millisecond.
 */
function versionAfter(key: Key, known: Known): number {
  const projection = known.get(keyString(projectionKey(key)));
  return Math.max(Date.now(), Number(projection?.version ?? 0) + 1);
}
