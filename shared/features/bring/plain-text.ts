// Texts of other sites, which have a few marks of HTML.

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Marks that the sites write. Anything else between angle brackets is the text of a person. */
const marks = /<\/?(?:a|b|blockquote|br|del|div|em|i|p|s|span|strong|sub|sup|u)(?:\s[^<>]*)?\/?>/gi;

/** Returns a text without the marks of HTML: line breaks become characters, and others go. */
export function plainText(html: string): string {
  return html
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/<br\s*\/?>/gi, '\n')
    .replaceAll(/<\/(?:p|div|blockquote)>/gi, '\n\n')
    .replaceAll(marks, '')
    .replaceAll(/&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,6}));/g, (all, name, code) => {
      if (name) return entities[name] ?? all;
      return Number(code) > 0 ? String.fromCodePoint(Number(code)) : all;
    })
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
