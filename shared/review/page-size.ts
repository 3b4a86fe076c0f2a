import type { WholeReview } from './review.ts';
import { longestTextInJson } from './written.ts';

// The size of a page of reviews, whatever their texts.

/**
 * The most bytes of JSON of a review that people write. Beside its text it has 3,800 bytes of
 * fields, which imports check, its author and its licence.
 */
export const longestReviewInJson = longestTextInJson + 6_000;

/** The most ids of a lookup. */
export const mostLookedUp = 25;

/**
 * The most bytes of the reviews in the answer to a lookup: 25 of the longest that people write. Who
 * asks for many imported texts at once is told to ask for fewer.
 */
export const mostLookedUpBytes = mostLookedUp * longestReviewInJson;

/**
 * Most bytes of the reviews on a page, as stored and as written in JSON or HTML. 50 usual reviews
 * have a tenth.
 */
const mostBytes = 400 * 1024;

/** Characters that take up to six bytes in JSON or HTML: controls, quotes, and those of markup. */
const escaped = /[\p{Cc}"&'<>\\]/gu;

/** Returns how many of these sizes in bytes fit a page of `most` bytes, at least one. */
export function fitting(sizes: readonly number[], most = mostBytes): number {
  let sum = 0;
  const first = sizes.findIndex((bytes) => {
    sum += bytes;
    return sum > most;
  });
  return first === -1 ? sizes.length : Math.max(1, first);
}

/** Returns the most bytes that the text of a review has in JSON or HTML. */
export function writtenBytes({ text }: Pick<WholeReview, 'text'>): number {
  return Buffer.byteLength(text ?? '') + 5 * (text?.match(escaped)?.length ?? 0);
}
