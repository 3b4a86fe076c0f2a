/**
 * One of what is left out, or half of a pair. Most texts have none of these, and this expression
 * finds that out in a quarter of the time that the other one takes.
 */
const suspects =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/;

/**
 * Leaves out what pages, feeds and mails cannot contain, even escaped: control characters other
 * than tab and line ends, noncharacters and lone surrogates (XML 1.0 section 2.2; HTML, "Input
 * stream"). Stored texts and JSON keep them.
 */
export function withoutControls(text: string): string {
  if (!suspects.test(text)) return text;
  return text.replaceAll(/[[\p{Cc}\p{Cs}\p{NChar}]--[\t\n\r]]/gv, '');
}
