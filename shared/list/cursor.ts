import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest } from '../errors.ts';
import type { SortKey } from '../table/item.ts';

/** Start of a page. The offset is approximate after writes. */
export interface PageStart {
  offset: number;
  after?: SortKey;
}

const digestBytes = 12;

/** The offset of the page, and the sort key before it: a time, usually with an id, or a rank. */
const CursorContent = v.tuple([
  v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  v.union([
    v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(#[\da-f-]{36})?$/)),
    v.object({ rank: v.pipe(v.string(), v.regex(/^-?\d{1,38}$/), v.toBigint()) }),
  ]),
]);

/**
 * Reads a page at an offset or a cursor, and makes the cursor of the next page. It is bound to
 * `query`, all that determines the entries and their order (`sort`). A page that ends before its
 * limit says so by a `limit` of its own. Throws ApiError 400 for a cursor of another list. The
 * binding is a checksum, not a secret: a forged cursor reads only pages that an offset reads too.
 */
export async function readFromCursor<T extends { next?: SortKey; limit?: number }>(
  query: { sort?: unknown },
  { cursor, offset, limit }: { cursor?: string; offset: number; limit: number },
  read: (position: PageStart) => Promise<T>,
): Promise<{ page: T; offset: number; cursor: string | undefined }> {
  const binding = JSON.stringify(query);
  const position = cursor === undefined ? { offset } : readCursor(binding, cursor);
  const isRank = typeof position.after === 'bigint';
  if (position.after !== undefined && isRank !== (query.sort === 'popularity')) throw badCursor();
  const page = await read(position);
  const after = typeof page.next === 'bigint' ? { rank: `${page.next}` } : page.next;
  const end = position.offset + (page.limit ?? limit);
  const next = after && sealCursor(binding, [end, after]);
  return { page, offset: position.offset, cursor: next };
}

/** Encodes a place as text, with a checksum that binds it to its context. */
export function sealCursor(binding: string, place: unknown): string {
  const content = Buffer.from(JSON.stringify(place));
  return Buffer.concat([digest(binding, content), content]).toString('base64url');
}

/** Decodes a text of `sealCursor`. Returns undefined if the checksum or schema does not match. */
export function openCursor<T extends v.GenericSchema>(
  binding: string,
  schema: T,
  text: string,
): v.InferOutput<T> | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const content = bytes.subarray(digestBytes);
  // Base64url decoding ignores unknown characters. Only the exact text that was sealed is accepted.
  const isExact = bytes.toString('base64url') === text;
  if (!isExact || !digest(binding, content).equals(bytes.subarray(0, digestBytes))) {
    return undefined;
  }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), content.toString());
  return parsed.success ? parsed.output : undefined;
}

function readCursor(binding: string, cursor: string): PageStart {
  const opened = openCursor(binding, CursorContent, cursor);
  if (!opened) throw badCursor();
  const [offset, place] = opened;
  return { offset, after: typeof place === 'string' ? place : place.rank };
}

function badCursor(): ApiError {
  return invalidRequest('cursor must be one that came with a page of the very same list');
}

function digest(binding: string, content: Buffer): Buffer {
  const bound = Buffer.concat([Buffer.from(`${binding}\n`), content]);
  return hash('sha256', bound, 'buffer').subarray(0, digestBytes);
}
