import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { bytesOf, largestBody } from '../lambda-limits.ts';
import { revisionKey } from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import { currentRevision, type Review } from './review.ts';
import { presentRevision, Revision, revisionOf } from './revision.ts';

/** Returns the current revision, or an earlier one from its own item. Throws ApiError 404. */
export async function getRevision(review: Review, n: number): Promise<Revision> {
  if (n === currentRevision(review)) return revisionOf(review);
  const item = n < currentRevision(review) ? await getItem(revisionKey(review.id, n)) : undefined;
  if (!item) throw notFound('Revision');
  return v.parse(Revision, item);
}

/** Lists revisions, newest first, before number `before`. Stops before `maxBytes` of a response. */
export async function listRevisions(
  review: Review,
  { before, maxBytes = largestBody }: { before?: number; maxBytes?: number } = {},
): Promise<Revision[]> {
  const revisions: Revision[] = [];
  let bytes = 0;
  for await (const page of revisionsOf(review, before)) {
    for (const revision of page) {
      // JSON in JSON. The outer quotes stand for the commas.
      bytes += bytesOf(JSON.stringify(presentRevision(revision)));
      if (bytes > maxBytes) return revisions;
      revisions.push(revision);
    }
  }
  return revisions;
}

async function* revisionsOf(review: Review, before = Number.POSITIVE_INFINITY) {
  if (currentRevision(review) < before) yield [revisionOf(review)];
  // An edit may have come after the review was read.
  const last = Math.min(review.edits, before - 1);
  if (last === 0) return;
  const prefix = { ...revisionKey(review.id, 1), sk: 'REVISION#' };
  const until = revisionKey(review.id, last).sk;
  for await (const items of queryItems(prefix, { pageSize: 1000, descending: true, until })) {
    yield items.map((item) => v.parse(Revision, item));
  }
}
