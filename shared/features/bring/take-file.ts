// Stores a file that a person has sent, in parts, and begins to look it up.
import { randomUUID } from 'node:crypto';
import { bytesOf } from '../../base/bytes-of.ts';
import { ApiError } from '../../base/errors.ts';
import { batchDelete, batchWrite } from '../../base/table/batch.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { retryStale, transact } from '../../base/table/transact.ts';
import { epochSeconds } from '../../base/time.ts';
import { type EntityType, isOwnType } from '../../core/entity/entity-type.ts';
import { reviewableTypes } from '../../core/entity/reviewable-types.ts';
import { checkWriter, writeAs } from '../../core/user/writer.ts';
import { type BroughtFile, begin, keptDays, listFiles, type Row, slots } from './brought-file.ts';
import { fileKey, rowsKey } from './kinds.ts';
import { columnsOf, type SiteName } from './sites.ts';

/** Most rows of a part, and most bytes of them in JSON. */
const largestPart = { rows: 25, bytes: 40 * 1024 };

const day = 86_400_000;

/** The rows of a table that are to be stored, and what the person chose. */
interface SentTable {
  site: SiteName;
  rows: readonly (Omit<Row, 'state'> & Partial<Pick<Row, 'state'>>)[];
  empty: number;
  entity_type: EntityType;
}

/** Returns the type of things that a site is about, if this service has one. */
export function usualType(site: SiteName): EntityType | undefined {
  const labels = columnsOf(site).types;
  const fits = (label: string) => (type: EntityType) =>
    type === label || (isOwnType(type) && type.split('_').includes(label));
  return labels.map((label) => reviewableTypes.find(fits(label))).find(Boolean);
}

/**
 * Returns the slot for another file: an unused one, or that of the oldest file. Undefined if all
 * are of the last 24 hours, or at work.
 */
export function freeSlot(files: readonly BroughtFile[]): number | undefined {
  const unused = slots.find((slot) => files.every((file) => file.slot !== slot));
  if (unused) return unused;
  const past = new Date(Date.now() - day).toISOString();
  return files.findLast(({ created, task }) => created < past && task === undefined)?.slot;
}

/**
 * Stores a file in the place of the oldest, which then can no longer be undone. Throws ApiError 403
 * for a blocked account, or without a slot.
 */
export async function takeFile(userId: string, sent: SentTable): Promise<number> {
  const parts = partsOf(sent.rows);
  const now = new Date().toISOString();
  const file = await retryStale(async () => {
    const files = await listFiles(userId);
    const slot = freeSlot(files);
    if (slot === undefined) {
      throw new ApiError(403, 'limit_exceeded', `You may bring ${slots.length} files in 24 hours`);
    }
    const before = files.find((each) => each.slot === slot);
    const { site, entity_type, empty } = sent;
    const expires_at = epochSeconds() + keptDays * 86_400;
    const head: BroughtFile = {
      id: randomUUID(),
      user_id: userId,
      slot: slot as BroughtFile['slot'],
      site,
      entity_type,
      created: now,
      updated_at: now,
      rows: sent.rows.length + empty,
      empty,
      parts: parts.length,
      next: 0,
      counts: {},
      version: 1,
      expires_at,
    };
    await writeAs(userId, (writer) =>
      transact([
        { Put: { Item: { ...fileKey(userId, slot), ...head }, was: { id: before?.id } } },
        checkWriter(userId, writer),
      ]),
    );
    if (before) await batchDelete(await collect(queryItems(rowsKey(userId, before.id, ''))));
    return head;
  });
  const { id, expires_at } = file;
  await batchWrite(
    parts.map((rows, i) => ({ put: { ...rowsKey(userId, id, i), rows, expires_at } })),
  );
  await begin(file, 'find');
  return file.slot;
}

/** Divides rows so that each part is one small item. */
function partsOf(rows: SentTable['rows']): Row[][] {
  const parts: Row[][] = [];
  let bytes = 0;
  for (const sent of rows) {
    // Until it is looked up, a row that can be read counts as found by nobody.
    const row: Row = { state: 'unfound', ...sent };
    const size = bytesOf(JSON.stringify(row));
    const last = parts.at(-1);
    if (last && last.length < largestPart.rows && bytes + size <= largestPart.bytes) {
      last.push(row);
      bytes += size;
    } else {
      parts.push([row]);
      bytes = size;
    }
  }
  return parts;
}
