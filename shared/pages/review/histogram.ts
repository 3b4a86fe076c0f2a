import { html } from 'hono/html';
import type { Ratings } from '../../core/review/owner-counts.ts';
import type { Html } from '../frame/layout.ts';
import { counted } from '../frame/words.ts';

/**
 * Renders ratings by stars: folded on a phone, and beside the reviews in a wide window. Empty
 * without ratings. `hrefOf` gives the address of the reviews with so many stars.
 */
export function histogram(
  ratings: Partial<Ratings>,
  {
    title,
    caption,
    hrefOf,
  }: { title: string; caption: string; hrefOf?: (stars: number) => string },
): Html | '' {
  const most = Math.max(0, ...Object.values(ratings));
  if (most === 0) return '';
  return html`<section><details class="fold">
    <summary>${title}</summary>
    <table class="histogram">
    <caption>${caption}</caption>
    ${([5, 4, 3, 2, 1] as const).map((stars) => {
      const count = ratings[stars] ?? 0;
      const name = counted(stars, 'star');
      return html`<tr>
        <th scope="row">${count > 0 && hrefOf ? html`<a href="${hrefOf(stars)}">${name}</a>` : name}</th>
        <td><svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${Math.round((count / most) * 1000) / 10}" height="1"/></svg></td>
        <td>${count}</td>
      </tr>`;
    })}
    </table>
  </details></section>`;
}
