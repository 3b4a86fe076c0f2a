import { oneMore } from '../moderation/case.ts';
import { nobody } from '../oauth/personal-token-repository.ts';
import { pick } from '../pick.ts';
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
import { putNew, type Write } from '../table/transact.ts';
import { isAlive, type User } from '../user/user.ts';
import { accountWrites } from '../user/user-repository.ts';
import { importedVote, type Voted } from '../vote/vote-repository.ts';
import { othersOf, rawItem } from './item-record.ts';
import type {
  FullReviewRecord,
  RawRecord,
  SourcedRecord,
  TransferRecord,
  UserRecord,
  VoteRecord,
} from './record.ts';

/** Items that exist or are about to be written, by `keyString`. */
export type ExistingItems = ReadonlyMap<string, Item>;

/** Bytes of JSON. DynamoDB takes 400 KB, and counts a little less than JSON. */
const largestItem = 390_000;
/** Maximum of earlier revisions in the transaction of their review. */
const mostRevisions = 40;

/** Maximum of partitions, and of their records, in one chunk that is read and then written. */
const chunkSize = 50;
const mostRecords = 5_000;

/** Reason to refuse a record while a deletion is unfinished, unless the import waits for it. */
export const unfinished =
  'its deletion is not finished: run `npm run admin -- erase`, or import it again later';
const noReview = 'its review does not exist';
// An older account would lift the decisions of moderators on its person.
const wasModerated = 'its account was deleted while it was blocked or had hidden reviews';
const hasAnother = 'its account was deleted, and its person now has another account';
const noAccount = 'user_id names no account';
const exists = 'attribute_exists(pk)';

/**
 * Splits records into chunks to process together. Consecutive records of a partition, such as a
 * review and its votes, stay in one chunk of up to 5,000 records. After a chunk with `isLast`, the
 * next chunk may refer to any chunk before it, because it begins another kind or continues the
 * partition.
 */
export async function* chunksOf(
  records: AsyncIterable<SourcedRecord>,
): AsyncGenerator<{ sources: SourcedRecord[]; isLast: boolean }> {
  let sources: SourcedRecord[] = [];
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

/** Returns the partition of a record. */
export function partitionOf(record: TransferRecord): string {
  if (record.kind === 'user') return userKey(record.id).pk;
  if (record.kind === 'review') return reviewKey(record.id).pk;
  return record.kind === 'vote' ? reviewKey(record.review_id).pk : record.item.pk;
}

/** Returns the writes of a record: none if it exists, or the reason if it is refused. */
export function planOf(record: TransferRecord, known: ExistingItems): Write[] | string {
  if (record.kind === 'user') return planUser(record, known);
  if (record.kind === 'review') return planReview(record, known);
  return record.kind === 'vote' ? planVote(record, known) : planRaw(record, known);
}

/** Returns the keys of the items that decide how a record is treated. */
export function keysOf(record: TransferRecord): Key[] {
  if (record.kind === 'user') {
    const identity = record.contact?.identity;
    const key = userKey(record.id);
    return [key, projectionKey(key), ...(identity ? [identityKey(identity)] : [])];
  }
  if (record.kind === 'review') {
    const { id, user_id, entity_id } = record;
    const key = reviewKey(id);
    return [key, projectionKey(key), claimKey(user_id, entity_id), userKey(user_id)];
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

/** Returns a key that stands for all remains of a deleted review among the known items. */
export function remainsKey(reviewId: string): Key {
  return { pk: reviewKey(reviewId).pk, sk: '' };
}

function planUser(record: UserRecord, known: ExistingItems): Write[] | string {
  const { id, display_name, created, contact } = record;
  const key = userKey(id);
  const existing = known.get(keyString(key));
  if (existing) return existing.deleted_at === undefined ? [] : unfinished;
  const identity = contact?.identity && known.get(keyString(identityKey(contact.identity)));
  if (identity && identity.user_id !== id) return identity.user_id ? hasAnother : wasModerated;
  const user: User = { id, display_name, created, karma: 0, ...othersOf(record) };
  return accountWrites(user, contact, versionAfter(key, known));
}

function planReview(record: FullReviewRecord, known: ExistingItems): Write[] | string {
  const { id, user_id, entity_id, revisions } = record;
  const key = reviewKey(id);
  const existing = known.get(keyString(key));
  if (existing?.deleted_at !== undefined || known.has(keyString(remainsKey(id)))) return unfinished;
  if (existing) return [];
  if (!hasAccount(user_id, known)) return noAccount;
  // If the claim names this very review, written between the two reads, the transaction fails.
  const claim = known.get(keyString(claimKey(user_id, entity_id)));
  if (claim?.marked_at !== undefined) {
    return 'a moderator has hidden a review of this entity by the author, who has deleted it';
  }
  if ((claim?.review_id ?? id) !== id) return 'the author has another review of this entity';
  if (revisions.some((revision) => bytesIn(revision) > largestItem)) {
    return 'a revision is larger than 390 KB';
  }
  const version = versionAfter(key, known);
  // The version tells the eraser that a revision written ahead does not belong to a deleted review.
  const ahead = revisions.length > mostRevisions && { version };
  const noVotes = { votes_positive: 0, votes_negative: 0 };
  return [
    ...revisions.slice(0, -1).map((revision) => {
      const Item = { ...revisionItem({ review_id: id, ...revision, ...noVotes }), ...ahead };
      return { Put: { Item } };
    }),
    ...publication(reviewIn(record, version)),
  ];
}

/** Makes the review without any votes. */
function reviewIn(record: FullReviewRecord, version: number): Review {
  const { text, rating, timestamp } = record.revisions.at(-1) as (typeof record.revisions)[number];
  const content = { ...record, text, rating, license_choice: record.license };
  return {
    ...newReview(record.user_id, { ...content, is_draft: record.published_on === null }),
    ...pick(record, ['id', 'created', 'published_on', 'is_hidden', 'source', 'source_url']),
    last_updated: timestamp,
    edits: record.revisions.length - 1,
    version,
    ...othersOf(record),
  };
}

function planVote({ kind: _, ...vote }: VoteRecord, known: ExistingItems): Write[] | string {
  const { review_id, user_id, revision } = vote;
  const review = known.get(keyString(reviewKey(review_id))) as (Item & Voted) | undefined;
  if (!review || review.deleted_at !== undefined || !hasAccount(review.user_id, known)) {
    return noReview;
  }
  if (known.has(keyString(voteKey(review_id, user_id)))) return [];
  if (user_id === review.user_id) return 'the voter is the author of the review';
  if (revision > review.edits + 1) return 'revision does not exist in its review';
  return hasAccount(user_id, known) ? importedVote(review, vote) : noAccount;
}

/** Plans an item that only requires the items it refers to. */
function planRaw(record: RawRecord, known: ExistingItems): Write[] | string {
  const { kind, item } = record;
  const { pk, sk, user_id, client_id } = item;
  const existing = known.get(keyString({ pk, sk }));
  if (existing && kind === 'identity' && user_id && existing.user_id === undefined) {
    return wasModerated;
  }
  if (existing) return [];
  const writes: Write[] = [putNew(rawItem(record))];
  if (user_id && kind !== 'decision') {
    if (!hasAccount(user_id, known)) return noAccount;
    const alive = { Key: userKey(user_id), ConditionExpression: isAlive };
    writes.push(
      kind === 'application'
        ? { Update: { ...alive, amounts: { applications: 1 }, isOwner: true } }
        : { ConditionCheck: alive },
    );
  }
  if (kind === 'grant' && client_id !== nobody) {
    const Key = applicationKey(`${client_id}`);
    if (!known.has(keyString(Key))) return 'client_id names no application';
    writes.push({ ConditionCheck: { Key, ConditionExpression: exists } });
  }
  if (!isOfReview(record)) return writes;
  const Key = reviewOf(record);
  const review = known.get(keyString(Key));
  if (!review || review.deleted_at !== undefined) return noReview;
  writes.push({ ConditionCheck: { Key, ConditionExpression: exists } });
  const openCase = known.get(keyString({ pk, sk: caseKey('').sk }));
  // An export lists a case after its reports, so an existing open case has not counted this report.
  if (kind === 'report' && openCase?.state === 'open' && openCase.round === item.round) {
    writes.push({
      Update: oneMore({ pk, sk: openCase.sk }, Number(item.round), { reason: `${item.reason}` }),
    });
  }
  return writes;
}

function isOfReview({ item }: RawRecord): boolean {
  return item.pk.startsWith(reviewKey('').pk);
}

function reviewOf({ item: { pk } }: RawRecord): Key {
  return { pk, sk: reviewKey('').sk };
}

function hasAccount(userId: string, known: ExistingItems): boolean {
  const user = known.get(keyString(userKey(userId)));
  return user !== undefined && user.deleted_at === undefined;
}

/**
 * Returns the first version of an imported item: the time in epoch ms. It is above every earlier
 * version, even of forgotten items, because no item changes every millisecond.
 */
function versionAfter(key: Key, known: ExistingItems): number {
  const projection = known.get(keyString(projectionKey(key)));
  return Math.max(Date.now(), Number(projection?.version ?? 0) + 1);
}
