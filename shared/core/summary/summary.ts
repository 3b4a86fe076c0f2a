import { getItems } from '../../base/table/batch.ts';
import type { Order } from '../../base/table/definition.ts';
import type { Entry } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { findRecord } from '../entity/metadata.ts';
import type { EntityRecord } from '../entity/record.ts';
import { entityKey } from '../keys.ts';
import type { ReviewCounts } from '../review/counts.ts';
import { averageRating, countsIn, ratingsIn, sumOfCounts } from '../review/owner-counts.ts';
import { readable } from '../review/page-size.ts';
import { type AuthoredReview, findListedWhole } from '../review/read-reviews.ts';
import type { WholeReview } from '../review/review.ts';
import type { EntitySummary } from './presented.ts';

// An entity as its reviews describe it: numbers, languages, ratings and some reviews.

/** Number of reviews of each order beside a summary. */
const shown = 3;

/** Reads the summary of an entity in one round trip. */
export async function findSummary(id: string): Promise<EntitySummary> {
  return summaryOf(id, countsIn(await getItem(entityKey(id), { consistent: false })));
}

/** Reads summaries of at most 25 distinct ids in their order, in one round trip. */
export async function findSummaries(ids: readonly string[]): Promise<EntitySummary[]> {
  const items = await getItems(ids.map(entityKey));
  return ids.map((id, i) => summaryOf(id, countsIn(items[i])));
}

/**
 * Reads a summary with the three latest and three most popular reviews, and the record, in two
 * round trips. There are fewer reviews where imported ones are very long. Without reviews, the
 * record of any type is found, for half a unit a type.
 */
export async function readEntity(id: string): Promise<{
  summary: EntitySummary;
  record: EntityRecord | undefined;
  latest: AuthoredReview<WholeReview>[];
  popular: AuthoredReview<WholeReview>[];
}> {
  const [item, latest, popular] = await Promise.all([
    getItem(entityKey(id), { consistent: false }),
    readFirst(id, 'date'),
    readFirst(id, 'popularity'),
  ]);
  const entries = new Map([...latest, ...popular].map((entry) => [idIn(entry), entry]));
  const distinct = [...entries.values()];
  const summary = summaryOf(id, countsIn(item));
  const [listed, record] = await Promise.all([
    findListedWhole(distinct.slice(0, readable(distinct, true))),
    findRecord(id, summary.entity_type),
  ]);
  const byId = new Map(listed.map((authored) => [authored.review.id, authored]));
  const among = (entries: readonly Entry[]) =>
    entries.flatMap((entry) => byId.get(idIn(entry)) ?? []);
  return { summary, record, latest: among(latest), popular: among(popular) };
}

function readFirst(id: string, order: Order): Promise<Entry[]> {
  const pages = queryIndex(`entity-by-${order}`, id, { descending: true, pageSize: shown });
  return collect(pages, shown);
}

/** Reads the summary of a thing with the reviews of those that lead to it, in one round trip. */
export async function findSummaryWith(id: string, led: readonly string[]): Promise<EntitySummary> {
  const items = await getItems([id, ...led].map(entityKey));
  return summaryOf(id, sumOfCounts(items.map(countsIn)));
}

/** An entity without reviews may have no counts. */
function summaryOf(id: string, counts: ReviewCounts): EntitySummary {
  return {
    id,
    entity_type: byFrequency(counts.types)[0]?.[0] ?? null,
    review_count: counts.all,
    average_rating: averageRating(counts),
    ratings: ratingsIn(counts),
    languages: Object.fromEntries(byFrequency(counts.languages)),
  };
}

/** Returns counts, the highest first. Equal counts are in order of name. */
function byFrequency<T extends string>(numbers: ReadonlyMap<T, number>): [T, number][] {
  return [...numbers].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}
