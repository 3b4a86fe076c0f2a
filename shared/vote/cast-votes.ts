import * as v from 'valibot';
import { type ListPage, readPage } from '../list/read-page.ts';
import { type AuthoredReview, findPublicReviews } from '../review/review-repository.ts';
import { getItems } from '../table/batch.ts';
import type { SortKey } from '../table/item.ts';
import { idIn } from '../table/keys.ts';
import { Vote } from './vote.ts';

/** A vote with its review, if that is still public. */
export interface CastVote {
  vote: Vote;
  on: AuthoredReview | undefined;
}

/** Reads a page of the votes that a user has cast, newest first. */
export async function listVotes(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { votes: CastVote[] }> {
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
