// Pages of a list in the API, with the link and cursor of the next one.
import * as v from 'valibot';
import { invalidRequest } from '../errors.ts';
import { type PageStart, readFromCursor } from '../list/cursor.ts';
import type { SortKey } from '../table/item.ts';
import { pageParameters } from './request.ts';
import { Answer, brieflyShared } from './response.ts';

export const pagedParameters = { ...pageParameters, cursor: v.optional(v.string()) };

type PagedQuery = Readonly<Record<string, unknown>> & {
  limit: number;
  offset: number;
  cursor?: string;
};

/**
 * Answers one page of a list. The next cursor is in the body as `next`, and in a Link after `links`
 * (RFC 8288). A cursor also continues `offset`, which is exact while nothing is written.
 */
export async function pagedAnswer<T extends { next?: SortKey; limit?: number }, B extends object>(
  query: PagedQuery,
  read: (position: PageStart) => Promise<T>,
  present: (page: T) => Promise<B & { count: number }> | (B & { count: number }),
  ...links: string[]
) {
  const { limit, offset, cursor, ...filter } = query;
  if (cursor !== undefined && offset > 0) {
    throw invalidRequest('offset must not be sent with a cursor, which has its own');
  }
  const position = { limit, offset, cursor };
  const { page, offset: start, cursor: next } = await readFromCursor(filter, position, read);
  const { count, ...body } = await present(page);
  const headers: Record<string, string> = { 'Cache-Control': brieflyShared };
  const allLinks = next ? [...links, nextLink({ ...filter, limit, cursor: next })] : links;
  if (allLinks.length > 0) headers.Link = allLinks.join(', ');
  const { limit: length = limit } = page;
  return new Answer({ count, limit: length, offset: start, ...body, next }, { headers });
}

function nextLink(query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, `${value}`);
  }
  return `<?${parameters}>; rel="next"`;
}
