import { html, raw } from 'hono/html';
import MarkdownIt from 'markdown-it';

/** Markup with all inserted values escaped. */
export type Markup = ReturnType<typeof html>;

const markdown = new MarkdownIt({ html: false });

/** A paragraph of Markdown, without its element. */
export function inline(text: string): Markup {
  return raw(markdown.renderInline(text.replace(/\.\.$/, '.'))) as Markup;
}

/** Paragraphs and lists of Markdown. */
export function block(text: string): Markup {
  return raw(markdown.render(text)) as Markup;
}

/** Code that scrolls where it is wider than the page, also by keyboard. */
export function codeBlock(language: string, code: string): Markup {
  return html`<pre tabindex="0"><code class="language-${language}">${code}</code></pre>
`;
}

/** A heading that is a link to itself. */
export function heading(level: 2 | 3, id: string, text: string): Markup {
  const tag = raw(`h${level}`);
  return html`<${tag} id="${id}"><a href="#${id}">${text}</a></${tag}>
`;
}
