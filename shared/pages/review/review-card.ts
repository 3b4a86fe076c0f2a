// A review as lists and tables show it: stars, excerpt, author.
import { html, raw } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { nameOfEntity } from '../../entity/entity-type.ts';
import type { Metadata } from '../../entity/presented.ts';
import type { Review } from '../../review/review.ts';
import type { AuthoredReview } from '../../review/review-repository.ts';
import type { Html } from '../frame/layout.ts';
import { nameWithRole } from '../frame/person.ts';
import { dayOf } from '../frame/words.ts';

/** UTF-16 units of an excerpt in a list: three lines of a wide window. */
const excerptLength = 280;

const five = raw(
  `<path d="${[0, 20, 40, 60, 80].map((x) => `M${x + 10} 1l2.8 6 6.2.7-4.6 4.4 1.3 6.4-5.7-3.3-5.7 3.3 1.3-6.4-4.6-4.4 6.2-.7z`).join('')}"/>`,
);

/** One star, of the same shape as in `stars`, without a word for screen readers. */
export const star = raw(
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M10 1l2.8 6 6.2.7-4.6 4.4 1.3 6.4-5.7-3.3-5.7 3.3 1.3-6.4-4.6-4.4 6.2-.7z"/></svg>',
);

/** A rating from 0 to 5 as a row of stars, with fractions. Screen readers say it in words. */
export function stars(rating: number): Html {
  return html`<svg class="stars" viewBox="0 0 100 20" role="img" aria-label="${rating} of 5 stars">${five}<svg width="${rating * 20}" height="20">${five}</svg></svg>`;
}

/** The text in its own language and direction, with its paragraphs. */
export function textOf({ text, language }: Review): Html | '' {
  if (text === null) return '';
  return html`<div class="review verbatim" lang="${language}" dir="auto">${text}</div>`;
}

/** The beginning of a text in one line, cut at the end of a word. */
export function excerptOf(text: string): string {
  const line = lineOf(text);
  if (line.length <= excerptLength) return line;
  // A script without spaces is cut anywhere, but not inside a surrogate pair.
  const cut = line.slice(0, excerptLength).replace(/\s\S*$|[\ud800-\udbff]$/, '');
  return `${cut}…`;
}

function lineOf(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Renders a review in a list. `metadata` is for lists about several entities. */
export function reviewCard(
  { review, author }: AuthoredReview,
  about: { metadata?: Metadata | null; isOfOneEntity?: boolean; isOfOneAuthor?: boolean } = {},
): Html {
  const { id, entity_id, rating, text, language, published_on, created } = review;
  const base = authUrl();
  const excerpt = excerptOf(text ?? '');
  return html`<div>
    ${!about.isOfOneEntity && html`<h3><a href="${base}/entity/${entity_id}"><bdi>${nameOfEntity(review, about.metadata)}</bdi></a></h3>`}
    <p class="by">
      ${rating !== null && stars(rating)}
      <span class="soft">
        ${!about.isOfOneAuthor && html`<a href="${base}/user/${author.id}">${nameWithRole(author)}</a>,`}
        <a href="${base}/review/${id}">${dayOf(published_on ?? created)}</a>
      </span>
    </p>
    ${text !== null && html`<p class="review" lang="${language}" dir="auto">${excerpt}</p>`}
    ${text !== null && excerpt !== lineOf(text) && html`<p><a href="${base}/review/${id}">Read more</a></p>`}
  </div>`;
}

/** The cell of a review in a table: its entity, perhaps with a link, its stars and an excerpt. */
export function reviewCell(review: Review, metadata?: Metadata | null, href?: string): Html {
  const { rating, text, language } = review;
  const name = html`<bdi>${nameOfEntity(review, metadata)}</bdi>`;
  return html`<strong>${href ? html`<a href="${href}">${name}</a>` : name}</strong>
    ${rating !== null && stars(rating)}
    ${text !== null && html`<div class="clamp soft" lang="${language}" dir="auto">${excerptOf(text)}</div>`}`;
}
