// Makes reviews of the rows of a file, and takes them back.
import { ApiError } from '../../base/errors.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, StaleRead } from '../../base/table/transact.ts';
import { claimKey } from '../../core/keys.ts';
import { findReview } from '../../core/review/read-reviews.ts';
import { isDraft, isHeld, newReview, type Review } from '../../core/review/review.ts';
import { deleteReview, insertReview } from '../../core/review/review-repository.ts';
import { revisionTagOf } from '../../core/review/revision-tag.ts';
import { longestCharacters } from '../../core/review/written.ts';
import { spendBroughtName } from '../../core/user/daily-limit.ts';
import type { User } from '../../core/user/user.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { addition } from '../names/public.ts';
import type { BroughtFile, Choices, Row } from './brought-file.ts';
import { derivedId, namingOf } from './find-rows.ts';
import { columnsOf } from './sites.ts';

/** A row with its thing. */
type KnownRow = Row & { entity_id: string };

/**
 * Publishes the rows of a part, or saves them as drafts, as the form for a review does. Repeatable:
 * the id of a review comes from its row. Throws what repeating may help against.
 */
export async function bringRows(file: BroughtFile, rows: readonly Row[]): Promise<Row[]> {
  const { choices } = file;
  if (!choices) return [...rows];
  const user = await findUser(file.user_id);
  // The account is gone, and the file with it.
  if (!user) throw new StaleRead();
  const brought: Row[] = [];
  let spent: string | undefined;
  for (const row of rows) {
    const isToBring = row.state === 'found' || row.state === 'new';
    if (!isToBring || row.entity_id === undefined) {
      brought.push(row);
      continue;
    }
    if (spent !== undefined && row.state === 'new') {
      brought.push({ ...row, state: 'refused', why: spent });
      continue;
    }
    const known = { ...row, entity_id: row.entity_id };
    try {
      const state = stateOf(await bring(file, known, choices, user));
      brought.push({ ...row, state });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) throw error;
      // No other name of this day will do either.
      if (error.code === 'limit_exceeded') spent = error.message;
      brought.push({ ...row, state: 'refused', why: error.message });
    }
  }
  return brought;
}

function stateOf(review: Review | undefined): Row['state'] {
  if (!review) return 'have';
  if (isDraft(review)) return 'draft';
  return isHeld(review) ? 'held' : 'published';
}

/** The id of the review of a row. */
const reviewIdOf = (file: BroughtFile, row: Row) => derivedId(file.id, `${row.line}`);

/** Stores the review of a row. Returns undefined if the person has another of the thing. */
async function bring(
  file: BroughtFile,
  row: KnownRow,
  { halves, license_choice, ...choices }: Choices,
  user: User,
): Promise<Review | undefined> {
  const { entity_type } = file;
  const { entity_id } = row;
  const id = reviewIdOf(file, row);
  const claim = await getItem(claimKey(user.id, entity_id));
  // A step that was killed has stored it already.
  if (claim?.review_id === id) return findReview(id);
  if (claim && claim.reported === undefined && claim.marked_at === undefined) return undefined;
  const written = { text: textOf(file, row), rating: starsOf(row.rating, halves) };
  const content = { entity_id, entity_type, license_choice, ...choices, ...written };
  const review = { ...newReview(user.id, content), id };
  if (row.state === 'found') return insertReview(review, [], []);
  return retryStale(async () => {
    const naming = await addition({ entity_id, entity_type }, namingOf(row), user);
    return insertReview(review, naming, naming.length > 0 ? spendBroughtName(user) : []);
  });
}

/** Returns whole stars: halves go up or down, and quarters to the nearest. */
export function starsOf(rating: number | undefined, halves: Choices['halves']): number | null {
  if (rating === undefined) return null;
  const isHalf = rating % 1 === 0.5;
  const whole = isHalf && halves === 'down' ? Math.floor(rating) : Math.round(rating);
  return Math.max(1, whole);
}

/** Returns the text, with a line of its site and date if there is room. */
export function textOf({ site }: Pick<BroughtFile, 'site'>, { text, date }: Row): string | null {
  if (text === undefined) return null;
  const dated = `${text}\n\n${columnsOf(site).name}, ${date}`;
  return date !== undefined && [...dated].length <= longestCharacters ? dated : text;
}

/** Deletes the reviews of the rows of a part that nobody has touched since. Repeatable. */
export async function undoRows(file: BroughtFile, rows: readonly Row[]): Promise<Row[]> {
  const undone: Row[] = [];
  for (const row of rows) {
    const isBrought = ['published', 'held', 'draft'].includes(row.state);
    undone.push(isBrought ? await undo(file, row) : row);
  }
  return undone;
}

async function undo(file: BroughtFile, row: Row): Promise<Row> {
  const review = await findReview(reviewIdOf(file, row));
  const gone: Row = { ...row, state: 'undone', why: undefined };
  if (!review || review.deleted_at !== undefined) return gone;
  const why = reasonToStay(review, row);
  if (why) return { ...row, why };
  try {
    await deleteReview(review.id, file.user_id, [revisionTagOf(review)]);
    return gone;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) throw error;
    return error.status === 404 ? gone : { ...row, why: `It stays: ${error.message}` };
  }
}

function reasonToStay(review: Review, { state }: Row): string | undefined {
  if (review.edits > 0 || review.waiting_since) return 'It stays, because you have edited it';
  if (review.votes_positive + review.votes_negative > 0) return 'It stays, because it has votes';
  if (review.is_hidden && !isHeld(review)) return 'It stays, because a moderator has hidden it';
  if (state === 'draft' && !isDraft(review)) return 'It stays, because you have published it';
  return undefined;
}
