import { notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Entry, Key } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { findItem, parseItems } from '../../base/table/parse.ts';
import { longTextKey, reviewKey, userKey } from '../keys.ts';
import { parseUsers, type User } from '../user/user.ts';
import { findUser, findUsers } from '../user/user-repository.ts';
import { completed, findWhole } from './long-text.ts';
import { isPublic, Review, readKind, type WholeReview } from './review.ts';

// Reads of reviews, with their authors.

/** A review with its author. It may hold only the beginning of a long text. */
export interface AuthoredReview<R extends Review = Review> {
  review: R;
  author: User;
}

/** Returns a review as stored, of anybody and in any state. */
export async function findReview(id: string): Promise<Review | undefined> {
  return findItem(Review, reviewKey(id));
}

/** Returns a public review. Throws ApiError 404 for a draft, hidden or deleted one, or author. */
export async function getPublicReview(id: string): Promise<AuthoredReview> {
  const review = await findReview(id);
  const author = review && isPublic(review) && (await findUser(review.user_id));
  if (!author) throw notFound('Review');
  return { review, author };
}

/** Returns a public review with its whole text, which is read with the author. Throws likewise. */
export async function getWholeReview(id: string): Promise<AuthoredReview<WholeReview>> {
  const stored = await getStoredReview(id);
  const [review, author] = await Promise.all([findWhole(stored), findUser(stored.user_id)]);
  if (!review || !author) throw notFound('Review');
  return { review, author };
}

/** Returns a public review as stored. Throws ApiError 404 for any other; the author may be gone. */
export async function getStoredReview(id: string): Promise<Review> {
  const stored = await findReview(id);
  if (!stored || !isPublic(stored)) throw notFound('Review');
  return stored;
}

/** Returns a review of this author, public or not. Throws ApiError 404 if there is none. */
export async function getReviewBy(userId: string, id: string): Promise<WholeReview> {
  const stored = await findReview(id);
  if (stored?.user_id !== userId || stored.deleted_at !== undefined) throw notFound('Review');
  const review = await findWhole(stored);
  if (!review) throw notFound('Review');
  return review;
}

/** An index entry of a review, which need not name the author's kind of list. */
type ReviewEntry = Pick<Entry, 'pk' | 'user_id'>;

/**
 * Returns the reviews of at most 50 index entries with authors, in one round trip and their order.
 * Leaves out those that do not exist. A review that moved in an index meanwhile is returned once.
 */
export async function findReviews(entries: readonly ReviewEntry[]): Promise<AuthoredReview[]> {
  return (await readEntries(entries)).reviews;
}

/** Reads as `findReviews` does. Leaves out reviews that are not public: an index may be behind. */
export async function findListed(entries: readonly Entry[]): Promise<AuthoredReview[]> {
  return (await findReviews(entries)).filter(({ review }) => isPublic(review));
}

/** Reads as `findListed` does, and in the same round trip another user and item, if they exist. */
export async function findListedBeside(entries: readonly Entry[], userId: string, key: Key) {
  const { reviews, authors, items } = await readEntries(entries, [key], [userId]);
  const listed = reviews.filter(({ review }) => isPublic(review));
  return { reviews: listed, user: authors.get(userId), item: items[0] };
}

/**
 * Reads as `findListed` does, with whole texts. Entries tell which texts are long, so these come in
 * the same round trip. The caller chooses as many entries as the request may read.
 */
export async function findListedWhole(
  entries: readonly Entry[],
): Promise<AuthoredReview<WholeReview>[]> {
  const long = entries.filter(({ kind }) => readKind(kind).isLong);
  const keys = [...new Set(long.map(idIn))].map(longTextKey);
  const { reviews, items } = await readEntries(entries, keys);
  return completed(
    reviews.filter(({ review }) => isPublic(review)),
    items,
  );
}

/**
 * Reads reviews with their authors, other users, and the items of other keys. It reads whole items.
 * To leave out index attributes takes the embedded engine three times the CPU that it saves here.
 */
async function readEntries(
  entries: readonly ReviewEntry[],
  otherKeys: readonly Key[] = [],
  otherUsers: readonly string[] = [],
) {
  const ids = [...new Set(entries.map(idIn))];
  const authorIds = entries.map(({ user_id = '' }) => user_id);
  const userIds = [...new Set([...authorIds, ...otherUsers])];
  const keys = [...ids.map(reviewKey), ...userIds.map(userKey), ...otherKeys];
  const items = await getItems(keys);
  const users = parseUsers(items.slice(ids.length, ids.length + userIds.length));
  const authors = new Map(users.map((user) => [user.id, user]));
  const reviews = withAuthors(parseItems(Review, items.slice(0, ids.length)), authors);
  return { reviews, authors, items: items.slice(ids.length + userIds.length) };
}

/** Returns the public reviews among at most 100 distinct ids, with authors. */
export async function findPublicReviews(ids: readonly string[]): Promise<AuthoredReview[]> {
  const options = { consistent: true };
  const items = await getItems(ids.map(reviewKey), options);
  const reviews = parseItems(Review, items).filter(isPublic);
  const userIds = [...new Set(reviews.map(({ user_id }) => user_id))];
  return withAuthors(reviews, await findUsers(userIds, options));
}

/**
 * Returns the public reviews among at most 100 changed ones, with authors, at these versions or
 * later. Reads replicas, which cost half, and again what is behind there.
 */
export async function findChangedReviews(
  changes: readonly { id: string; version: number; kind: string }[],
): Promise<AuthoredReview[]> {
  const items = await getItems(changes.map(({ id }) => reviewKey(id)));
  const isBehind = items.map((item, i) => {
    const { version = 0, kind } = changes[i] ?? {};
    return item ? Number(item.version) < version : kind !== 'removed';
  });
  const behind = changes.filter((_, i) => isBehind[i]).map(({ id }) => reviewKey(id));
  const again = await getItems(behind, { consistent: true });
  const current = [...items.filter((_, i) => !isBehind[i]), ...again];
  const reviews = parseItems(Review, current).filter(isPublic);
  const userIds = [...new Set(reviews.map(({ user_id }) => user_id))];
  const authors = await findUsers(userIds);
  // A replica may lack the account too, and no later change would tell of the review.
  const missing = userIds.filter((id) => !authors.has(id));
  const late = await findUsers(missing, { consistent: true });
  return withAuthors(reviews, new Map([...authors, ...late]));
}

function withAuthors(reviews: readonly Review[], authors: ReadonlyMap<string, User>) {
  return reviews.flatMap((review) => {
    const author = authors.get(review.user_id);
    return author ? [{ review, author }] : [];
  });
}
