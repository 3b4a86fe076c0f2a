import { createHmac, timingSafeEqual } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { invalidRequest } from '../errors.ts';
import { TableName, table } from '../table/client.ts';
import { cursorKeyKey } from '../table/keys.ts';
import type { SortValue } from '../table/read-entries.ts';

/** Where a page begins: after a place in the order, and about which offset that is. */
export interface Position {
  offset: number;
  after?: SortValue;
}

const macBytes = 16;

let key: Promise<string | undefined> | undefined;

/**
 * Reads a page that begins at an offset or at a cursor, and gives with it the cursor of the next one. A cursor is bound to `query`, all that
 * decides which entries there are and in which order. Throws ApiError 400 for one that we did not make, or not for this query.
 *
 * The key lies in the table, for it guards nothing that is secret: who could forge a cursor could as well ask for an offset. So the lists,
 * which anybody may call, need no right to read the keys of tokens, and do not wait for them either.
 */
export async function readFromCursor<T extends { next?: SortValue }>(
  query: object,
  { cursor, offset, limit }: { cursor?: string; offset: number; limit: number },
  read: (position: Position) => Promise<T>,
): Promise<{ page: T; offset: number; cursor: string | undefined }> {
  const binding = JSON.stringify(query);
  const opened = cursor === undefined ? undefined : openCursor(await readKey(), binding, cursor);
  const position = opened ?? { offset };
  const [page, secret] = await Promise.all([read(position), readKey()]);
  const next = { offset: position.offset + limit, after: page.next };
  return {
    page,
    offset: position.offset,
    cursor: page.next !== undefined && secret ? sealCursor(secret, binding, next) : undefined,
  };
}

function sealCursor(secret: string, binding: string, { offset, after }: Position): string {
  const content = Buffer.from(JSON.stringify([offset, typeof after, `${after}`]));
  return Buffer.concat([mac(secret, binding, content), content]).toString('base64url');
}

function openCursor(secret: string | undefined, binding: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const content = bytes.subarray(macBytes);
  const sent = bytes.subarray(0, macBytes);
  // Base64url decoding skips what it does not know: only the one spelling is the cursor.
  const isWhole = content.length > 0 && bytes.toString('base64url') === cursor;
  if (!isWhole || !secret || !timingSafeEqual(mac(secret, binding, content), sent)) {
    throw invalidRequest('cursor must be one that came with a page of the very same list');
  }
  const [offset, type, after] = JSON.parse(content.toString()) as [number, string, string];
  return { offset, after: type === 'bigint' ? BigInt(after) : after };
}

function mac(secret: string, binding: string, content: Buffer): Buffer {
  const hash = createHmac('sha256', secret).update(binding).update('\n').update(content);
  return hash.digest().subarray(0, macBytes);
}

/** Once per process. There is none before the feed has seen its first record, and no long list either. */
async function readKey(): Promise<string | undefined> {
  key ??= table
    .send(new GetCommand({ TableName, Key: cursorKeyKey }))
    .then(({ Item }) => Item?.secret as string | undefined);
  try {
    const secret = await key;
    if (secret === undefined) key = undefined;
    return secret;
  } catch (error) {
    key = undefined;
    throw error;
  }
}
