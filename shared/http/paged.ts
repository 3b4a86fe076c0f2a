import * as v from 'valibot';
import { invalidRequest } from '../errors.ts';
import { type PageStart, readFromCursor } from '../list/cursor.ts';
import type { SortKey } from '../table/item.ts';
import { pageParameters } from './request.ts';
import { Answer, brieflyShared } from './response.ts';

export const pagedParameters = { ...pageParameters, cursor: v.optional(v.string()) };

/**
 * Answers one page of a list. The next cursor is in the body as `next`, and in a Link after `links`
 * (RFC 8288). A cursor also continues `offset`, which is exact while nothing is written.
 */
export async function pagedAnswer<T extends { next?: SortKey }, B extends object>(
  query: Readonly<Record<string, unknown>> & { limit: number; offset: number; cursor?: string },
  read: (position: PageStart) => Promise<T>,
  present: (page: T) => Promise<B & { count: number }> | (B & { count: number }),
  ...links: string[]
) {
  const { limit, offset, cursor, ...rest } = query;
  if (cursor !== undefined && offset > 0) {
    throw invalidRequest('offset must not be sent with a cursor, which has its own');
  }
  const { page, ...at } = await readFromCursor(rest, { limit, offset, cursor }, read);
  const { count, ...body } = await present(page);
  const parameters = Object.entries({ ...rest, limit, cursor: at.cursor }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, `${value}`] as [string, string]]),
  );
  const next = at.cursor ? [`<?${new URLSearchParams(parameters)}>; rel="next"`] : [];
  const Link = [...links, ...next].join(', ');
  const headers = { 'Cache-Control': brieflyShared, ...(Link && { Link }) };
  return new Answer({ count, limit, offset: at.offset, ...body, next: at.cursor }, { headers });
}
