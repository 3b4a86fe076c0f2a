// The layout of the guides and the reference: a menu beside an article.
import { html } from 'hono/html';
import type { Html } from './layout.ts';

/**
 * An article with a menu. A narrow window shows the menu closed, above the article. A wide one
 * shows it open, beside the article. `more` are links below the menu, which always show.
 */
export function beside(name: string, menu: Html, more: Html, article: Html): Html {
  return html`<div class="beside">
        <nav class="menu" aria-label="${name}">
          <details class="fold">
            <summary>${name}</summary>
            ${menu}
          </details>
          <p>${more}</p>
        </nav>
        <article>
          ${article}
        </article>
      </div>`;
}
