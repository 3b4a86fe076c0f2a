// Ratings as stars.
import { html, raw } from 'hono/html';
import type { Html } from './layout.ts';
import { counted } from './words.ts';

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

/** The average of a thing: its number, stars, and the number of ratings. Empty without ratings. */
export function averageOf({ rating, count }: { rating: number | null; count: number }): Html | '' {
  if (rating === null) return '';
  return html`<span class="average"><b class="number" aria-hidden="true">${rating}</b> ${stars(rating)} <span class="soft">${counted(count, 'rating')}</span></span>`;
}
