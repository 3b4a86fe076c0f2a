// What stands beside an article or a list in a wide window, and is folded in a narrow one.
import { html } from 'hono/html';
import type { Html } from './layout.ts';

/**
 * An article with a menu. A narrow window shows the menu closed, above the article. A wide one
 * shows it open, beside the article. `more` are links below the menu, which always show.
 */
export function beside(name: string, menu: Html, more: Html, article: Html): Html {
  return html`<div class="beside">
        <nav class="menu" aria-label="${name}">
          ${fold(name, menu)}
          <p>${more}</p>
        </nav>
        <article>
          ${article}
        </article>
      </div>`;
}

/** Content with a name: folded in a narrow window, and open, without the name, in a wide one. */
export function fold(name: string, content: Html): Html {
  return html`<details class="fold">
            <summary>${name}</summary>
            ${content}
          </details>`;
}
