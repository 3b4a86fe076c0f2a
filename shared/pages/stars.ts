import { html, raw } from 'hono/html';
import type { Html } from './layout.ts';

/** Five stars on a field of 100 by 20. */
const five = raw(
  `<path d="${[0, 20, 40, 60, 80].map((x) => `M${x + 10} 1l2.8 6 6.2.7-4.6 4.4 1.3 6.4-5.7-3.3-5.7 3.3 1.3-6.4-4.6-4.4 6.2-.7z`).join('')}"/>`,
);

/**
 * Renders a rating from 0 to 5 as a row of stars, with fractions. Screen readers say it in words.
 */
export function stars(rating: number): Html {
  return html`<svg class="stars" viewBox="0 0 100 20" role="img" aria-label="${rating} of 5 stars">${five}<svg width="${rating * 20}" height="20">${five}</svg></svg>`;
}

/** A row of a histogram: the number of ratings with so many stars. */
export interface Bar {
  stars: number;
  count: number;
  /** Link to the reviews with these ratings. */
  href: string;
}

/** Renders ratings by stars. The most frequent has the longest bar. */
export function histogram(bars: readonly Bar[]): Html {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return html`<table class="histogram">
    ${bars.map(
      (bar) => html`<tr>
        <th scope="row">${bar.count > 0 ? html`<a href="${bar.href}">${nameOf(bar)}</a>` : nameOf(bar)}</th>
        <td><svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${Math.round((bar.count / most) * 1000) / 10}" height="1"/></svg></td>
        <td>${bar.count}</td>
      </tr>`,
    )}
  </table>`;
}

function nameOf({ stars }: Bar): string {
  return stars === 1 ? '1 star' : `${stars} stars`;
}
