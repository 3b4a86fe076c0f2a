import { contentOfLetter, letterOf, reviewContents } from '../../base/list/rank-tree.ts';
import type { EntityType } from '../entity/entity-type.ts';
import { entityTypes, isOwnType } from '../entity/entity-type.ts';
import type { AverageRating } from '../entity/presented.ts';
import { type CountedProperty, countedIn, type ReviewCounts } from './counts.ts';
import { type Review, type ReviewContent, starsOf, withoutStars } from './review.ts';

/**
 * Counts of reviews as attributes of an item: of an entity, of a user or of all reviews of a type.
 * There is an attribute for each type (`work`), each language in capitals (`EN`), and each content
 * by its letter in rank trees (`b4`). So an item has at most 205, about 1 KB, whatever is reviewed.
 * Capitals tell the language `sk` from the sort key.
 */
type Amounts = Record<string, number>;

/** Number of a user's own reviews, also of drafts and hidden ones. */
const written = 'written';

/** Prefix of the attributes of own types, whose names may be those of other attributes. */
const own = 'own:';

const attributeOf = (type: EntityType) => (isOwnType(type) ? own + type : type);

const typesByAttribute = new Map(entityTypes.map((type) => [attributeOf(type), type]));

const isLanguage = (name: string) => /^[A-Z]{2}$/.test(name);

/** Reads the counts of public reviews from the item of an owner. Without an item there are none. */
export function countsIn(item: Readonly<Record<string, unknown>> = {}): ReviewCounts {
  const byType = new Map<EntityType, number>();
  const byLanguage = new Map<string, number>();
  const byContent = new Map<ReviewContent, number>();
  let all = 0;
  for (const [name, value] of Object.entries(item)) {
    const number = Number(value);
    if (!(number > 0)) continue;
    const content = contentOfLetter(name);
    if (content !== undefined && content !== 'user') {
      byContent.set(content, number);
      all += number;
    } else if (isLanguage(name)) {
      byLanguage.set(name.toLowerCase(), number);
    } else {
      const type = typesByAttribute.get(name);
      if (type) byType.set(type, number);
    }
  }
  return { all, types: byType, languages: byLanguage, contents: byContent };
}

/** Returns how many reviews a user has, with drafts and hidden ones. */
export function writtenReviews(item: Readonly<Record<string, unknown>> = {}): number {
  return Number(item[written] ?? 0);
}

/** Adds up counts of several items. */
export function sumOfCounts(some: readonly ReviewCounts[]): ReviewCounts {
  const sum = <T>(maps: readonly ReadonlyMap<T, number>[]) => {
    const numbers = new Map<T, number>();
    for (const [name, number] of maps.flatMap((map) => [...map])) {
      numbers.set(name, (numbers.get(name) ?? 0) + number);
    }
    return numbers;
  };
  return {
    all: some.reduce((total, { all }) => total + all, 0),
    types: sum(some.map((counts) => counts.types)),
    languages: sum(some.map((counts) => counts.languages)),
    contents: sum(some.map((counts) => counts.contents)),
  };
}

/** Returns the average of the ratings that are counted, with one decimal. Null without ratings. */
export function averageRating(counts: ReviewCounts): AverageRating {
  const count = sumOver(counts, () => 1);
  const sum = sumOfRatings(counts);
  return { rating: count === 0 ? null : Math.round((sum / count) * 10) / 10, count };
}

/** Ratings by stars. */
export type Ratings = Record<1 | 2 | 3 | 4 | 5, number>;

/** Returns how many of the counted reviews have each number of stars. */
export function ratingsIn({ contents }: ReviewCounts): Ratings {
  const ratings: Ratings = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
  for (const [content, number] of contents) {
    const stars = starsOf(content);
    if (stars > 0) ratings[stars as keyof Ratings] += number;
  }
  return ratings;
}

/** Adds up the stars of all ratings that are counted. */
export function sumOfRatings(counts: ReviewCounts): number {
  return sumOver(counts, (stars) => stars);
}

function sumOver({ contents }: ReviewCounts, value: (stars: number) => number): number {
  return [...contents].reduce((sum, [content, number]) => {
    const stars = starsOf(content);
    return stars === 0 ? sum : sum + number * value(stars);
  }, 0);
}

/**
 * Returns the changes to the counts of author and entity when `before` becomes `after`, by
 * attribute, without zeros. Drafts and hidden reviews count for their author alone.
 */
export function countChanges(before: Review | undefined, after: Review | undefined) {
  const counts: Amounts = {};
  const add = (review: Review | undefined, sign: 1 | -1) => {
    const counted = review && countedIn(review);
    if (counted) bump(counts, ownerAttributes(counted), sign);
  };
  add(before, -1);
  add(after, 1);
  const karma = (after?.popularity ?? 0) - (before?.popularity ?? 0);
  const more = Number(isWritten(after)) - Number(isWritten(before));
  return {
    karma,
    author: nonZero({ ...counts, [written]: more }),
    entity: nonZero(counts),
  };
}

/** Returns the attributes that a review of an owner adds 1 to. */
function ownerAttributes({ entity_type, language, content }: CountedProperty): string[] {
  return [attributeOf(entity_type), language.toUpperCase(), letterOf(content)];
}

/** Returns the attributes that a review adds 1 to in the totals of its type, without stars. */
export function totalAttributes({ language, content }: Omit<CountedProperty, 'entity_type'>) {
  return [language.toUpperCase(), letterOf(withoutStars(content))];
}

/** Returns the attributes of totals that count all reviews, and those in some languages. */
export function totalNames(languages: readonly string[]): string[] {
  const contents = reviewContents.filter((content) => content === withoutStars(content));
  return [...contents.map(letterOf), ...languages.map((language) => language.toUpperCase())];
}

/** Returns true for an attribute that counts: of a user, of an entity or of the totals. */
export function isCount(name: string): boolean {
  const others = [written, 'karma', 'applications'];
  const isContent = contentOfLetter(name) !== undefined;
  const isType = typesByAttribute.has(name) || name.startsWith(own);
  return isContent || isLanguage(name) || isType || others.includes(name);
}

/** Returns true for an attribute in which older code counted by several properties at once. */
export function isObsolete(name: string): boolean {
  return name.includes('|') || ['review_count', 'rating_sum', 'rating_count'].includes(name);
}

/** A review that is being deleted has left the list of its author. */
function isWritten(review: Review | undefined): boolean {
  return review !== undefined && review.deleted_at === undefined;
}

function bump(amounts: Amounts, names: readonly string[], by: number): void {
  for (const name of names) amounts[name] = (amounts[name] ?? 0) + by;
}

/** Leaves out the amounts that change nothing. */
export function nonZero(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0));
}
