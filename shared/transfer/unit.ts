import { nobody } from '../oauth/personal-token-repository.ts';
import type { Key } from '../table/item.ts';
import {
  applicationKey,
  caseKey,
  claimKey,
  projectionKey,
  reviewKey,
  userKey,
  voteKey,
} from '../table/keys.ts';
import { maxActions } from '../table/transact.ts';
import type {
  FullReviewRecord,
  KeptRecord,
  TransferRecord,
  UserRecord,
  VoteRecord,
} from './record.ts';

/** A record, and where it stands, for whoever has to look there. */
export interface Sourced<T extends TransferRecord = TransferRecord> {
  where: string;
  record: T;
}

/** What is written together or not at all: a review with the votes, reports and case that follow it, or some of these on their own. */
export type Unit =
  | { kind: 'user'; user: Sourced<UserRecord> }
  | { kind: 'kept'; kept: Sourced<KeptRecord> }
  | {
      kind: 'review';
      review: Sourced<FullReviewRecord>;
      votes: Vote[];
      kept: Sourced<KeptRecord>[];
    }
  | { kind: 'votes'; reviewId: string; votes: Vote[] };

/** A vote of a unit. */
export type Vote = Sourced<VoteRecord>;

/** Units that are read, and then written, at once. */
const chunkSize = 50;

/** Groups a review with what follows of it, and votes on one review. */
export async function* unitsOf(records: AsyncIterable<Sourced>): AsyncGenerator<Unit> {
  let open: Extract<Unit, { kind: 'review' | 'votes' }> | undefined;
  for await (const sourced of records) {
    const { where, record } = sourced;
    const of = open && (open.kind === 'review' ? open.review.record.id : open.reviewId);
    if (record.kind === 'vote') {
      if (!open || of !== record.review_id || open.votes.length >= 5_000) {
        if (open) yield open;
        open = { kind: 'votes', reviewId: record.review_id, votes: [] };
      }
      open.votes.push({ where, record });
      continue;
    }
    if (isKept(record) && open?.kind === 'review' && record.item.pk === reviewKey(`${of}`).pk) {
      open.kept.push({ where, record });
      continue;
    }
    if (open) yield open;
    open = undefined;
    if (isKept(record)) yield { kind: 'kept', kept: { where, record } };
    else if (record.kind === 'user') yield { kind: 'user', user: { where, record } };
    else open = { kind: 'review', review: { where, record }, votes: [], kept: [] };
  }
  if (open) yield open;
}

function isKept(record: TransferRecord): record is KeptRecord {
  return record.kind !== 'user' && record.kind !== 'review' && record.kind !== 'vote';
}

/** Units by the stage that they belong to: what a later one names is written in an earlier one. */
function stageOf(unit: Unit): string {
  return unit.kind === 'kept' ? unit.kept.record.kind : unit.kind;
}

/** Units that are at work together; `isLast` of their stage. */
export async function* chunksOf(
  units: AsyncIterable<Unit>,
): AsyncGenerator<{ units: Unit[]; isLast: boolean }> {
  let chunk: Unit[] = [];
  for await (const unit of units) {
    const [first] = chunk;
    const isLast = first !== undefined && stageOf(first) !== stageOf(unit);
    if (isLast || chunk.length >= chunkSize) {
      yield { units: chunk, isLast };
      chunk = [];
    }
    chunk.push(unit);
  }
  if (chunk.length > 0) yield { units: chunk, isLast: true };
}

/** What decides what becomes of a unit. */
export function keysOf(unit: Unit): Key[] {
  if (unit.kind === 'user') {
    const key = userKey(unit.user.record.id);
    return [key, projectionKey(key)];
  }
  if (unit.kind === 'kept') return keysOfKept(unit.kept);
  const votes = unit.votes.slice(0, maxActions).flatMap(({ record: { review_id, user_id } }) => {
    return [voteKey(review_id, user_id), userKey(user_id)];
  });
  if (unit.kind === 'votes') return [reviewKey(unit.reviewId), ...votes];
  const { id, user_id, entity_id } = unit.review.record;
  const key = reviewKey(id);
  const claim = claimKey(user_id, entity_id);
  const kept = unit.kept.slice(0, maxActions).flatMap(keysOfKept);
  return [key, projectionKey(key), claim, userKey(user_id), ...votes, ...kept];
}

function keysOfKept({ record: { kind, item } }: Sourced<KeptRecord>): Key[] {
  const { pk, sk, user_id, client_id } = item;
  return [
    { pk, sk },
    ...(user_id ? [userKey(user_id)] : []),
    ...(kind === 'grant' && client_id !== nobody ? [applicationKey(`${client_id}`)] : []),
    ...(pk.startsWith('REVIEW#')
      ? [
          { pk, sk: 'REVIEW' },
          { pk, sk: caseKey('').sk },
        ]
      : []),
  ];
}

/** Stands among known items for whatever a deleted review has left. */
export function remainsKey(reviewId: string): Key {
  return { pk: reviewKey(reviewId).pk, sk: '' };
}

/** All records of a unit. */
export function sources(unit: Unit): Sourced[] {
  if (unit.kind === 'user') return [unit.user];
  if (unit.kind === 'kept') return [unit.kept];
  if (unit.kind === 'votes') return unit.votes;
  return [unit.review, ...unit.votes, ...unit.kept];
}
