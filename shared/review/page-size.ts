import type { Review } from './review.ts';

// The size of a page of reviews, whatever their texts.

/**
 * Most bytes of the reviews on a page, as stored and as written in JSON or HTML. 50 usual reviews
 * have a tenth.
 */
const mostBytes = 400 * 1024;

/** Characters that take up to six bytes in JSON or HTML: controls, quotes, and those of markup. */
const escaped = /[\p{Cc}"&'<>\\]/gu;

/** Returns how many of these sizes in bytes fit a page, at least one. */
export function fitting(sizes: readonly number[]): number {
  let sum = 0;
  const first = sizes.findIndex((bytes) => {
    sum += bytes;
    return sum > mostBytes;
  });
  return first === -1 ? sizes.length : Math.max(1, first);
}

/** Returns the most bytes that the text of a review has in JSON or HTML. */
export function writtenBytes({ text }: Pick<Review, 'text'>): number {
  return Buffer.byteLength(text ?? '') + 5 * (text?.match(escaped)?.length ?? 0);
}
