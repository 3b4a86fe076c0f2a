// Decides what an import writes for each record, from the records and what the table has.
import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import { type Item, type Key, keyString } from '../../base/table/item.ts';
import { bytesIn, itemsIn } from '../../base/table/merge.ts';
import { putNew, type Write } from '../../base/table/transact.ts';
import { EntityRecord } from '../../core/entity/record.ts';
import {
  addressKey,
  caseKey,
  claimKey,
  identityKey,
  projectionKey,
  reviewKey,
  userKey,
  voteKey,
} from '../../core/keys.ts';
import { oneMore } from '../../core/review/case.ts';
import { newReview, noVotes, type WholeReview } from '../../core/review/review.ts';
import { publication } from '../../core/review/review-writes.ts';
import { revisionItem } from '../../core/review/revision.ts';
import { writtenIn } from '../../core/review/written.ts';
import { claimableItem, hashOfAddress } from '../../core/user/claimable.ts';
import { isNameTaken, keysOfName } from '../../core/user/moderator-name.ts';
import { accountWrites } from '../../core/user/name-repository.ts';
import { readerName, type User, whereAlive } from '../../core/user/user.ts';
import { importedVote, type Voted } from '../../core/vote/vote-repository.ts';
import { kinds } from '../kinds.ts';
import { type Find, hasAccount, isThere } from './find.ts';
import { factsIn, rawItem, thingsOf } from './item-record.ts';
import { linkedKeys, planEntity } from './plan-entity.ts';
import type {
  FullReviewRecord,
  RawRecord,
  SourcedRecord,
  TransferRecord,
  UserRecord,
  VoteRecord,
} from './record.ts';

/**
 * Bytes of JSON of a revision. DynamoDB takes 400 KB, and counts a little less than JSON. An answer
 * of the API has 512 KB, so any text fits it. Who imports a longer text is told.
 */
const largestRevision = 390_000;
/**
 * Bytes of JSON of a review beside its text and a moderator's note, which public answers have. So a
 * lookup always holds 25. Who imports a longer source is told.
 */
const mostBesideText = 3_800;
/** The counts of a revision on which nobody has voted. */
const noRevisionVotes = pick(noVotes, ['votes_positive', 'votes_negative']);
/** Maximum of earlier revisions in the transaction of their review, and of their bytes of JSON. */
const mostRevisions = 40;
const mostRevisionBytes = 2_000_000;

/** Reason to refuse a record while a deletion is unfinished, unless the import waits for it. */
export const unfinished =
  'its deletion is not finished: run `npm run admin -- erase`, or import it again later';
const noReview = 'its review does not exist';
// An older account would lift the decisions of moderators on its person.
const wasModerated =
  'its account was deleted while it was blocked or had hidden or reported reviews';
const hasAnother = 'its account was deleted, and its person now has another account';
const noAccount = 'user_id names no account';
/** Reasons by the sort key of the thing that is missing. */
const missing: Record<string, string> = {
  USER: noAccount,
  APP: 'client_id names no application',
  REVIEW: noReview,
};
const isAlive = { where: whereAlive };

/** A record with the writes that store it. */
export interface PlannedRecord extends SourcedRecord {
  writes: Write[];
}

interface Decisions {
  planned: PlannedRecord[];
  /** Records that the table already has. */
  present: SourcedRecord[];
  refused: [source: SourcedRecord, reason: string][];
  /** Records that wait for an unfinished deletion. */
  waiting: SourcedRecord[];
}

/**
 * Decides what becomes of each record, in order. `existing` gains the items that are planned, so
 * that later records may refer to them. If `mayWait`, records whose deletion is unfinished wait,
 * and with them all later records of the partition.
 */
export function decide(
  sources: readonly SourcedRecord[],
  existing: Map<string, Item>,
  mayWait: boolean,
): Decisions {
  const decisions: Decisions = { planned: [], present: [], refused: [], waiting: [] };
  const waitingPartitions = new Set<string>();
  for (const source of sources) {
    const { pk } = transferKey(source.record);
    const plan = planOf(source.record, (key) => existing.get(keyString(key)));
    if (mayWait && (plan === unfinished || waitingPartitions.has(pk))) {
      waitingPartitions.add(pk);
      decisions.waiting.push(source);
    } else if (typeof plan === 'string') {
      decisions.refused.push([source, plan]);
    } else if (plan.length === 0) {
      decisions.present.push(source);
    } else {
      decisions.planned.push({ ...source, writes: plan });
      for (const item of itemsIn(plan)) existing.set(keyString(item), item);
    }
  }
  return decisions;
}

/** Returns the key of the item that a record becomes. */
export function transferKey(record: TransferRecord): Key {
  if (record.kind === 'user') return userKey(record.id);
  if (record.kind === 'review') return reviewKey(record.id);
  if (record.kind === 'vote') return voteKey(record.review_id, record.user_id);
  return record.item;
}

/** Returns the writes of a record: none if it exists, or the reason if it is refused. */
function planOf(record: TransferRecord, find: Find): Write[] | string {
  if (record.kind === 'user') return planUser(record, find);
  if (record.kind === 'review') return planReview(record, find);
  if (record.kind === 'vote') return planVote(record, find);
  return planRaw(record, find);
}

/** Returns the keys of the items that decide how a record is treated, first its own. */
export function decidingKeys(record: TransferRecord): Key[] {
  const key = transferKey(record);
  if (record.kind === 'user') {
    const keys = [key, projectionKey(key), ...keysOfName(record.display_name)];
    const identity = record.contact?.identity;
    if (identity) keys.push(identityKey(identity));
    const address = claimingAddress(record);
    if (address) keys.push(addressKey(hashOfAddress(address)));
    return keys;
  }
  if (record.kind === 'review') {
    const { user_id, entity_id } = record;
    return [key, projectionKey(key), claimKey(user_id, entity_id), userKey(user_id)];
  }
  if (record.kind === 'vote') return [key, userKey(record.user_id), reviewKey(record.review_id)];
  const keys = [key, ...thingsOf(record.item)];
  if (record.kind === 'report') keys.push(caseBeside(key));
  if (record.kind === 'entity') keys.push(...linkedKeys(v.parse(EntityRecord, record.item)));
  return keys;
}

/** Returns a key that stands for all remains of a deleted review among the known items. */
export function remainsKey(reviewId: string): Key {
  return { pk: reviewKey(reviewId).pk, sk: '' };
}

function planUser(record: UserRecord, find: Find): Write[] | string {
  const { id, display_name, created, contact } = record;
  const key = userKey(id);
  const existing = find(key);
  if (existing) return existing.deleted_at === undefined ? [] : unfinished;
  const identity = contact?.identity && find(identityKey(contact.identity));
  if (identity && identity.user_id !== id) return identity.user_id ? hasAnother : wasModerated;
  const user: User = { id, display_name, created, karma: 0, ...factsIn(record) };
  if (!user.is_moderator && keysOfName(display_name).some((each) => isNameTaken(find(each)))) {
    user.display_name = readerName(id);
    user.has_proposed_name = true;
  }
  const writes = accountWrites(user, contact, versionAfter(key, find));
  const address = claimingAddress(record);
  if (address === undefined) return writes;
  if (find(addressKey(hashOfAddress(address)))) {
    return 'contact.email is the verified address of another account that waits for its person: leave out contact.email_verified of one';
  }
  return [...writes, putNew(claimableItem(address, { user_id: id }))];
}

/** Returns the address by which the person may claim an account that nobody signs in to. */
export function claimingAddress({ contact }: UserRecord): string | undefined {
  const isClaimable = contact?.email_verified && contact.identity === undefined;
  return isClaimable ? (contact.email ?? undefined) : undefined;
}

function planReview(record: FullReviewRecord, find: Find): Write[] | string {
  const { id, user_id, entity_id, revisions } = record;
  const key = reviewKey(id);
  const existing = find(key);
  if (existing?.deleted_at !== undefined || find(remainsKey(id))) return unfinished;
  if (existing) return [];
  if (!hasAccount(user_id, find)) return noAccount;
  // If the claim names this very review, written between the two reads, the transaction fails.
  const claim = find(claimKey(user_id, entity_id));
  if (claim?.marked_at !== undefined) {
    return 'a moderator has hidden a review of this entity by the author, who has deleted it';
  }
  const isFree = claim === undefined || claim.reported !== undefined;
  if (!isFree && claim.review_id !== id) return 'the author has another review of this entity';
  const sizes = revisions.map(bytesIn);
  if (sizes.some((bytes) => bytes > largestRevision)) {
    return 'the text of a revision is larger than 390 KB as JSON';
  }
  // A moderator's note is bounded where it is written, and in no public answer.
  if (bytesIn({ ...record, revisions: [], moderation: undefined }) > mostBesideText) {
    return 'source, source_url and the other fields beside revisions are larger than 3,800 bytes as JSON';
  }
  const version = versionAfter(key, find);
  const isAhead = revisions.length > mostRevisions || sumOf(sizes.slice(0, -1)) > mostRevisionBytes;
  const earlier = revisions.slice(0, -1).map((revision): Write => {
    const Item: object = revisionItem({ ...revision, review_id: id, ...noRevisionVotes });
    // The version tells the eraser that a revision written ahead does not belong to a deleted
    // review.
    return { Put: { Item: isAhead ? { ...Item, version } : Item } };
  });
  const reported = claim?.reported === undefined ? undefined : claim;
  return [...earlier, ...publication(reviewIn(record, version), { reported, isImport: true })];
}

/** Makes the review without any votes. */
function reviewIn(record: FullReviewRecord, version: number): WholeReview {
  const current = record.revisions.at(-1) as (typeof record.revisions)[number];
  const review = newReview(record.user_id, {
    ...record,
    ...writtenIn(current),
    license_choice: record.license,
    is_draft: record.published_on === null,
  });
  return {
    ...review,
    last_updated: current.timestamp,
    edits: record.revisions.length - 1,
    version,
    ...factsIn(record),
  };
}

function planVote({ kind: _, ...vote }: VoteRecord, find: Find): Write[] | string {
  const { review_id, user_id, revision } = vote;
  const review = find(reviewKey(review_id)) as (Item & Voted) | undefined;
  if (!review || review.deleted_at !== undefined || !hasAccount(review.user_id, find)) {
    return noReview;
  }
  if (find(voteKey(review_id, user_id))) return [];
  if (user_id === review.user_id) return 'the voter is the author of the review';
  if (revision > review.edits + 1) return 'revision does not exist in its review';
  return hasAccount(user_id, find) ? importedVote(review, vote) : noAccount;
}

/** Plans an item that only requires the items it refers to. */
function planRaw(record: RawRecord, find: Find): Write[] | string {
  const { kind, item } = record;
  if (kind === 'entity') return planEntity(record, find);
  const { user_id } = item;
  const existing = find(item);
  if (existing) {
    const hasLost = kind === 'identity' && user_id && existing.user_id === undefined;
    return hasLost ? wasModerated : [];
  }
  const writes: Write[] = [putNew(rawItem(record))];
  for (const Key of kinds[kind].isLasting ? [] : thingsOf(item)) {
    if (!isThere(Key, find)) return missing[Key.sk] ?? 'it names something that does not exist';
    const isCounted = kind === 'application' && Key.sk === userKey('').sk;
    writes.push(
      isCounted
        ? { Update: { Key, amounts: { applications: 1 }, isOwner: true, ...isAlive } }
        : { ConditionCheck: { Key, ...isAlive } },
    );
  }
  const openCase = find(caseBeside(item));
  // An export lists a case after its reports, so an existing open case has not counted this report.
  if (kind === 'report' && openCase?.state === 'open' && openCase.round === item.round) {
    const report = { reason: `${item.reason}` };
    writes.push({ Update: oneMore(caseBeside(item), Number(item.round), report) });
  }
  return writes;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);

const caseBeside = ({ pk }: Key): Key => ({ pk, sk: caseKey('').sk });

/**
 * Returns the first version of an imported item: the time in epoch ms. It is above every earlier
 * version, even of forgotten items, because no item changes every millisecond.
 */
function versionAfter(key: Key, find: Find): number {
  const projection = find(projectionKey(key));
  return Math.max(Date.now(), Number(projection?.version ?? 0) + 1);
}
