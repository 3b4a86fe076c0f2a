import * as v from 'valibot';
import { invalidRequest, invalidToken, notFound } from '../errors.ts';
import { type ListPage, readPage } from '../list/read-page.ts';
import { pick } from '../pick.ts';
import { currentRevision, isPublic, Review } from '../review/review.ts';
import { type AuthoredReview, findPublicReviews } from '../review/review-repository.ts';
import { type Amounts, addAll, gain } from '../table/amounts.ts';
import { getItems } from '../table/batch.ts';
import type { SortKey } from '../table/item.ts';
import {
  dailyVotesKey,
  idIn,
  rankStep,
  reviewKey,
  revisionKey,
  userKey,
  voteKey,
} from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import {
  type Change,
  type Condition,
  retryStale,
  transact,
  type Write,
} from '../table/transact.ts';
import {
  ableAs,
  countIfKept,
  limitHeaders,
  moveCast,
  spend,
  spentOf,
} from '../user/daily-limit.ts';
import { isAlive, parseUser } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { refuseBlocked } from '../user/writer.ts';
import { Vote } from './vote.ts';

/** Throws ApiError 404 if there is none. */
export async function getVote(reviewId: string, userId: string): Promise<Vote> {
  const item = await getItem(voteKey(reviewId, userId));
  if (!item) throw notFound('Vote');
  return v.parse(Vote, item);
}

/** Reads a page of the votes that a user has cast, newest first, each with its review if public. */
export async function listVotes(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { votes: { vote: Vote; on: AuthoredReview | undefined }[] }> {
  const partitions = [{ scope: 'author', value: `VOTER#${userId}` }] as const;
  const sorting = { order: 'date', descending: true, offset: 0 } as const;
  const { entries, next } = await readPage({ partitions }, { ...sorting, limit, after });
  const [items, reviews] = await Promise.all([
    getItems(entries),
    findPublicReviews(entries.map(idIn)),
  ]);
  const votes = items.flatMap((item) => {
    if (!item) return [];
    const vote = v.parse(Vote, item);
    return [{ vote, on: reviews.find(({ review }) => review.id === vote.review_id) }];
  });
  return { votes, next };
}

/**
 * Casts or changes a vote. Returns headers with the rest of the daily limit. Repeating the same
 * vote on the same revision changes nothing. Throws ApiError 404 if the review is not public, 400
 * if it is the voter's own or has no text. Throws 403 if the day's first votes (UTC) are used up or
 * the account is blocked.
 */
export async function saveVote(
  reviewId: string,
  userId: string,
  vote: boolean,
): Promise<Record<string, string>> {
  return retryStale(async () => {
    const today = new Date().toISOString().slice(0, 10);
    const { review, previous, voter, spent } = await readBallot(reviewId, userId, today);
    // After the read, so that it is later than the previous vote's.
    const voted_at = new Date().toISOString();
    if (review.user_id === userId) throw invalidRequest('You cannot vote on your own review');
    if (review.text === null) throw invalidRequest('A review without text cannot be voted on');
    const revision = currentRevision(review);
    if (previous?.vote === vote && previous.revision === revision) {
      // No write checks that the author exists.
      if (!(await findUser(review.user_id))) throw notFound('Review');
      return limitHeaders('votes', voter, spent);
    }
    const cast: Vote = { review_id: reviewId, user_id: userId, vote, voted_at, revision };
    const moved = previous && moveCast(userId, previous.voted_at, voted_at);
    await transact([
      ...castWrites(review, previous, cast),
      ableAs(voter),
      ...(moved ?? [spend('votes', voter, voted_at)]),
    ]);
    return limitHeaders('votes', voter, spent + (previous ? 0 : 1));
  });
}

/** Withdraws a vote. Throws ApiError 404 without vote or public review, 403 if blocked. */
export async function deleteVote(reviewId: string, userId: string): Promise<void> {
  await retryStale(async () => {
    const { review, previous } = await readBallot(reviewId, userId);
    if (!previous) throw notFound('Vote');
    await transact([
      { Delete: { Key: voteKey(reviewId, userId), ...unchanged(previous) } },
      ...countVote(review, previous, undefined),
      ...moveCast(userId, previous.voted_at),
    ]);
  });
}

/** Deletes a vote of an account that is being erased. Its review or author may be gone too. */
export async function eraseVote(reviewId: string, userId: string, isGone: Write): Promise<void> {
  await retryStale(async () => {
    const keys = [reviewKey(reviewId), voteKey(reviewId, userId)];
    const [found, cast] = await getItems(keys, { consistent: true });
    if (!cast) return;
    const vote = v.parse(Vote, cast);
    const removal = { Delete: { Key: voteKey(reviewId, userId), ...unchanged(vote) } };
    if (!found) return transact([removal, isGone]);
    const review = v.parse(Review, found);
    const author = await findUser(review.user_id);
    await transact([removal, isGone, ...(author ? countVote : recount)(review, vote, undefined)]);
  });
}

/** Returns the writes of an imported vote, without daily limit. */
export function importedVote(review: Voted, vote: Vote): Write[] {
  const { user_id, voted_at } = vote;
  const voter = { Key: userKey(user_id), ConditionExpression: isAlive };
  return [
    ...castWrites(review, undefined, vote),
    { ConditionCheck: voter },
    ...countIfKept(user_id, voted_at, { count: 1, cast: 1 }),
  ];
}

/** Fields of a review that its votes depend on. */
export type Voted = Pick<Review, 'id' | 'user_id' | 'edits' | 'is_hidden' | 'published_on'>;

function castWrites(review: Voted, before: Vote | undefined, after: Vote): Write[] {
  const Item = {
    ...voteKey(after.review_id, after.user_id),
    author: `VOTER#${after.user_id}`,
    date: `${after.voted_at}#${after.review_id}`,
    ...after,
  };
  return [{ Put: { Item, ...unchanged(before) } }, ...countVote(review, before, after)];
}

/** Counts on the author too. Without the author the review is not public: throws ApiError 404. */
function countVote(review: Voted, before: Vote | undefined, after: Vote | undefined): Write[] {
  const karma = popularityChange(before, after);
  const Key = userKey(review.user_id);
  const author: Change = { Key, amounts: { karma }, isOwner: true, ConditionExpression: isAlive };
  return [...recount(review, before, after), { Update: author, otherwise: notFound('Review') }];
}

/** Reads what a vote depends on. `spent` counts the voter's first votes on `day`, a UTC day. */
async function readBallot(reviewId: string, userId: string, day?: string) {
  const keys = [
    reviewKey(reviewId),
    voteKey(reviewId, userId),
    userKey(userId),
    ...(day === undefined ? [] : [dailyVotesKey(userId, day)]),
  ];
  const [found, cast, user, counter] = await getItems(keys, { consistent: true });
  const voter = parseUser(user);
  if (!voter) throw invalidToken();
  refuseBlocked(voter);
  const review = found && v.parse(Review, found);
  if (!review || !isPublic(review)) throw notFound('Review');
  const previous = cast && v.parse(Vote, cast);
  return { review, previous, voter, spent: spentOf('votes', counter) };
}

function unchanged(previous: Vote | undefined): Condition {
  return { was: previous ? pick(previous, ['voted_at', 'vote', 'revision']) : { pk: undefined } };
}

/** Counts a change of a vote on a review and its revisions. */
function recount(review: Voted, before: Vote | undefined, after: Vote | undefined): Write[] {
  const popularity = popularityChange(before, after);
  const counts = { votes_positive: 0, votes_negative: 0 };
  const current = { revision_votes_positive: 0, revision_votes_negative: 0 };
  // A new vote is on the current revision; earlier and imported votes may not be.
  const earlier: Amounts = new Map();
  for (const [vote, by] of [[before, -1] as const, [after, 1] as const]) {
    if (!vote) continue;
    const name = vote.vote ? 'votes_positive' : 'votes_negative';
    counts[name] += by;
    if (vote.revision === currentRevision(review)) current[`revision_${name}`] += by;
    else gain(earlier, revisionKey(review.id, vote.revision), { [name]: by });
  }
  return [
    {
      Update: {
        Key: reviewKey(review.id),
        amounts: {
          ...{ ...counts, ...current, popularity, version: 1 },
          ...(isPublic(review) && { popularity_rank: BigInt(popularity) * rankStep }),
        },
        // Not `version`: votes commute, so many may be cast at once.
        was: { edits: review.edits, is_hidden: review.is_hidden },
      },
    },
    ...addAll(earlier),
  ];
}

function popularityChange(before: Vote | undefined, after: Vote | undefined): number {
  const worth = (vote: Vote | undefined) => (vote === undefined ? 0 : vote.vote ? 1 : -1);
  return worth(after) - worth(before);
}
