import { html } from 'hono/html';
import { nameOfEntity } from '../entity/entity-type.ts';
import { findKeptMetadata } from '../entity/metadata.ts';
import type { Metadata } from '../entity/presented.ts';
import { readFromCursor } from '../list/cursor.ts';
import { listWritten } from '../review/own-reviews.ts';
import type { Review } from '../review/review.ts';
import type { Html } from './layout.ts';
import { excerptOf } from './review-card.ts';
import { stars } from './stars.ts';

/** Reviews of a page. */
const limit = 20;

/** A page of a person's reviews, with drafts, hidden reviews, and names from the table. */
export async function readWritten(userId: string, from: string | undefined) {
  const list = { list: 'written', user_id: userId, sort: 'date' };
  const { page, cursor } = await readFromCursor(
    list,
    { offset: 0, limit, cursor: from },
    ({ after }) => listWritten(userId, { limit, offset: 0, after }),
  );
  const reviews = page.reviews.map(({ review }) => review);
  const metadata = await findKeptMetadata(reviews);
  return { written: reviews.map((review, i) => ({ review, metadata: metadata[i] })), cursor };
}

/** A table. A phone stacks the cells of a row under the names of their columns. */
export function rowsUnder(columns: readonly string[], rows: readonly (Html | string)[][]): Html {
  return html`<table class="rows stack">
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (cells) =>
        html`<tr>${cells.map((cell, i) => html`<td data-name="${columns[i]}">${cell}</td>`)}</tr>`,
    )}</tbody>
  </table>`;
}

/** The cell of a review: its entity with a link, its stars, and the beginning of its text. */
export function reviewCell(review: Review, metadata?: Metadata | null, href?: string): Html {
  const { rating, text, language } = review;
  const name = html`<bdi>${nameOfEntity(review, metadata)}</bdi>`;
  return html`<strong>${href ? html`<a href="${href}">${name}</a>` : name}</strong>
    ${rating !== null && stars(rating)}
    ${text !== null && html`<div class="clamp soft" lang="${language}" dir="auto">${excerptOf(text)}</div>`}`;
}
