import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest } from '../errors.ts';
import type { SortKey } from '../table/item.ts';

/** Start of a page. The offset is approximate after writes. */
export interface PageStart {
  offset: number;
  after?: SortKey;
}

/** A place after an item of a page: its sort key, and the number of entries up to it. */
export interface Place {
  after: SortKey;
  passed: number;
}

/** A page as it was read. */
export interface ReadPage {
  /** The sort key after which the next page begins. The last page has none. */
  next?: SortKey;
  /** Set if the page is shorter than asked for: the number of entries that it passes. */
  limit?: number;
  /** The place after each item, where the page can end earlier. */
  places?: readonly Place[];
}

const digestBytes = 12;

/** The offset of the page, and the sort key before it: a time, mostly with ids, or a rank. */
const CursorContent = v.tuple([
  v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  v.union([
    v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(#[\da-f-]{36}){0,2}$/)),
    v.object({ rank: v.pipe(v.string(), v.regex(/^-?\d{1,38}$/), v.toBigint()) }),
  ]),
]);

/**
 * Reads a page at an offset or a cursor. `endAfter` tells how it ends if that many of its items are
 * shown: with all of them, or earlier where the answer is full. The cursor is bound to `query`, all
 * that determines the entries and their order (`sort`). Throws ApiError 400 for a cursor of another
 * list. The binding is a checksum, not a secret: a forged cursor reads only pages that an offset
 * reads too.
 */
export async function readFromCursor<T extends ReadPage>(
  query: { sort?: unknown },
  { cursor, offset, limit }: { cursor?: string; offset: number; limit: number },
  read: (position: PageStart) => Promise<T>,
): Promise<{ page: T; offset: number; endAfter: (shown?: number) => PageEnd }> {
  const binding = JSON.stringify(query);
  const position = cursor === undefined ? { offset } : readCursor(binding, cursor);
  const isRank = typeof position.after === 'bigint';
  if (position.after !== undefined && isRank !== (query.sort === 'popularity')) throw badCursor();
  const page = await read(position);
  const { places = [], next, limit: length = limit } = page;
  const endAfter = (shown = places.length): PageEnd => {
    const place = shown < places.length ? places[shown - 1] : undefined;
    const { after, passed } = place ?? { after: next, passed: length };
    if (after === undefined) return { limit: passed, cursor: undefined };
    const key = typeof after === 'bigint' ? { rank: `${after}` } : after;
    return { limit: passed, cursor: sealCursor(binding, [position.offset + passed, key]) };
  };
  return { page, offset: position.offset, endAfter };
}

/** The end of a page: the number of entries that it passes, and the cursor of the next page. */
export interface PageEnd {
  limit: number;
  cursor: string | undefined;
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
