import * as v from 'valibot';
import { invalidRequest } from '../errors.ts';
import { type Position, readFromCursor } from '../list/cursor.ts';
import type { SortKey } from '../table/item.ts';
import { pageParameters } from './request.ts';
import { Answer, brieflyShared } from './response.ts';

/** `limit`, `offset` and `cursor` of a list that can be walked by either. */
export const pagedParameters = { ...pageParameters, cursor: v.optional(v.string()) };

/** The query of such a list, validated. */
type PagedQuery = Readonly<Record<string, unknown>> & {
  limit: number;
  offset: number;
  cursor?: string;
};

/**
 * The answer of a list: one page. Every page but the last says the way to the next one, as `next` in the body and as a Link (RFC 8288)
 * relative to the request, after the `links` that are there on every page. `offset` is that of the page, also where a cursor led to it, and is exact while nobody writes.
 */
export async function pagedAnswer<T extends { next?: SortKey }, B extends object>(
  query: PagedQuery,
  read: (position: Position) => Promise<T>,
  present: (page: T) => Promise<B & { count: number }> | (B & { count: number }),
  ...links: string[]
) {
  const { limit, offset: asked, cursor: sent, ...rest } = query;
  if (sent !== undefined && asked > 0) {
    throw invalidRequest('offset must not be sent with a cursor, which has its own');
  }
  const { page, offset, cursor } = await readFromCursor(
    rest,
    { limit, offset: asked, cursor: sent },
    read,
  );
  const { count, ...body } = await present(page);
  const given = Object.entries({ ...rest, limit, cursor }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, `${value}`] as [string, string]],
  );
  const next = cursor ? [`<?${new URLSearchParams(given)}>; rel="next"`] : [];
  const all = [...links, ...next];
  return new Answer(
    { count, limit, offset, ...body, next: cursor },
    {
      headers: {
        'Cache-Control': brieflyShared,
        ...(all.length > 0 && { Link: all.join(', ') }),
      },
    },
  );
}
