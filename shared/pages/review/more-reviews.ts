import { notFound } from '../../base/errors.ts';
import type { Entry } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { collect, queryIndex } from '../../base/table/query.ts';
import { findMetadata, type KnownEntity, metadataOf } from '../../core/entity/metadata.ts';
import { recordIn, recordKey } from '../../core/entity/record.ts';
import { findWhole } from '../../core/review/long-text.ts';
import {
  type AuthoredReview,
  findListedBeside,
  getStoredReview,
} from '../../core/review/read-reviews.ts';
import type { Review, WholeReview } from '../../core/review/review.ts';
import { findUser } from '../../core/user/user-repository.ts';

/** A review with its author and the name of its entity, null for one without a public name. */
interface NamedReview<R extends Review = Review> extends AuthoredReview<R> {
  metadata: KnownEntity | null;
}

/** A public review, and others to read after it. */
interface ReviewWithMore extends NamedReview<WholeReview> {
  /** The two most popular others of its entity. */
  ofEntity: AuthoredReview[];
  /** The newest other one by its author. */
  byAuthor: NamedReview | undefined;
}

/**
 * Returns a public review with its whole text and others to read after it. Throws ApiError 404 like
 * `getWholeReview`. Takes one read unit for the review and half for each of two indexes, three
 * other reviews, three authors and two names. That is 6 in four round trips, of which the last
 * reads the name of the other one by its author. Without others it is 3 in three.
 */
export async function getReviewWithMore(id: string): Promise<ReviewWithMore> {
  const stored = await getStoredReview(id);
  const [review, { author, ...more }] = await Promise.all([findWhole(stored), findMore(stored)]);
  if (!review || !author) throw notFound('Review');
  return { review, author, ...more };
}

async function findMore(review: Review) {
  const { id, entity_id, user_id } = review;
  const [popular, newest] = await Promise.all([
    collect(queryIndex('entity-by-popularity', entity_id, { descending: true, pageSize: 3 }), 3),
    collect(queryIndex('author-by-date', user_id, { descending: true, pageSize: 2 }), 2),
  ]);
  const isOther = (entry: Entry) => idIn(entry) !== id;
  const entries = [...popular.filter(isOther).slice(0, 2), ...newest.filter(isOther).slice(0, 1)];
  const { reviews, user, item } = await findListedBeside(entries, user_id, recordKey(review));
  const isOf = (each: AuthoredReview) => each.review.entity_id === entity_id;
  const other = reviews.find((each) => !isOf(each));
  return {
    // A replica may lack a new account.
    author: user ?? (await findUser(user_id)),
    metadata: metadataOf(recordIn(review, item)),
    ofEntity: reviews.filter(isOf),
    byAuthor: other && (await withName(other)),
  };
}

async function withName(other: AuthoredReview): Promise<NamedReview> {
  const [metadata = null] = await findMetadata([other.review]);
  return { ...other, metadata };
}
