import * as v from 'valibot';
import { bytesOf } from '../../base/bytes-of.ts';
import { notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { leftOf } from '../../base/table/budget.ts';
import type { Item } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import { queryItems } from '../../base/table/query.ts';
import { revisionKey } from '../keys.ts';
import { findWhole } from './long-text.ts';
import { currentRevision, type Review } from './review.ts';
import { presentRevision, Revision, revisionOf } from './revision.ts';

/** Maximum bytes of the revisions in an answer, as JSON. */
export const mostRevisionBytes = 256 * 1024;

/**
 * Revisions to read first. The longest texts fill an answer with them: they have 20 KB each, so
 * one more would be read for nothing.
 */
const fewest = 13;

/** Read units of all revisions on a page, read strongly consistent. */
const unitsOfPage = 70;

/** Beginning of the sort keys of revisions. */
const prefix = 'REVISION#';

/** Revisions in each further read, which DynamoDB ends after 1 MB: 128 read units. */
const most = 1000;
const unitsOfRead = 128;

/** Read units of the largest item that DynamoDB stores: an imported text may be so long. */
const unitsOfItem = 50;

/** Returns a revision as `findRevision` does. Throws ApiError 404 if there is none. */
export async function getRevision(review: Review, n: number): Promise<Revision> {
  const revision = await findRevision(review, n);
  if (!revision) throw notFound('Revision');
  return revision;
}

/** Returns the current revision, or an earlier one from its own item. */
export async function findRevision(review: Review, n: number): Promise<Revision | undefined> {
  const current = n === currentRevision(review) ? await findCurrent(review) : undefined;
  if (current) return current;
  if (n > currentRevision(review)) return undefined;
  const [item] = await getItems([revisionKey(review.id, n)], { consistent: true });
  return item && v.parse(Revision, item);
}

/** Returns the current revision, or undefined if the review was edited since it was read. */
async function findCurrent(review: Review): Promise<Revision | undefined> {
  const whole = await findWhole(review);
  return whole?.edits === review.edits ? revisionOf(whole) : undefined;
}

interface Listing {
  before?: number;
  maxBytes?: number;
}

/**
 * Lists revisions, newest first, before number `before`. Stops at `maxBytes` of JSON, by default
 * 256 KB, or where the budget of the request ends. The first one is always there. Their votes are
 * those of the review, wherever all revisions are on the page.
 */
export async function listRevisions(review: Review, listing: Listing = {}): Promise<Revision[]> {
  const { before = Number.POSITIVE_INFINITY } = listing;
  const current = currentRevision(review) < before ? await findCurrent(review) : undefined;
  const revisions = await readRevisions(review, current, listing);
  const isRight = hasAllVotes(review, revisions) || leftOf('read') < unitsOfPage;
  // A replica may still lack votes that the review has, under whose version all this is kept.
  return isRight ? revisions : readRevisions(review, current, listing, true);
}

/** Is also true for a part of the revisions. */
function hasAllVotes(review: Review, revisions: readonly Revision[]): boolean {
  const isWhole = revisions.length === currentRevision(review) && revisions.at(-1)?.id === 1;
  const sum = (name: 'votes_positive' | 'votes_negative') =>
    revisions.reduce((total, revision) => total + revision[name], 0);
  const names = ['votes_positive', 'votes_negative'] as const;
  return !isWhole || names.every((name) => sum(name) === review[name]);
}

async function readRevisions(
  review: Review,
  current: Revision | undefined,
  { before, maxBytes = mostRevisionBytes }: Listing,
  isConsistent = false,
): Promise<Revision[]> {
  const revisions: Revision[] = [];
  let bytes = 0;
  for await (const page of revisionsOf(review, current, before, isConsistent)) {
    for (const revision of page) {
      // One byte is the comma.
      bytes += bytesOf(presentRevision(revision)) + 1;
      // An imported text may be longer than all of `maxBytes`.
      if (bytes > maxBytes && revisions.length > 0) return revisions;
      revisions.push(revision);
    }
  }
  return revisions;
}

async function* revisionsOf(
  review: Review,
  current: Revision | undefined,
  before = Number.POSITIVE_INFINITY,
  isConsistent: boolean,
) {
  if (current) yield [current];
  // An edit may have come after the review was read, and has left the revision that was current.
  let last = Math.min(current ? review.edits : currentRevision(review), before - 1);
  let size = Math.min(fewest, affordable());
  if (!current) size = Math.max(1, size);
  for (; last > 0 && size > 0; size = affordable()) {
    const items = await readPage(review.id, last, { pageSize: size, isConsistent });
    if (items.length === 0) return;
    yield parseItems(Revision, items);
    last = Number(items.at(-1)?.sk.slice(prefix.length)) - 1;
  }
}

/** Returns how many revisions of any size the next read may ask for. */
function affordable(): number {
  if (leftOf('commands') < 1) return 0;
  const units = leftOf('read');
  return units >= unitsOfRead ? most : Math.floor(units / unitsOfItem);
}

/** Reads a page of earlier revisions, newest first, from number `last` on. */
async function readPage(
  id: string,
  last: number,
  { pageSize, isConsistent }: { pageSize: number; isConsistent: boolean },
): Promise<Item[]> {
  const { pk } = revisionKey(id, 1);
  const newest = revisionKey(id, last).sk;
  const read = async (consistent: boolean): Promise<Item[]> => {
    const options = { pageSize, descending: true, consistent, until: newest };
    return (await queryItems({ pk, sk: prefix }, options).next()).value ?? [];
  };
  const items = await read(isConsistent);
  // A replica may still lack a revision that has just been made.
  return items[0]?.sk === newest || isConsistent ? items : read(true);
}
