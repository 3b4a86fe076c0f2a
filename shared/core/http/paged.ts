// Pages of a list in the API, with the link and cursor of the next one.
import { fitting } from '../../base/answer-size.ts';
import { invalidRequest } from '../../base/errors.ts';
import { type PageStart, type ReadPage, readFromCursor } from '../../base/list/cursor.ts';
import { CursorParameter, pageParameters } from './request.ts';
import { Answer, brieflyShared } from './response.ts';

export const pagedParameters = { ...pageParameters, cursor: CursorParameter() };

type PagedQuery = Readonly<Record<string, unknown>> & {
  limit: number;
  offset: number;
  cursor?: string;
};

/** The items of a page under their name, and what else the answer has. */
interface PresentedPage {
  count: number;
  items: Readonly<Record<string, readonly object[]>>;
  beside?: object;
}

/**
 * Answers one page of a list. The page ends where the answer is full. The next cursor is in the
 * body as `next`, and in a Link after `links` (RFC 8288). A cursor also continues `offset`, which
 * is exact while nothing is written.
 */
export async function pagedAnswer<T extends ReadPage>(
  query: PagedQuery,
  read: (position: PageStart) => Promise<T>,
  present: (page: T) => Promise<PresentedPage> | PresentedPage,
  ...links: string[]
) {
  const { limit: sent, offset: skipped, cursor, ...filter } = query;
  if (cursor !== undefined && skipped > 0) {
    throw invalidRequest('offset must not be sent with a cursor, which has its own');
  }
  const position = { limit: sent, offset: skipped, cursor };
  const { page, offset, endAfter } = await readFromCursor(filter, position, read);
  const { count, items, beside } = await present(page);
  const [[name, all]] = Object.entries(items) as [[string, object[]]];
  const texts = all.map((item) => JSON.stringify(item));
  const shown = texts.slice(0, fitting(texts.map((text) => Buffer.byteLength(text))));
  const { limit, cursor: next } = endAfter(shown.length);
  const headers: Record<string, string> = { 'Cache-Control': brieflyShared };
  const allLinks = next ? [...links, nextLink({ ...filter, limit: sent, cursor: next })] : links;
  if (allLinks.length > 0) headers.Link = allLinks.join(', ');
  const body = withItems({ count, limit, offset }, name, shown, { ...beside, next });
  return new Answer(body, { headers, type: 'application/json' });
}

/** Returns a JSON object whose field `name` is a list of JSON texts, between other fields. */
function withItems(before: object, name: string, items: readonly string[], after: object): string {
  const start = JSON.stringify(before).slice(0, -1);
  const end = JSON.stringify(after).slice(1);
  return `${start},"${name}":[${items.join()}]${end === '}' ? end : `,${end}`}`;
}

/** Returns the value of a Link header to the next page (RFC 8288). */
export function nextLink(query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, `${value}`);
  }
  return `<?${parameters}>; rel="next"`;
}
