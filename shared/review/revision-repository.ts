import * as v from 'valibot';
import { bytesOf } from '../bytes-of.ts';
import { notFound } from '../errors.ts';
import type { Item } from '../table/item.ts';
import { revisionKey } from '../table/keys.ts';
import { parseItems } from '../table/parse.ts';
import { getItem, queryItems } from '../table/query.ts';
import { currentRevision, type Review } from './review.ts';
import { presentRevision, Revision, revisionOf } from './revision.ts';

/** Maximum bytes of the revisions in an answer, as JSON. */
export const mostRevisionBytes = 256 * 1024;

/**
 * Revisions to read first. The longest texts fill an answer with them: they have 20 KB each, so
 * one more would be read for nothing.
 */
export const fewest = 13;

/** Beginning of the sort keys of revisions. */
const prefix = 'REVISION#';

/** Revisions in each further read, which DynamoDB ends after 1 MB. */
const longestPage = 1000;

/** Returns the current revision, or an earlier one from its own item. Throws ApiError 404. */
export async function getRevision(review: Review, n: number): Promise<Revision> {
  if (n === currentRevision(review)) return revisionOf(review);
  const item = n < currentRevision(review) ? await getItem(revisionKey(review.id, n)) : undefined;
  if (!item) throw notFound('Revision');
  return v.parse(Revision, item);
}

/**
 * Lists revisions, newest first, before number `before`. Stops at `maxBytes` of JSON, by default
 * 256 KB, and after `most` revisions. Each read asks for `pageSize` at most.
 */
export async function listRevisions(
  review: Review,
  {
    before,
    pageSize = longestPage,
    most = Number.POSITIVE_INFINITY,
    maxBytes = mostRevisionBytes,
  }: { before?: number; pageSize?: number; most?: number; maxBytes?: number } = {},
): Promise<Revision[]> {
  const revisions: Revision[] = [];
  let bytes = 0;
  for await (const page of revisionsOf(review, before, pageSize)) {
    for (const revision of page) {
      // One byte is the comma.
      bytes += bytesOf(presentRevision(revision)) + 1;
      // An imported text may be longer than all of `maxBytes`.
      if (bytes > maxBytes && revisions.length > 0) return revisions;
      revisions.push(revision);
      if (revisions.length >= most) return revisions;
    }
  }
  return revisions;
}

async function* revisionsOf(review: Review, before = Number.POSITIVE_INFINITY, pageSize: number) {
  if (currentRevision(review) < before) yield [revisionOf(review)];
  // An edit may have come after the review was read.
  let last = Math.min(review.edits, before - 1);
  for (let size = fewest; last > 0; size = pageSize) {
    const items = await readPage(review.id, last, size);
    if (items.length === 0) return;
    yield parseItems(Revision, items);
    last = Number(items.at(-1)?.sk.slice(prefix.length)) - 1;
  }
}

/** Reads a page of earlier revisions, newest first, from number `last` on. */
async function readPage(id: string, last: number, pageSize: number): Promise<Item[]> {
  const { pk } = revisionKey(id, 1);
  const newest = revisionKey(id, last).sk;
  const read = async (consistent: boolean): Promise<Item[]> => {
    const options = { pageSize, descending: true, consistent, until: newest };
    return (await queryItems({ pk, sk: prefix }, options).next()).value ?? [];
  };
  const items = await read(false);
  // A replica may still lack a revision that has just been made.
  return items[0]?.sk === newest ? items : read(true);
}
