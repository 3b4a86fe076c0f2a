import { notFound } from '../errors.ts';
import type { Entry } from '../table/item.ts';
import { idIn } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';
import { findUser } from '../user/user-repository.ts';
import { findWhole } from './long-text.ts';
import type { Review, WholeReview } from './review.ts';
import { type AuthoredReview, findListed, getStoredReview } from './review-repository.ts';

/** A public review, and others to read after it. */
interface ReviewWithMore extends AuthoredReview<WholeReview> {
  /** The two most popular others of its entity. */
  ofEntity: AuthoredReview[];
  /** The newest other one by its author, if there is one. */
  byAuthor: AuthoredReview[];
}

/**
 * Returns a public review with its whole text and others to read after it. Throws ApiError 404 like
 * `getWholeReview`. Three round trips, and five read units for reviews of up to 4 KB: one for the
 * review, half for each of two indexes, three others and three authors. The author comes with the
 * other review, and in a round trip of its own where there is none.
 */
export async function getReviewWithMore(id: string): Promise<ReviewWithMore> {
  const stored = await getStoredReview(id);
  const [review, more] = await Promise.all([findWhole(stored), findMore(stored)]);
  const author = more.byAuthor[0]?.author ?? (await findUser(stored.user_id));
  if (!review || !author) throw notFound('Review');
  return { review, author, ...more };
}

async function findMore({ id, entity_id, user_id }: Review) {
  const [popular, newest] = await Promise.all([
    collect(queryIndex('entity-by-popularity', entity_id, { descending: true, pageSize: 3 }), 3),
    collect(queryIndex('author-by-date', user_id, { descending: true, pageSize: 2 }), 2),
  ]);
  const isOther = (entry: Entry) => idIn(entry) !== id;
  const ofEntity = popular.filter(isOther).slice(0, 2);
  const byAuthor = newest.filter(isOther).slice(0, 1);
  const reviews = await findListed([...ofEntity, ...byAuthor]);
  const isOf = ({ review }: AuthoredReview) => review.entity_id === entity_id;
  return { ofEntity: reviews.filter(isOf), byAuthor: reviews.filter((each) => !isOf(each)) };
}
