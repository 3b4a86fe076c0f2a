import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Metadata } from '../entity/presented.ts';
import type { Review } from '../review/review.ts';
import type { AuthoredReview } from '../review/review-repository.ts';
import type { Html } from './layout.ts';
import { stars } from './stars.ts';
import { dayOf, nameOfEntityType } from './words.ts';

/** The name of the reviewed entity, or its type while the name is unknown. */
export function nameOfEntity({ entity_type }: Review, metadata?: Metadata | null): string {
  return metadata?.name ?? `Unnamed ${nameOfEntityType(entity_type).toLowerCase()}`;
}

/** The text in its own language and direction, its paragraphs kept. */
export function textOf({ text, language }: Review): Html | '' {
  return text === null
    ? ''
    : html`<div class="review verbatim" lang="${language}" dir="auto">${text}</div>`;
}

/** A review in a list of a page: `metadata` where the list is about several entities. */
export function reviewCard(
  { review, author }: AuthoredReview,
  about: { metadata?: Metadata | null; isOfOneEntity?: boolean; isOfOneAuthor?: boolean } = {},
): Html {
  const { id, entity_id, rating, published_on, created } = review;
  const at = authUrl();
  return html`<article>
    ${!about.isOfOneEntity && html`<h3><a href="${at}/entity/${entity_id}"><bdi>${nameOfEntity(review, about.metadata)}</bdi></a></h3>`}
    ${rating !== null && html`<p>${stars(rating)}</p>`}
    <div class="clamp">${textOf(review)}</div>
    <p class="soft">
      ${!about.isOfOneAuthor && html`<a href="${at}/user/${author.id}"><bdi>${author.display_name}</bdi></a>,`}
      <a href="${at}/review/${id}">${dayOf(published_on ?? created)}</a>
    </p>
  </article>`;
}
