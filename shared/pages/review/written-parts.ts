// The written fields of a review as pages show them: in full, and in short.
import { html } from 'hono/html';
import { beginningOf } from '../../core/review/long-text.ts';
import { writtenBytes } from '../../core/review/page-size.ts';
import type { Review } from '../../core/review/review.ts';
import type { WholeWritten, Written, WrittenName } from '../../core/review/written.ts';
import type { Html } from '../frame/layout.ts';
import { stars } from '../frame/stars.ts';

/** UTF-16 units of an excerpt in a list: three lines of a wide window. */
const excerptLength = 280;

/** The written fields of a review or revision, and their language. */
type Content = Written & Pick<Review, 'language'>;

type Parts = Record<WrittenName, (content: Content) => Html | false>;

/** The fields in full, in the order of a page. */
const fullParts: Parts = {
  rating: ({ rating }) => rating !== null && html`<p class="big">${stars(rating)}</p>`,
  text: ({ text, language }) =>
    text !== null && html`<div class="review verbatim" lang="${language}" dir="auto">${text}</div>`,
};

/**
 * The most bytes of a text as HTML on a public page: half of an answer, whose other half is for the
 * page around it. A reader of a longer text, which is imported, follows a link.
 */
const mostTextBytes = 256 * 1024;

/**
 * Renders a review or revision in full. With a link to the whole, a text that is too long for a
 * public page is shown by its beginning and this link.
 */
export function inFull(content: Content & WholeWritten, whole?: Html): Html {
  const { text } = content;
  const isTooLong = whole !== undefined && text !== null && writtenBytes(content) > mostTextBytes;
  const shown = isTooLong ? { ...content, text: `${beginningOf(text)}…` } : content;
  const parts = Object.values(fullParts).map((part) => part(shown));
  return html`${parts}${isTooLong && html`<p>${whole}</p>`}`;
}

/** The fields in short. A list shows the rating in the line of the author. */
export const shortParts: Parts = {
  rating: ({ rating }) => rating !== null && stars(rating),
  text: ({ text, language }) =>
    text !== null && html`<p class="review" lang="${language}" dir="auto">${excerptOf(text)}</p>`,
};

/** Renders a review in short: its stars, and what else it has. */
export function inShort(content: Content): Html {
  return html`${Object.values(shortParts).map((part) => part(content))}`;
}

const characters = /* @__PURE__ */ new Intl.Segmenter();

/**
 * The beginning of a text in one line of at most so many UTF-16 units, cut at the end of a word. A
 * script without spaces is cut between two characters as people see them.
 */
export function excerptOf(text: string, most = excerptLength): string {
  const line = lineOf(text);
  if (line.length <= most) return line;
  const space = line.lastIndexOf(' ', most);
  if (space > 0.8 * most) return `${line.slice(0, space)}…`;
  const next = characters.segment(line).containing(most);
  return `${line.slice(0, next?.index)}…`;
}

/** Is true if the excerpt of a review's text leaves something out. */
export function isCut({ text, long_text }: Pick<Review, 'text' | 'long_text'>): boolean {
  return long_text !== undefined || (text !== null && lineOf(text).length > excerptLength);
}

function lineOf(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
