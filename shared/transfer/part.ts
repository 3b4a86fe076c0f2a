import { isOpenIn, oneMore } from '../moderation/case.ts';
import { nobody } from '../oauth/personal-token-repository.ts';
import { countChanges } from '../review/counts.ts';
import { facetOf, isPublic, type Review } from '../review/review.ts';
import { reviewItem } from '../review/review-writes.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import {
  applicationKey,
  caseKey,
  claimKey,
  contactKey,
  entityKey,
  projectionKey,
  rankStep,
  reviewKey,
  revisionKey,
  userKey,
} from '../table/keys.ts';
import { maxActions } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { userItem } from '../user/user-repository.ts';
import { tally } from '../vote/vote.ts';
import { voteItem } from '../vote/vote-repository.ts';
import { keptItem, othersOf } from './item-record.ts';
import type { FullReviewRecord, KeptRecord, UserRecord } from './record.ts';
import { remainsKey, type Sourced, type Unit, type Vote } from './unit.ts';

/** Amounts that an item gains, on a condition: of several units in one transaction they are added up. */
export interface Touch {
  key: Key;
  amounts?: Readonly<Record<string, number | bigint | undefined>>;
  condition?: {
    ConditionExpression: string;
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, unknown>;
  };
}

/** What a unit asks of a transaction, and what is to be told of it once that is done. */
export interface Part {
  unit: Unit;
  puts: Item[];
  /** Revisions for which a transaction has no room: written before it, as nobody sees them until their review is there. */
  early: Item[];
  touches: Touch[];
  /** First votes by user and UTC day. */
  cast: { userId: string; day: string }[];
  told: Told;
  /** What it has besides, or what does not fit: for when it is written. */
  later: Unit[];
  facet?: string;
  /** Nothing can be written yet: what was deleted here is not erased. */
  isUnfinished?: true;
}

/** What became of records. */
export interface Told {
  written: string[];
  present: string[];
  refused: { where: string; reason: string }[];
}

/** Items that are there, or are about to be, by `keyString`. */
export type Known = ReadonlyMap<string, Item>;

/** Votes of one unit: each may need three actions. */
const mostVotes = 30;
/** In bytes of JSON; DynamoDB takes 400 KB, and counts a little less. */
const largestItem = 390_000;
/** Earlier revisions of a review that its transaction has room for. */
const mostRevisions = 40;

const noReview = 'its review is not there';
const unfinished =
  'its deletion is not finished: import it again later, or call `npm run admin -- erase` before';
const alive = { ConditionExpression: isAlive };
const isThere = { ConditionExpression: 'attribute_exists(pk)' };

/** What a unit needs, as things stand. */
export function partOf(unit: Unit, known: Known): Part {
  const part: Part = {
    unit,
    puts: [],
    early: [],
    touches: [],
    cast: [],
    told: nothing(),
    later: [],
  };
  if (unit.kind === 'user') addUser(part, unit.user, known);
  else if (unit.kind === 'kept') addKept(part, unit.kept, known);
  else if (unit.kind === 'votes') addVotes(part, unit, known);
  else addReview(part, unit, known);
  return part;
}

function addUser(part: Part, { where, record }: Sourced<UserRecord>, known: Known): undefined {
  const { id, display_name, created, contact } = record;
  const key = userKey(id);
  const there = known.get(keyString(key));
  if (there?.deleted_at !== undefined) return wait(part, `${where}, user ${id}`);
  if (there) return present(part, 'user');
  const user = { id, display_name, created, karma: 0, ...othersOf(record) };
  part.puts.push({
    ...userItem(user),
    version: versionAfter(known.get(keyString(projectionKey(key)))),
  });
  if (contact) part.puts.push({ ...contactKey(id), ...contact });
  part.told.written.push('user');
}

/** An item that depends on nothing but that what it names is there. */
function addKept(
  part: Part,
  { where, record }: Sourced<KeptRecord>,
  known: Known,
  isWithReview = false,
): undefined {
  const { kind, item } = record;
  const { pk, sk, user_id, client_id } = item;
  const there = known.get(keyString({ pk, sk }));
  if (there && kind === 'identity' && user_id && there.user_id === undefined) {
    return refuse(
      part,
      where,
      'its account was deleted while it was blocked or had hidden reviews',
    );
  }
  if (there) return present(part, kind);
  const touches: Touch[] = [];
  if (user_id && kind !== 'decision') {
    const user = known.get(keyString(userKey(user_id)));
    if (!isUsable(user)) return refuse(part, where, 'user_id names no account');
    const amounts = kind === 'application' ? { applications: 1 } : undefined;
    touches.push({ key: userKey(user_id), amounts, condition: alive });
  }
  if (kind === 'grant' && client_id !== nobody) {
    const key = applicationKey(`${client_id}`);
    if (!known.has(keyString(key))) return refuse(part, where, 'client_id names no application');
    touches.push({ key, condition: isThere });
  }
  if (pk.startsWith('REVIEW#') && !isWithReview) {
    const key = { pk, sk: 'REVIEW' };
    if (!known.has(keyString(key))) return refuse(part, where, noReview);
    touches.push({ key, condition: isThere });
    const file = known.get(keyString({ pk, sk: caseKey('').sk }));
    // A case comes after its reports: one that is there has not counted this one.
    if (kind === 'report' && file?.state === 'open' && file.round === item.round) {
      touches.push({
        key: { pk, sk: file.sk },
        amounts: oneMore,
        condition: isOpenIn(Number(item.round)),
      });
    }
  }
  part.puts.push(keptItem(record));
  part.touches.push(...touches);
  part.told.written.push(kind);
}

function addReview(part: Part, unit: Extract<Unit, { kind: 'review' }>, known: Known): void {
  const { where, record } = unit.review;
  const { id, user_id, entity_id, revisions } = record;
  const key = reviewKey(id);
  const there = known.get(keyString(key));
  if (there?.deleted_at !== undefined || known.has(keyString(remainsKey(id)))) {
    wait(part, `${where}, review ${id}`);
    for (const each of [...unit.votes, ...unit.kept]) refuse(part, each.where, noReview);
    return;
  }
  const author = known.get(keyString(userKey(user_id)));
  const claim = claimKey(user_id, entity_id);
  // Its own without itself was written between the two reads: the transaction will fail, and all is read again.
  const claimed = known.get(keyString(claim));
  const fault = there
    ? undefined
    : !isUsable(author)
      ? 'user_id names no account'
      : claimed?.marked_at !== undefined
        ? 'a moderator has hidden a review of this entity by the author, who has deleted it'
        : (claimed?.review_id ?? id) !== id
          ? 'the author has another review of this entity'
          : revisions.some((revision) => bytesIn(revision) > largestItem)
            ? 'a text is larger than the table takes'
            : undefined;
  if (there || fault !== undefined) {
    if (fault === undefined) present(part, 'review');
    else refuse(part, where, fault);
    // On their own they are seen to be there, or without a review.
    if (unit.votes.length > 0) part.later.push({ kind: 'votes', reviewId: id, votes: unit.votes });
    part.later.push(...unit.kept.map((kept): Unit => ({ kind: 'kept', kept })));
    return;
  }

  const isLong = isWrittenAhead(revisions.length);
  const room = Math.floor((maxActions - 5 - (isLong ? 0 : revisions.length)) / 3);
  const votes = unit.votes.slice(0, Math.min(room, mostVotes));
  const kept = unit.kept.slice(0, room - votes.length);
  if (votes.length < unit.votes.length) {
    part.later.push({ kind: 'votes', reviewId: id, votes: unit.votes.slice(votes.length) });
  }
  part.later.push(
    ...unit.kept.slice(kept.length).map((one): Unit => ({ kind: 'kept', kept: one })),
  );

  const tallies = revisions.map(() => tally(undefined));
  for (const vote of votes) {
    const counted = addVote(part, vote, user_id, revisions.length, known);
    const sum = tallies[vote.record.revision - 1];
    if (!counted || !sum) continue;
    sum.votes_positive += counted.votes_positive;
    sum.votes_negative += counted.votes_negative;
  }
  const version = versionAfter(known.get(keyString(projectionKey(key))));
  const review = reviewOf(record, tallies, version);
  const earlier = revisions.slice(0, -1).map(({ id: n, ...revision }, i) => {
    // By its version the eraser sees that one ahead of its review belongs to none that was deleted.
    const ahead = isLong && { version };
    return { ...revisionKey(id, n), review_id: id, id: n, ...revision, ...tallies[i], ...ahead };
  });
  const item: Item = { ...reviewItem(review), ...othersOf(record) };
  part.puts.push(item, { ...claim, review_id: id });
  part[isLong ? 'early' : 'puts'].push(...earlier);
  const counts = countChanges(undefined, review);
  part.touches.push(
    {
      key: userKey(user_id),
      amounts: { ...counts.author, karma: review.popularity },
      condition: alive,
    },
    { key: entityKey(entity_id), amounts: counts.entity },
  );
  if (isPublic(review)) part.facet = facetOf(review);
  part.told.written.push('review');
  for (const one of kept) addKept(part, one, known, true);
}

function addVotes(part: Part, unit: Extract<Unit, { kind: 'votes' }>, known: Known): void {
  const { reviewId, votes } = unit;
  const key = reviewKey(reviewId);
  const review = known.get(keyString(key)) as (Item & Review) | undefined;
  const author = review && known.get(keyString(userKey(review.user_id)));
  if (!review || review.deleted_at !== undefined || !isUsable(author)) {
    for (const { where } of votes) refuse(part, where, noReview);
    return;
  }
  const rest = votes.slice(mostVotes);
  if (rest.length > 0) part.later.push({ kind: 'votes', reviewId, votes: rest });
  const { edits, is_hidden } = review;
  const gained: Record<string, number> = {};
  const earlier = new Map<number, Record<string, number>>();
  for (const vote of votes.slice(0, mostVotes)) {
    const counted = addVote(part, vote, review.user_id, edits + 1, known);
    if (!counted) continue;
    const { revision } = vote.record;
    for (const [name, by] of Object.entries(counted)) {
      bump(gained, name, by);
      if (revision > edits) bump(gained, `revision_${name}`, by);
      else earlier.set(revision, bump(earlier.get(revision) ?? {}, name, by));
    }
  }
  const popularity = (gained.votes_positive ?? 0) - (gained.votes_negative ?? 0);
  const popularity_rank = isPublic(review) ? BigInt(popularity) * rankStep : undefined;
  if (part.puts.length === 0) return;
  part.touches.push(
    {
      key,
      amounts: { ...gained, popularity, popularity_rank, version: 1 },
      condition: {
        ConditionExpression: 'edits = :edits AND is_hidden = :is_hidden AND attribute_exists(pk)',
        ExpressionAttributeValues: { ':edits': edits, ':is_hidden': is_hidden },
      },
    },
    { key: userKey(review.user_id), amounts: { karma: popularity }, condition: alive },
    ...[...earlier].map(([n, amounts]) => {
      return { key: revisionKey(reviewId, n), amounts, condition: isThere };
    }),
  );
}

/** Gives what a new vote adds to its review. */
function addVote(
  part: Part,
  { where, record }: Vote,
  authorId: string,
  revisions: number,
  known: Known,
) {
  const { kind, ...vote } = record;
  const item = voteItem(vote);
  const isTwice = part.puts.some((put) => keyString(put) === keyString(item));
  if (known.has(keyString(item)) || isTwice) return present(part, kind);
  const fault =
    vote.user_id === authorId
      ? 'a vote on the own review'
      : vote.revision > revisions
        ? 'revision is not one of its review'
        : !isUsable(known.get(keyString(userKey(vote.user_id))))
          ? 'user_id names no account'
          : undefined;
  if (fault !== undefined) return refuse(part, where, fault);
  part.puts.push(item);
  part.touches.push({ key: userKey(vote.user_id), condition: alive });
  part.cast.push({ userId: vote.user_id, day: vote.voted_at.slice(0, 10) });
  part.told.written.push(kind);
  return tally(vote);
}

function reviewOf(
  record: FullReviewRecord,
  tallies: readonly { votes_positive: number; votes_negative: number }[],
  version: number,
): Review {
  const current = record.revisions.at(-1) as FullReviewRecord['revisions'][number];
  const sum = (name: 'votes_positive' | 'votes_negative') =>
    tallies.reduce((total, each) => total + each[name], 0);
  const [votes_positive, votes_negative] = [sum('votes_positive'), sum('votes_negative')];
  return {
    id: record.id,
    entity_id: record.entity_id,
    entity_type: record.entity_type,
    user_id: record.user_id,
    text: current.text,
    rating: current.rating,
    language: record.language,
    license: record.license,
    created: record.created,
    last_updated: current.timestamp,
    published_on: record.published_on,
    edits: record.revisions.length - 1,
    is_hidden: record.is_hidden,
    votes_positive,
    votes_negative,
    revision_votes_positive: tallies.at(-1)?.votes_positive ?? 0,
    revision_votes_negative: tallies.at(-1)?.votes_negative ?? 0,
    popularity: votes_positive - votes_negative,
    source: record.source,
    source_url: record.source_url,
    version,
  };
}

/**
 * The first version of something imported: the time, epoch ms. Versions only rise, also of what was
 * deleted and forgotten. A version counts changes, and nothing changes every millisecond.
 */
function versionAfter(projection: Item | undefined): number {
  return Math.max(Date.now(), Number(projection?.version ?? 0) + 1);
}

/** Is true where the transaction of a review has no room for its earlier revisions. */
export function isWrittenAhead(revisions: number): boolean {
  return revisions > mostRevisions;
}

function isUsable(item: Item | undefined): item is Item {
  return item !== undefined && item.deleted_at === undefined;
}

/** Of an item, as JSON. */
export function bytesIn(item: object): number {
  return Buffer.byteLength(
    JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  );
}

/** Before anything became of them. */
export function nothing(): Told {
  return { written: [], present: [], refused: [] };
}

/** Refuses a record unless somebody waits until it can be written. */
function wait(part: Part, where: string): undefined {
  part.isUnfinished = true;
  refuse(part, where, unfinished);
}

function present(part: Part, kind: string): undefined {
  part.told.present.push(kind);
}

function refuse(part: Part, where: string, reason: string): undefined {
  part.told.refused.push({ where, reason });
}

/** Adds to a number by its name. */
export function bump(counts: Record<string, number>, name: string, by = 1): Record<string, number> {
  counts[name] = (counts[name] ?? 0) + by;
  return counts;
}
