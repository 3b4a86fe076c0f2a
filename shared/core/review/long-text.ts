import { pick } from '../../base/pick.ts';
import { getItems } from '../../base/table/batch.ts';
import { leftOf } from '../../base/table/budget.ts';
import type { Item } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import type { Write } from '../../base/table/transact.ts';
import { longTextKey, reviewKey } from '../keys.ts';
import { beginningLength, isPublic, Review, type WholeReview } from './review.ts';
import { longestText } from './written.ts';

// Texts that are longer than people write, which only imports keep. Such a text stands in an item
// of its own, and its review holds the beginning. So a review has 24 KB at most, and the bytes of a
// long text are known before it is read.

/** Something with a review, such as its author. */
type Of<R extends Review> = { review: R };

/** Bytes of a long text’s item beside the text. */
const bytesOfKeys = 100;

/** Read units of a review with a long text, which is read again if a replica lacked the text. */
const unitsOfReview = 3;

/** Splits a review into what its item holds, and the item of its text if that is a long one. */
export function setApart(whole: WholeReview): { review: Review; longText?: Item } {
  const { id, text } = whole;
  if (text === null || !isLongText(text)) return { review: whole };
  const review = { ...whole, text: beginningOf(text), long_text: Buffer.byteLength(text) };
  return { review, longText: { ...longTextKey(id), text } };
}

/** Is true for a text that is longer than people write. */
export function isLongText(text: string): boolean {
  return Buffer.byteLength(text) > longestText;
}

/** Returns the first code points of a text, as a review holds and pages show them. */
export function beginningOf(text: string): string {
  return [...text.slice(0, 2 * beginningLength)].slice(0, beginningLength).join('');
}

/**
 * Returns how to store a review that still holds its whole long text, as older code has stored it:
 * its attributes to set, and the item of the text. Undefined if there is nothing to move.
 */
export function moveOfLongText(stored: Review) {
  if (!isWhole(stored)) return undefined;
  const { review, longText } = setApart(stored);
  return longText && { set: pick(review, ['text', 'long_text']), longText };
}

/** Returns the write of the text's item that belongs to a change of a review, if any. */
export function changeOfLongText(before: Review, longText: Item | undefined): Write[] {
  // An import keeps texts, and an edit makes none so long: the item of a long text never changes.
  if (before.long_text === undefined) return longText ? [{ Put: { Item: longText } }] : [];
  return longText ? [] : [{ Delete: { Key: longTextKey(before.id) } }];
}

/** Is true for a review with its whole text. */
export function isWhole(review: Review): review is WholeReview {
  return review.long_text === undefined;
}

/**
 * Returns the first of these reviews whose long texts the request may still read, at least one. The
 * budget of the request decides, so nobody feels it but who asks for long texts.
 */
export function affordable<T extends Of<Review>>(some: readonly T[]): readonly T[] {
  let left = leftOf('read');
  const end = some.findIndex(({ review }, i) => {
    left -= unitsOf(review);
    return i > 0 && left < 0;
  });
  return end === -1 ? some : some.slice(0, end);
}

/** Returns the most read units that completing a review takes: a replica may lack its text. */
function unitsOf({ long_text }: Review): number {
  return long_text === undefined ? 0 : Math.ceil((long_text + bytesOfKeys) / 4096) + unitsOfReview;
}

/**
 * Completes reviews with their long texts, in one round trip, without those in `items`. Reads
 * nothing if no text is long. A review that was edited since it was read is read again. It is left
 * out if it is gone, or no longer public. A caller with many reviews asks `affordable` first.
 */
export async function completed<T extends Of<Review>>(
  some: readonly T[],
  items: readonly (Item | undefined)[] = [],
): Promise<(T & Of<WholeReview>)[]> {
  const texts = textsIn(items);
  const missing = some.filter(({ review }) => !join(review, texts));
  const keys = missing.map(({ review }) => longTextKey(review.id));
  for (const [id, text] of textsIn(await getItems(keys))) texts.set(id, text);
  const stale = missing.filter(({ review }) => !join(review, texts)).map(({ review }) => review.id);
  const again = await readAgain(stale);
  return some.flatMap((each) => {
    const review = join(each.review, texts) ?? again.get(each.review.id);
    const isShown = review && (isPublic(review) || !isPublic(each.review));
    return isShown ? [{ ...each, review }] : [];
  });
}

/** Completes one review, as `completed` does. Returns undefined if it is left out. */
export async function findWhole(review: Review): Promise<WholeReview | undefined> {
  const [whole] = await completed([{ review }]);
  return whole?.review;
}

/** Reads reviews with their long texts, strongly consistent. */
async function readAgain(ids: readonly string[]): Promise<Map<string, WholeReview>> {
  const keys = [...ids.map(reviewKey), ...ids.map(longTextKey)];
  const items = await getItems(keys, { consistent: true });
  const texts = textsIn(items.slice(ids.length));
  const reviews = parseItems(Review, items.slice(0, ids.length));
  const whole = reviews.flatMap((review) => join(review, texts) ?? []);
  return new Map(whole.map((review) => [review.id, review]));
}

/** Returns the texts of items by the ids of their reviews. */
function textsIn(items: readonly (Item | undefined)[]): Map<string, string> {
  return new Map(items.flatMap((item) => (item ? [[idIn(item), `${item.text}`] as const] : [])));
}

/**
 * Joins a stored review with its long text. Returns undefined if the text is missing, or is that of
 * another state of the review.
 */
export function join(review: Review, texts: ReadonlyMap<string, string>): WholeReview | undefined {
  if (isWhole(review)) return review;
  const text = texts.get(review.id);
  const isOfIt = text !== undefined && Buffer.byteLength(text) === review.long_text;
  return isOfIt ? { ...review, text, long_text: undefined } : undefined;
}
