import type { Item } from '../../base/table/item.ts';
import { type EntityType, entityTypes } from '../../core/entity/entity-type.ts';
import { type EntityRecord, isByDatabase } from '../../core/entity/record.ts';
import type { ReviewCounts } from '../../core/review/counts.ts';
import { averageRating, sumOfRatings } from '../../core/review/owner-counts.ts';
import { thingKey } from './kinds.ts';

// The places of a thing in the lists of things. Each is an item, sorted by its key.

export const thingSorts = ['reviews', 'rating', 'latest'] as const;
export type ThingSort = (typeof thingSorts)[number];

/** Ratings that each rating of a thing weighs against: their number, and their stars. */
export const prior = { ratings: 5, stars: 3 };

/**
 * Bytes of the texts in an entry, so that it has 1 KB at most: long names make no list dear for its
 * readers. Longer texts are cut, and addresses left out.
 */
const mostBytes = { name: 400, about: 240, all: 820 };

/** The public reviews of a thing, as places in lists depend on them. */
export interface Reviewed {
  id: string;
  counts: ReviewCounts;
  /** Time at which the first review of it was published. Absent if older code has counted it. */
  first_on?: string;
  /** Rises with every count. */
  version?: number;
}

/**
 * Returns the entries of a thing. Those by number of reviews and by rating have what a row shows.
 * Those by the time of the first review have its texts alone, so that later reviews leave them as
 * they are. They are in a list of the type, and in one of all types.
 */
export function listEntries({ id, counts, first_on = '' }: Reviewed, record: EntityRecord): Item[] {
  const { entity_type } = record;
  const average_rating = averageRating(counts);
  const texts = textsOf(record);
  const row = { ...texts, review_count: counts.all, average_rating };
  const reviews = `${padded(counts.all, 9)}#${first_on}#${id}`;
  const rank = Math.round(10_000 * weightedMean(counts));
  const rating = `${padded(rank, 5)}#${padded(average_rating.count, 9)}#${id}`;
  const latest = `${first_on}#${id}`;
  return [
    { ...thingKey('reviews', entity_type, reviews), ...row },
    ...(average_rating.count > 0 ? [{ ...thingKey('rating', entity_type, rating), ...row }] : []),
    { ...thingKey('latest', entity_type, latest), ...texts },
    { ...thingKey('latest', undefined, latest), entity_type, ...texts },
  ];
}

/** The mean of all ratings and the prior: few ratings weigh little. */
function weightedMean(counts: ReviewCounts): number {
  const { count } = averageRating(counts);
  return (prior.ratings * prior.stars + sumOfRatings(counts)) / (prior.ratings + count);
}

const padded = (number: number, digits: number) => `${number}`.padStart(digits, '0');

/**
 * Returns the record whose type a thing is listed under: that of most of its reviews. Of equal
 * ones, a database's name comes first, and then the earlier type of this service.
 */
export function listedRecord(
  { counts }: Reviewed,
  records: readonly EntityRecord[],
): EntityRecord | undefined {
  const reviewsOf = (type: EntityType) => counts.types.get(type) ?? 0;
  const [first] = records
    .filter(({ entity_type }) => reviewsOf(entity_type) > 0)
    .toSorted(
      (a, b) =>
        reviewsOf(b.entity_type) - reviewsOf(a.entity_type) ||
        Number(isByDatabase(b)) - Number(isByDatabase(a)) ||
        entityTypes.indexOf(a.entity_type) - entityTypes.indexOf(b.entity_type),
    );
  return first;
}

/** Returns the texts of a row, as far as they have room. */
function textsOf({ name, about, image, url }: EntityRecord) {
  let left = mostBytes.all;
  const taken = (text: string | undefined) => {
    const bytes = Buffer.byteLength(text ?? '');
    if (text === undefined || bytes > left) return undefined;
    left -= bytes;
    return text;
  };
  const texts = {
    name: taken(cut(name, mostBytes.name)),
    about: taken(about && cut(about, mostBytes.about)),
    image: taken(image),
    url: taken(url),
  };
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));
}

/** Cuts a text to so many bytes, at a whole character. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const beginning = Buffer.from(text)
    .subarray(0, bytes - 3)
    .toString();
  return `${beginning.replace(/\ufffd+$/, '')}…`;
}
