import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { readTotals } from '../feed/totals.ts';
import { batchGet, keyString } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import type { Order } from '../table/definition.ts';
import { claimKey, entityKey, userKey } from '../table/keys.ts';
import { type Entry, type Partition, readEntries } from '../table/read-entries.ts';
import {
  countMatching,
  type FacetCounts,
  type FacetFilter,
  facetCounts,
  facetsMatching,
  matches,
} from './counts.ts';
import { facetOf, isPublic, type Kind, kindOf } from './review.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** What the review list is asked for (spec, endpoint 2). */
export interface ReviewQuery extends FacetFilter {
  entity_id?: string;
  user_id?: string;
  order: Order;
  descending: boolean;
  limit: number;
  offset: number;
}

/** A page of the list, the number of all reviews that match, and for an entity the average of its ratings. */
export interface ReviewList {
  count: number;
  reviews: AuthoredReview[];
  average_rating?: AverageRating;
}

/** `rating` has one decimal; it is null when `count`, the number of ratings, is 0. */
export interface AverageRating {
  rating: number | null;
  count: number;
}

/** What is known of a list before any entry is read. */
interface Overview {
  count: number;
  /** The share of the entries in `partitions` that match. */
  density: number;
  partitions: readonly Partition[];
  average_rating?: AverageRating;
}

/** Up to this offset an unfiltered page is read beside its count; beyond it the count is looked at first. */
const aheadLimit = 1000;

/** One page of the reviews that match. */
export async function listReviews(query: ReviewQuery): Promise<ReviewList> {
  const { entity_id, user_id, limit, offset } = query;
  if (entity_id !== undefined && user_id !== undefined) {
    return listReviewOf(user_id, entity_id, query);
  }
  const partition = onlyPartition(query);
  const isAhead = partition && isUnfiltered(query) && limit > 0 && offset <= aheadLimit;
  const [overview, ahead] = await Promise.all([
    readOverview(query, partition),
    isAhead && readPage(query, { partitions: [partition], density: 1 }),
  ]);
  const { count, average_rating } = overview;
  const entries = ahead || (limit > 0 && offset < count ? await readPage(query, overview) : []);
  const reviews = await findReviews(entries.map(toReference));
  return { count, reviews: reviews.filter(({ review }) => isPublic(review)), average_rating };
}

/** The list of one user's review of one entity: the claim leads to it. */
async function listReviewOf(
  user_id: string,
  entity_id: string,
  query: ReviewQuery,
): Promise<ReviewList> {
  const items = await batchGet([claimKey(user_id, entity_id), entityKey(entity_id)]);
  const claim = items.get(keyString(claimKey(user_id, entity_id)));
  const found = claim ? await findReviews([{ review_id: String(claim.review_id), user_id }]) : [];
  const reviews = found.filter(
    ({ review }) => isPublic(review) && matches(query, facetOf(review), kindOf(review)),
  );
  return {
    count: reviews.length,
    reviews: reviews.slice(query.offset, query.offset + query.limit),
    average_rating: averageRating(items.get(keyString(entityKey(entity_id)))),
  };
}

/** The partition that holds the whole list, unless the list is spread over those of its types and languages. */
function onlyPartition(query: ReviewQuery): Partition | undefined {
  if (query.entity_id !== undefined) return { scope: 'entity', value: query.entity_id };
  if (query.user_id !== undefined) return { scope: 'author', value: query.user_id };
  if (query.entity_type ?? query.language) return undefined;
  return { scope: 'all', value: 'REVIEW' };
}

function isUnfiltered({ entity_type, language, review_type }: FacetFilter): boolean {
  return (entity_type ?? language ?? review_type) === undefined;
}

async function readOverview(query: ReviewQuery, partition?: Partition): Promise<Overview> {
  const key = ownerKey(query);
  if (!key) return overview(await readTotals(query), query, partition);
  const { Item } = await table.send(new GetCommand({ TableName, Key: key }));
  return {
    ...overview(facetCounts(Item?.deleted_at === undefined ? Item : {}), query, partition),
    ...(query.entity_id !== undefined && { average_rating: averageRating(Item) }),
  };
}

/** The item that counts the reviews of the entity or author asked for. */
function ownerKey({ entity_id, user_id }: ReviewQuery) {
  if (entity_id !== undefined) return entityKey(entity_id);
  return user_id === undefined ? undefined : userKey(user_id);
}

function overview(counts: FacetCounts, filter: FacetFilter, partition?: Partition): Overview {
  const count = countMatching(counts, filter);
  const candidates = countMatching(counts, partition ? {} : { ...filter, review_type: undefined });
  const partitions = partition
    ? [partition]
    : facetsMatching(counts, filter).map((value): Partition => ({ scope: 'facet', value }));
  return { count, density: candidates === 0 ? 1 : count / candidates, partitions };
}

function readPage(
  query: ReviewQuery,
  { partitions, density }: Pick<Overview, 'partitions' | 'density'>,
): Promise<Entry[]> {
  return readEntries(partitions, {
    order: query.order,
    descending: query.descending,
    skip: query.offset,
    take: query.limit,
    accept: ({ facet = '', kind }) => matches(query, facet, kind as Kind),
    density,
  });
}

function averageRating(entity: Record<string, unknown> = {}): AverageRating {
  const sum = Number(entity.rating_sum ?? 0);
  const count = Number(entity.rating_count ?? 0);
  return { rating: count === 0 ? null : Math.round((sum / count) * 10) / 10, count };
}

function toReference({ pk, user_id = '' }: Entry): { review_id: string; user_id: string } {
  return { review_id: pk.slice('REVIEW#'.length), user_id };
}
