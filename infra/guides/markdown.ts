import MarkdownIt from 'markdown-it';

/**
 * The renderer of Markdown. It escapes HTML, and refuses links to scripts. Headings have anchors.
 */
export const markdown = new MarkdownIt({ html: false });

markdown.renderer.rules.heading_open = (tokens, i) => {
  const { tag } = tokens[i] ?? {};
  const id = slugOf(tokens[i + 1]?.content ?? '');
  return `<${tag} id="${id}"><a href="#${id}">`;
};
markdown.renderer.rules.heading_close = (tokens, i) => `</a></${tokens[i]?.tag}>\n`;
// Code that is wider than the page scrolls, also by keyboard.
const { fence } = markdown.renderer.rules;
markdown.renderer.rules.fence = (...block) =>
  fence?.(...block).replace('<pre>', '<pre tabindex="0">') ?? '';
markdown.renderer.rules.table_open = () => '<table class="rows">\n';

/** Returns the first heading of a document. */
export function titleOf(text: string): string {
  return /^# (.*)/.exec(text)?.[1]?.trim() ?? '';
}

/** Returns the anchor of a heading, as on GitHub. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
