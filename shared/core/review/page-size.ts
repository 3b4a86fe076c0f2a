import { fitting } from '../../base/answer-size.ts';
import { usedOf } from '../../base/table/budget.ts';
import type { Entry } from '../../base/table/item.ts';
import { readKind, type WholeReview } from './review.ts';
import { longestTextInJson } from './written.ts';

// The number of reviews that a page or a lookup reads, by their sizes.

/**
 * The most bytes of JSON of a review that people write. Beside its text it has 3,800 bytes of
 * fields, which imports check, its author and its licence.
 */
const longestReviewInJson = longestTextInJson + 6_000;

/** The most ids of a lookup. */
export const mostLookedUp = 25;

/**
 * The most bytes of the reviews in the answer to a lookup: 25 of the longest that people write. Who
 * asks for many imported texts at once is told to ask for fewer.
 */
export const mostLookedUpBytes = mostLookedUp * longestReviewInJson;

/**
 * Most read units of a request for a page of reviews. Index and rank trees take up to 70 of them.
 * Fifty reviews of up to 4 KB take 50 with their authors, so only longer ones, or names far down a
 * filtered list, end a page earlier. Its readers then follow `next`.
 */
const mostUnits = 120;

/** Bytes that a read unit covers in a read that is not strongly consistent. */
const bytesPerUnit = 8192;

/** Most read units beside a review: of its author, and of the record of its entity. */
const unitsBeside = { author: 0.5, record: 1 };

/**
 * Returns how many of the first entries can be read with their authors, and with the records of
 * their entities if the page `isNamed`. Their texts fit an answer, and their read units fit the
 * request. At least one.
 */
export function readable(entries: readonly Entry[], isNamed: boolean): number {
  const sizes = entries.map(({ kind }) => readKind(kind).bytes);
  const authors = new Set<string | undefined>();
  let units = usedOf('read');
  const first = entries.findIndex(({ user_id }, i) => {
    if (!authors.has(user_id)) units += unitsBeside.author;
    authors.add(user_id);
    units += (sizes[i] ?? 0) / bytesPerUnit + (isNamed ? unitsBeside.record : 0);
    return units > mostUnits;
  });
  const affordable = first === -1 ? sizes.length : Math.max(1, first);
  return Math.min(affordable, fitting(sizes));
}

/** Characters that take up to six bytes in JSON or HTML: controls, quotes, and those of markup. */
const escaped = /[\p{Cc}"&'<>\\]/gu;

/** Returns the most bytes that the text of a review has in JSON or HTML. */
export function writtenBytes({ text }: Pick<WholeReview, 'text'>): number {
  return Buffer.byteLength(text ?? '') + 5 * (text?.match(escaped)?.length ?? 0);
}
