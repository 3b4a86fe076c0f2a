import { popularityOf, publicationIn } from '../../base/list/popularity-rank.ts';
import type { Entry } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { collect, queryIndex } from '../../base/table/query.ts';
import { readable } from './page-size.ts';
import { type AuthoredReview, findListed } from './read-reviews.ts';
import { readKind, withoutStars } from './review.ts';

// Reviews of the front page: one that readers love, and the newest.

/** Entries that are looked through for the newest reviews: half a read unit for 20. */
const mostNewest = 40;

/** Entries that are looked through for a loved review. */
const mostPopular = 20;

/** The popularity of a loved review: one friend alone brings nobody to the front page. */
const leastLoved = 2;

const week = 7 * 86_400_000;

/** A review that readers love, and the newest ones beside it. */
interface FrontReviews {
  loved: (AuthoredReview & { isOfWeek: boolean }) | undefined;
  newest: AuthoredReview[];
}

/**
 * Returns a loved review, if there is one, and the newest, together at most `limit` (50). Two of
 * the newest of one member come before a third, so that somebody who publishes many at once leaves
 * room for others. Takes 1.5 units for the two indexes.
 */
export async function findFrontReviews(limit: number): Promise<FrontReviews> {
  const newestFirst = { descending: true, pageSize: mostNewest };
  const popularFirst = { descending: true, pageSize: mostPopular };
  const [byDate, byPopularity] = await Promise.all([
    collect(queryIndex('all-by-date', 'REVIEW', newestFirst), mostNewest),
    collect(queryIndex('all-by-popularity', 'REVIEW', popularFirst), mostPopular),
  ]);
  const chosen = lovedAmong(byPopularity, Date.now());
  const others = byDate.filter(({ pk }) => pk !== chosen?.entry.pk);
  const few = twoOfEach(others);
  const first = [...few, ...others.filter((entry) => !few.includes(entry))];
  const newest = new Set(first.slice(0, chosen ? limit - 1 : limit));
  const entries = [...(chosen ? [chosen.entry] : []), ...others.filter((each) => newest.has(each))];
  const reviews = await findListed(entries.slice(0, readable(entries, true)));
  const isLoved = ({ review }: AuthoredReview) =>
    chosen !== undefined && review.id === idIn(chosen.entry);
  const loved = reviews.find(isLoved);
  return {
    loved: chosen && loved && { ...loved, isOfWeek: chosen.isOfWeek },
    newest: reviews.filter((each) => !isLoved(each)),
  };
}

/**
 * Chooses among the most popular entries: the first of the last seven days before `now` (epoch ms).
 * Without one, each week has another one of all.
 */
function lovedAmong(entries: readonly Entry[], now: number) {
  const loved = entries.filter(
    ({ kind, popularity_rank = 0n }) =>
      popularityOf(popularity_rank) >= leastLoved &&
      withoutStars(readKind(kind).content) !== 'rating',
  );
  const ofWeek = loved.find(({ popularity_rank = 0n }) => {
    return publicationIn(popularity_rank) > now - week;
  });
  const entry = ofWeek ?? loved[Math.floor(now / week) % loved.length];
  return entry && { entry, isOfWeek: ofWeek !== undefined };
}

/** Returns entries in their order, two of one member at most. */
export function twoOfEach(entries: readonly Entry[]): Entry[] {
  const counts = new Map<string, number>();
  return entries.filter(({ user_id = '' }) => {
    const count = (counts.get(user_id) ?? 0) + 1;
    counts.set(user_id, count);
    return count <= 2;
  });
}
