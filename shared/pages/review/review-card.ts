// A review as lists and tables show it.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { nameOfEntity } from '../../core/entity/entity-type.ts';
import type { Metadata } from '../../core/entity/presented.ts';
import type { AuthoredReview } from '../../core/review/read-reviews.ts';
import type { Review } from '../../core/review/review.ts';
import { aboutLine } from '../entity/named-entity.ts';
import { pictureTile } from '../entity/picture.ts';
import type { Html } from '../frame/layout.ts';
import { personLink } from '../frame/person.ts';
import { stars } from '../frame/stars.ts';
import { counted, when } from '../frame/words.ts';
import { excerptOf, inShort, isCut, shortParts } from './written-parts.ts';

const { rating: shortRating, ...belowAuthor } = shortParts;

/**
 * Renders a review in a list, below the heading of its thing. Its own heading is by what a screen
 * reader goes from one review to the next.
 */
export function reviewCard(
  { review, author }: AuthoredReview,
  { isOfOneEntity, isOfOneAuthor }: { isOfOneEntity?: boolean; isOfOneAuthor?: boolean } = {},
): Html {
  const { id, published_on, created } = review;
  const base = authUrl();
  const byLine = html`${!isOfOneAuthor && personLink(author)} ${shortRating(review)}
      <a href="${base}/review/${id}">${when(published_on ?? created)}</a>`;
  return html`<div>
    ${isOfOneEntity ? html`<h3 class="by">${byLine}</h3>` : html`<h4 class="by">${byLine}</h4>`}
    ${Object.values(belowAuthor).map((part) => part(review))}
    ${isCut(review) && html`<p><a href="${base}/review/${id}">Read more</a></p>`}
  </div>`;
}

/** UTF-16 units of a quotation in large letters. */
const quotedLength = 200;

/** Renders a review as a quotation, with its author, its thing, and how many it has helped. */
export function lovedReview({ review, author }: AuthoredReview, metadata?: Metadata | null): Html {
  const { id, entity_id, text, language, rating, votes_positive } = review;
  const base = authUrl();
  return html`<blockquote class="quote" lang="${language}" dir="auto">${excerptOf(text ?? '', quotedLength)}</blockquote>
    <p class="by">${personLink(author)} ${rating !== null && stars(rating)}</p>
    <div class="thing">
      ${pictureTile(review, metadata)}
      <div>
        <h3><a href="${base}/entity/${entity_id}"><bdi>${nameOfEntity(review, metadata)}</bdi></a></h3>
        ${aboutLine(review, metadata)}
        <p>Helpful to ${counted(votes_positive, 'reader')}. <a href="${base}/review/${id}">Read the review</a></p>
      </div>
    </div>`;
}

/** A review on a page about several things, as an item of a list. */
interface Listed {
  review: Review;
  metadata: Metadata | null | undefined;
  item: Html;
}

/**
 * Renders the reviews of a page, those of one thing together below its name. A thing stands where
 * its first review does, so by date the one with the newest review is first. Which reviews a page
 * has, and where the next one begins, depends on the order of the list alone.
 */
export function listByThing(reviews: readonly Listed[]): Html {
  const groups = Map.groupBy(reviews, ({ review }) => review.entity_id);
  return html`<ul class="plain">
    ${[...groups.values()].map(
      (group) => html`<li class="group">
        ${group.slice(0, 1).map(({ review, metadata }) => thingHead(review, metadata))}
        <ul class="plain">
          ${group.map(({ item }) => item)}
        </ul>
      </li>`,
    )}
  </ul>`;
}

/** The thing that reviews below it are about: its picture, name and line. */
export function thingHead(review: Review, metadata?: Metadata | null): Html {
  return html`<div class="thing">
    ${pictureTile(review, metadata)}
    <div>
      <h3><a href="${authUrl()}/entity/${review.entity_id}"><bdi>${nameOfEntity(review, metadata)}</bdi></a></h3>
      ${aboutLine(review, metadata)}
    </div>
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
