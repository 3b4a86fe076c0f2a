/**
 * Leaves out what pages, feeds and mails cannot contain, even escaped: control characters other
 * than tab and line ends, noncharacters and lone surrogates (XML 1.0 section 2.2; HTML, "Input
 * stream"). Stored texts and JSON keep them.
 */
export function withoutControls(text: string): string {
  return text.replaceAll(/[[\p{Cc}\p{Cs}\p{NChar}]--[\t\n\r]]/gv, '');
}
