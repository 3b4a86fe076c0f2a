// The letter of every week: the latest reviews, for those who ask for it.
import { authUrl } from '../auth-url.ts';
import { nameOfEntity } from '../entity/entity-type.ts';
import { findMetadata } from '../entity/metadata.ts';
import { findListed } from '../review/read-reviews.ts';
import { collect, queryIndex } from '../table/query.ts';
import type { Letter } from './letter.ts';

/** Reviews in a digest: what fits a screen. */
const mostReviews = 10;

const week = 7 * 86_400_000;

/** Returns the letter, or undefined if nothing was published in a week. Reads some 25 units. */
export async function digestLetter(): Promise<Letter | undefined> {
  const range = { low: new Date(Date.now() - week).toISOString() };
  const options = { range, descending: true, pageSize: mostReviews };
  const entries = await collect(queryIndex('all-by-date', 'REVIEW', options), mostReviews);
  const listed = await findListed(entries);
  const things = await findMetadata(listed.map(({ review }) => review));
  const lines = listed.map(({ review, author }, i) => ({
    text: `${nameOfEntity(review, things[i])}, by ${author.display_name}`,
    url: `${authUrl()}/review/${review.id}`,
  }));
  return lines.length > 0 ? { subject: 'The latest reviews', lines } : undefined;
}
