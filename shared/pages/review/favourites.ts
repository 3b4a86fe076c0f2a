import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import type { Metadata } from '../../core/entity/presented.ts';
import type { AuthoredReview } from '../../core/review/read-reviews.ts';
import { pictureTile } from '../entity/picture.ts';
import type { Html } from '../frame/layout.ts';
import { stars } from '../frame/stars.ts';

const most = 4;

/** Stars from which a thing is a favourite. */
const leastStars = 4;

/**
 * Renders the things that an author likes best among the reviews of a page, of which `metadata` has
 * the names. Empty if the reviews show the same at a glance. `count` is that of all reviews.
 */
export function favourites(
  { reviews, count }: { reviews: readonly AuthoredReview[]; count: number },
  metadata: readonly (Metadata | null)[],
): Html | '' {
  const liked = reviews.flatMap(({ review }, i) => {
    const { rating } = review;
    const known = metadata[i];
    return known && rating !== null && rating >= leastStars ? [{ review, known, rating }] : [];
  });
  // Of equal ones, those that readers prefer, and then those that stand first.
  const best = liked
    .toSorted((a, b) => b.rating - a.rating || b.review.popularity - a.review.popularity)
    .slice(0, most);
  if (best.length < 2 || reviews.length <= most) return '';
  return html`<section>
    <h2>Favourites</h2>
    ${count > reviews.length && html`<p class="soft">Of the ${reviews.length} reviews below</p>`}
    <ul class="shelf few">${best.map(
      ({ review, known, rating }) => html`<li>
        ${pictureTile(review, known, 128)}
        <h3><a href="${authUrl()}/entity/${review.entity_id}"><bdi>${known.name}</bdi></a></h3>
        <p>${stars(rating)}</p>
      </li>`,
    )}</ul>
  </section>`;
}
