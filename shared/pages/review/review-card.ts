// A review as lists and tables show it.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { nameOfEntity } from '../../entity/entity-type.ts';
import type { Metadata } from '../../entity/presented.ts';
import type { Review } from '../../review/review.ts';
import type { AuthoredReview } from '../../review/review-repository.ts';
import { aboutLine } from '../entity/named-entity.ts';
import { pictureTile } from '../entity/picture.ts';
import type { Html } from '../frame/layout.ts';
import { personLink } from '../frame/person.ts';
import { when } from '../frame/words.ts';
import { inShort, isCut, shortParts } from './written-parts.ts';

const { rating: shortRating, ...belowAuthor } = shortParts;

/**
 * Renders a review in a list. `metadata` is for lists about several entities. Each review has a
 * heading, by which a screen reader goes from one to the next.
 */
export function reviewCard(
  { review, author }: AuthoredReview,
  about: { metadata?: Metadata | null; isOfOneEntity?: boolean; isOfOneAuthor?: boolean } = {},
): Html {
  const { id, entity_id, published_on, created } = review;
  const base = authUrl();
  const byLine = html`${!about.isOfOneAuthor && personLink(author)} ${shortRating(review)}
      <a href="${base}/review/${id}">${when(published_on ?? created)}</a>`;
  return html`<div>
    ${
      !about.isOfOneEntity &&
      html`<div class="thing">
        ${pictureTile(review, about.metadata)}
        <div>
          <h3><a href="${base}/entity/${entity_id}"><bdi>${nameOfEntity(review, about.metadata)}</bdi></a></h3>
          ${aboutLine(review, about.metadata)}
        </div>
      </div>`
    }
    ${about.isOfOneEntity ? html`<h3 class="by">${byLine}</h3>` : html`<p class="by">${byLine}</p>`}
    ${Object.values(belowAuthor).map((part) => part(review))}
    ${isCut(review) && html`<p><a href="${base}/review/${id}">Read more</a></p>`}
  </div>`;
}

/** The cell of a review in a table: its entity, perhaps with a link, and the review in short. */
export function reviewCell(review: Review, metadata?: Metadata | null, href?: string): Html {
  const name = html`<bdi>${nameOfEntity(review, metadata)}</bdi>`;
  return html`<div class="cell">
    <strong>${href ? html`<a href="${href}">${name}</a>` : name}</strong>
    ${aboutLine(review, metadata)}
    ${inShort(review)}
  </div>`;
}
