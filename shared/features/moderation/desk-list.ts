// The list of what waits for moderators, with what each entry is about.

import { type ListPage, readPage } from '../../base/list/read-page.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Order } from '../../base/table/definition.ts';
import { type Item, keyString, type SortKey } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import { type EntityRecord, entityOf, recordIn } from '../../core/entity/record.ts';
import { caseKey, deskPartitions } from '../../core/keys.ts';
import type { ReviewCase } from '../../core/report/case-repository.ts';
import { type DeskKind, deskKinds } from '../../core/report/desk.ts';
import { Case } from '../../core/review/case.ts';
import { type AuthoredReview, findReviews } from '../../core/review/read-reviews.ts';
import type { Reason } from '../../core/review/verdict.ts';
import { keyOfProposal, type OpenProposal, Proposal, withRecords } from '../names/public.ts';

/** A review whose case is open. */
export type OpenReview = AuthoredReview & Pick<ReviewCase, 'moderationCase'>;

/** A thing that waits: a review, a proposed name, or the first name of something. */
export type Waiting = OpenReview | OpenProposal | { named: EntityRecord };

/** A part of the queue, and the order. */
interface DeskQuery {
  order: Order;
  kind?: DeskKind | undefined;
  /** Leaves out cases without a report for this reason. */
  reason?: Reason | undefined;
}

/**
 * Reads a page of the queue, the longest waiting or the most reported first. Only reviews are in
 * the order of reports. With a `reason` it returns the matching ones of the next `limit` (at most
 * 100), which may be none.
 */
export async function listWaiting(
  { kind, reason, order }: DeskQuery,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { waiting: Waiting[] }> {
  const kinds = kind ? [kind] : deskKinds;
  const partitions = kinds.map((each) => ({ scope: 'all', value: deskPartitions[each] }) as const);
  const page = { order, descending: order === 'popularity', offset: 0, limit, after };
  const { entries, next } = await readPage({ partitions }, page);
  const items = (await getItems(entries, { consistent: true })).flatMap((item) => item ?? []);
  const [reviews, proposals] = await Promise.all([
    readReviews(items, reason),
    withRecords(parseItems(Proposal, items.filter(isProposal))),
  ]);
  const byKey = new Map<string, Waiting>([
    ...reviews.map((each): [string, Waiting] => [keyString(caseKey(each.review.id)), each]),
    ...proposals.map((each): [string, Waiting] => [keyString(keyOfProposal(each.proposal)), each]),
    ...items.flatMap(namedIn),
  ]);
  return { waiting: entries.flatMap((entry) => byKey.get(keyString(entry)) ?? []), next };
}

const isProposal = ({ sk }: Item) => sk.startsWith('PROPOSAL#');

async function readReviews(items: readonly Item[], reason?: Reason): Promise<OpenReview[]> {
  const cases = parseItems(
    Case,
    items.filter(({ sk }) => sk === caseKey('').sk),
  );
  // The index may be behind.
  const open = cases.filter((each) => each.state === 'open' && (!reason || each[reason] > 0));
  const byReview = new Map(open.map((each) => [each.review_id, each]));
  const reviews = await findReviews(
    open.map(({ review_id, user_id }) => ({ ...caseKey(review_id), user_id })),
  );
  return reviews.map((each) => {
    return { ...each, moderationCase: byReview.get(each.review.id) as Case };
  });
}

function namedIn(item: Item): [string, Waiting][] {
  const entity = item.all === deskPartitions.name ? entityOf(item.pk) : undefined;
  const named = entity && recordIn(entity, item);
  return named ? [[keyString(item), { named }]] : [];
}
