import * as v from 'valibot';
import { type ApiError, invalidRequest, invalidToken, notFound } from '../../base/errors.ts';
import { rankStep } from '../../base/list/popularity-rank.ts';
import { type ListPage, readNewest } from '../../base/list/read-page.ts';
import { pick } from '../../base/pick.ts';
import { type Amounts, addAll, gain } from '../../base/table/amounts.ts';
import { getItems } from '../../base/table/batch.ts';
import type { SortKey } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, transact, type Update, type Write } from '../../base/table/transact.ts';
import { daysAgo } from '../../base/time.ts';
import { dailyVotesKey, reviewKey, revisionKey, userKey, voteKey } from '../keys.ts';
import { type AuthoredReview, findPublicReviews } from '../review/read-reviews.ts';
import { currentRevision, isPublic, noVotes, Review } from '../review/review.ts';
import {
  ableAs,
  allowanceOf,
  countIfKept,
  limitHeaders,
  moveCast,
  spend,
  spentOf,
} from '../user/daily-limit.ts';
import { parseUser, type User, whereAlive } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { refuseBlocked } from '../user/writer.ts';
import { Vote } from './vote.ts';

/** Throws ApiError 404 if there is none. */
export async function getVote(reviewId: string, userId: string): Promise<Vote> {
  const item = await getItem(voteKey(reviewId, userId));
  if (!item) throw notFound('Vote');
  return v.parse(Vote, item);
}

/** A user's vote on a review, if any, and how many first votes are left of this UTC day. */
export interface Ballot {
  vote: Vote | undefined;
  left: number;
}

/** Reads what a user needs to know to vote on a review. One round trip, two read units. */
export async function findBallot(reviewId: string, user: User): Promise<Ballot> {
  const today = daysAgo(0);
  const keys = [voteKey(reviewId, user.id), dailyVotesKey(user.id, today)];
  const [item, counter] = await getItems(keys, { consistent: true });
  return { vote: item && v.parse(Vote, item), left: allowanceOf('votes', user, counter) };
}

/** Returns a user's votes on some reviews, by review. Half a read unit for each review. */
export async function findVotesOn(
  reviewIds: readonly string[],
  userId: string,
): Promise<Map<string, Vote | undefined>> {
  const items = await getItems(reviewIds.map((id) => voteKey(id, userId)));
  return new Map(reviewIds.map((id, i) => [id, parseItem(Vote, items[i])]));
}

/** Returns the error of a vote that a review's author or its content forbids. */
export function voteObstacle(
  review: Pick<Review, 'user_id' | 'text'>,
  userId: string,
): ApiError | undefined {
  if (review.user_id === userId) return invalidRequest('You cannot vote on your own review');
  if (review.text === null) return invalidRequest('A review without text cannot be voted on');
  return undefined;
}

/** Reads a page of the votes that a user has cast, newest first, each with its review if public. */
export async function listVotes(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { votes: { vote: Vote; on: AuthoredReview | undefined }[] }> {
  const list = { scope: 'author', value: `VOTER#${userId}` } as const;
  const { entries, next } = await readNewest(list, limit, after);
  const [items, reviews] = await Promise.all([
    getItems(entries),
    findPublicReviews(entries.map(idIn)),
  ]);
  const votes = parseItems(Vote, items).map((vote) => {
    return { vote, on: reviews.find(({ review }) => review.id === vote.review_id) };
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
    const today = daysAgo(0);
    const { review, previous, voter, spent } = await readBallot(reviewId, userId, today);
    // After the read, so that it is later than the previous vote's.
    const voted_at = new Date().toISOString();
    const obstacle = voteObstacle(review, userId);
    if (obstacle) throw obstacle;
    const revision = currentRevision(review);
    if (previous?.vote === vote && previous.revision === revision) {
      // No write checks that the author exists.
      if (!(await findUser(review.user_id))) throw notFound('Review');
      return limitHeaders('votes', voter, spent);
    }
    const cast: Vote = { review_id: reviewId, user_id: userId, vote, voted_at, revision };
    await transact([
      putVote(previous, cast),
      ...countOnReview(review, previous, cast),
      countOnAuthor(review, previous, cast),
      ableAs(voter),
      ...(previous
        ? moveCast(userId, previous.voted_at, voted_at)
        : [spend('votes', voter, voted_at)]),
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
      removeVote(previous),
      ...countOnReview(review, previous, undefined),
      countOnAuthor(review, previous, undefined),
      ...moveCast(userId, previous.voted_at),
    ]);
  });
}

/**
 * Deletes a vote in the background, for as long as `check` holds, with the writes of `also`. Its
 * review or author may be gone too. Nothing happens without the vote.
 */
export async function eraseVote(
  reviewId: string,
  userId: string,
  check: Write,
  also: (vote: Vote) => readonly Write[] = () => [],
): Promise<void> {
  await retryStale(async () => {
    const keys = [reviewKey(reviewId), voteKey(reviewId, userId)];
    const [reviewItem, voteItem] = await getItems(keys, { consistent: true });
    if (!voteItem) return;
    const vote = v.parse(Vote, voteItem);
    const writes = [removeVote(vote), check, ...also(vote)];
    if (reviewItem) {
      const review = v.parse(Review, reviewItem);
      const author = await findUser(review.user_id);
      writes.push(...countOnReview(review, vote, undefined));
      if (author) writes.push(countOnAuthor(review, vote, undefined));
    }
    await transact(writes);
  });
}

/** Returns the writes of an imported vote, without daily limit. */
export function importedVote(review: Voted, vote: Vote): Write[] {
  const { user_id, voted_at } = vote;
  return [
    putVote(undefined, vote),
    ...countOnReview(review, undefined, vote),
    countOnAuthor(review, undefined, vote),
    { ConditionCheck: { Key: userKey(user_id), where: whereAlive } },
    ...countIfKept(user_id, voted_at, { count: 1, cast: 1 }),
  ];
}

/** Fields of a review that its votes depend on. */
export type Voted = Pick<Review, 'id' | 'user_id' | 'edits' | 'is_hidden' | 'published_on'>;

/** Reads what a vote depends on. `spent` counts the voter's first votes on `day`, a UTC day. */
async function readBallot(reviewId: string, userId: string, day?: string) {
  const keys = [reviewKey(reviewId), voteKey(reviewId, userId), userKey(userId)];
  if (day !== undefined) keys.push(dailyVotesKey(userId, day));
  const [reviewItem, voteItem, userItem, counter] = await getItems(keys, { consistent: true });
  const voter = parseUser(userItem);
  if (!voter) throw invalidToken();
  refuseBlocked(voter);
  const review = reviewItem && v.parse(Review, reviewItem);
  if (!review || !isPublic(review)) throw notFound('Review');
  const previous = voteItem && v.parse(Vote, voteItem);
  return { review, previous, voter, spent: spentOf('votes', counter) };
}

/** Stores a vote, if the vote before it is still the one that was read. */
function putVote(before: Vote | undefined, vote: Vote): Write {
  const Item = {
    ...voteKey(vote.review_id, vote.user_id),
    author: `VOTER#${vote.user_id}`,
    date: `${vote.voted_at}#${vote.review_id}`,
    ...vote,
  };
  return { Put: { Item, was: before ? identityOf(before) : { pk: undefined } } };
}

function removeVote(vote: Vote): Write {
  return { Delete: { Key: voteKey(vote.review_id, vote.user_id), was: identityOf(vote) } };
}

/** Returns the attributes that tell a vote from an earlier or later one of the same user. */
function identityOf(vote: Vote): Record<string, unknown> {
  return pick(vote, ['voted_at', 'vote', 'revision']);
}

/** Counts a change of a vote on a review and its revisions. */
function countOnReview(review: Voted, before: Vote | undefined, after: Vote | undefined): Write[] {
  const popularity = popularityChange(before, after);
  const amounts: typeof noVotes & { version: 1; popularity_rank?: bigint } = {
    ...noVotes,
    popularity,
    version: 1,
  };
  if (isPublic(review)) amounts.popularity_rank = BigInt(popularity) * rankStep;
  // A new vote is on the current revision; earlier and imported votes may not be.
  const earlierRevisions: Amounts = new Map();
  const count = (vote: Vote, by: 1 | -1) => {
    const name = vote.vote ? 'votes_positive' : 'votes_negative';
    amounts[name] += by;
    if (vote.revision === currentRevision(review)) amounts[`revision_${name}`] += by;
    else gain(earlierRevisions, revisionKey(review.id, vote.revision), { [name]: by });
  };
  if (before) count(before, -1);
  if (after) count(after, 1);
  // Not `version`: votes commute, so many may be cast at once.
  const was = { edits: review.edits, is_hidden: review.is_hidden };
  return [{ Update: { Key: reviewKey(review.id), amounts, was } }, ...addAll(earlierRevisions)];
}

/** Counts on the author. Without the author the review is not public: throws ApiError 404. */
function countOnAuthor(review: Voted, before: Vote | undefined, after: Vote | undefined): Write {
  const author: Update = {
    Key: userKey(review.user_id),
    amounts: { karma: popularityChange(before, after) },
    isOwner: true,
    where: whereAlive,
  };
  return { Update: author, otherwise: notFound('Review') };
}

function popularityChange(before: Vote | undefined, after: Vote | undefined): number {
  return worthOf(after) - worthOf(before);
}

function worthOf(vote: Vote | undefined): number {
  if (!vote) return 0;
  return vote.vote ? 1 : -1;
}
