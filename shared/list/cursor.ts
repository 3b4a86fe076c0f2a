import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest } from '../errors.ts';
import type { SortKey } from '../table/item.ts';

/** Where a page begins: after a place in the order, and about which offset that is. */
export interface Position {
  offset: number;
  after?: SortKey;
}

const digestBytes = 12;

/** What a cursor holds: the offset of the page, and the place before it: a time, mostly with the id of an entry, or a rank. */
const Content = v.tuple([
  v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  v.union([
    v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(#[\da-f-]{36})?$/)),
    v.object({ rank: v.pipe(v.string(), v.regex(/^-?\d{1,38}$/), v.toBigint()) }),
  ]),
]);

/**
 * Reads a page that begins at an offset or at a cursor, and gives with it the cursor of the next one. A cursor is bound to `query`, all that
 * decides which entries there are and in which order (`sort`). Throws ApiError 400 for one that does not come from a page of the very
 * same list.
 *
 * The binding is a checksum against mistakes and no secret: who forges a cursor gets no more than who asks for an offset.
 */
export async function readFromCursor<T extends { next?: SortKey }>(
  query: { sort?: unknown },
  { cursor, offset, limit }: { cursor?: string; offset: number; limit: number },
  read: (position: Position) => Promise<T>,
): Promise<{ page: T; offset: number; cursor: string | undefined }> {
  const binding = JSON.stringify(query);
  const position = cursor === undefined ? { offset } : openCursor(binding, cursor);
  const isRank = typeof position.after === 'bigint';
  if (position.after !== undefined && isRank !== (query.sort === 'popularity')) throw badCursor();
  const page = await read(position);
  return {
    page,
    offset: position.offset,
    cursor:
      page.next === undefined
        ? undefined
        : makeCursor(binding, { offset: position.offset + limit, after: page.next }),
  };
}

/** A place as a text that a client sends back, with a checksum that binds it to what it is a place in. */
export function sealPlace(binding: string, place: unknown): string {
  const content = Buffer.from(JSON.stringify(place));
  return Buffer.concat([digest(binding, content), content]).toString('base64url');
}

/** The place in such a text; undefined where it is not one that was sealed with this binding, or not what the schema says. */
export function openPlace<T extends v.GenericSchema>(
  binding: string,
  schema: T,
  sent: string,
): v.InferOutput<T> | undefined {
  const bytes = Buffer.from(sent, 'base64url');
  const content = bytes.subarray(digestBytes);
  // Base64url decoding skips what it does not know: only the one spelling is the text that was sealed.
  const isWhole = bytes.toString('base64url') === sent;
  if (!isWhole || !digest(binding, content).equals(bytes.subarray(0, digestBytes))) {
    return undefined;
  }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), content.toString());
  return parsed.success ? parsed.output : undefined;
}

function makeCursor(binding: string, { offset, after }: Required<Position>): string {
  return sealPlace(binding, [offset, typeof after === 'bigint' ? { rank: `${after}` } : after]);
}

function openCursor(binding: string, cursor: string): Position {
  const opened = openPlace(binding, Content, cursor);
  if (!opened) throw badCursor();
  const [offset, place] = opened;
  return { offset, after: typeof place === 'string' ? place : place.rank };
}

function badCursor(): ApiError {
  return invalidRequest('cursor must be one that came with a page of the very same list');
}

function digest(binding: string, content: Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(`${binding}\n`), content]), 'buffer').subarray(
    0,
    digestBytes,
  );
}
