import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { readTotals } from '../feed/totals.ts';
import {
  type List,
  type Page,
  type PageRequest,
  readNearPage,
  readPage,
  unitsOf,
} from '../list/read-page.ts';
import { batchGet, keyString } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { claimKey, entityKey, type Key, userKey } from '../table/keys.ts';
import type { Entry, Partition, SortValue } from '../table/read-entries.ts';
import {
  countMatching,
  type FacetFilter,
  facetCounts,
  kinds,
  type Matching,
  matches,
} from './counts.ts';
import { typesOf } from './entity-type.ts';
import { facetOf, isPublic, type Kind, kindOf } from './review.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** What the review list is asked for (spec, endpoint 2). */
export interface ReviewQuery extends FacetFilter, PageRequest {
  entity_id?: string;
  user_id?: string;
}

/**
 * A page of the list, the number of all reviews that match, and for an entity the average of its ratings. `next` is the place
 * after which the next page begins; there is none after the last page.
 */
export interface ReviewList {
  count: number;
  reviews: AuthoredReview[];
  next?: SortValue;
  average_rating?: AverageRating;
}

/** `rating` has one decimal; it is null when `count`, the number of ratings, is 0. */
export interface AverageRating {
  rating: number | null;
  count: number;
}

/** What is known of a list before any entry is read. */
interface Overview {
  matching: Matching;
  /** Whether the list of an entity or author is long enough to have a calendar. */
  hasCalendar: boolean;
  average_rating?: AverageRating;
}

/** How far the mix of types and languages in a page may be from that of the whole list: so much more is read at once. */
const drift = 1.5;

/** One page of the reviews that match. */
export async function listReviews(query: ReviewQuery): Promise<ReviewList> {
  const { entity_id, user_id, limit, offset } = query;
  if (entity_id !== undefined && user_id !== undefined) {
    return listReviewOf(user_id, entity_id, query);
  }
  const partition = onlyPartition(query);
  const [overview, near] = await Promise.all([
    readOverview(query),
    partition && limit > 0 ? readNearPage(guess(query, partition), query, 1) : undefined,
  ]);
  const { count } = overview.matching;
  // The count follows the stream: what it does not know yet is on the first page.
  const isThere = limit > 0 && (query.after !== undefined || offset < count || offset === 0);
  // Of an author who is being erased nothing counts, though some of it is still there.
  const isGone = ownerKey(query) !== undefined && count === 0;
  let page: Page | undefined = isGone ? { entries: [] } : near;
  // What was guessed wrong is tried once more with the right numbers.
  if (!page && isThere) page = await readPage(listOf(query, overview), query, partition ? 1 : 2);
  const { entries, next } = page ?? { entries: [] };
  const reviews = await findReviews(entries.map(toReference));
  return {
    count,
    reviews: reviews.filter(({ review }) => isPublic(review)),
    next,
    average_rating: overview.average_rating,
  };
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

/** The partition that holds the list and little else, where that is known without counts. */
function onlyPartition(query: ReviewQuery): Partition | undefined {
  const { entity_type, language } = query;
  if (!isByFacet(query)) return widestPartition(query);
  if (ownerKey(query)) return undefined;
  const types = entity_type === undefined ? [] : typesOf(entity_type);
  if (types.length !== 1 || language === undefined) return undefined;
  return { scope: 'facet', value: `${types[0]}|${language}` };
}

/** The partition of the entity, the author or all. */
function widestPartition({ entity_id, user_id }: ReviewQuery): Partition {
  if (entity_id !== undefined) return { scope: 'entity', value: entity_id };
  if (user_id !== undefined) return { scope: 'author', value: user_id };
  return { scope: 'all', value: 'REVIEW' };
}

/** The list as it is read beside its counts: most reviews have a text, and most a rating. */
function guess(query: ReviewQuery, partition: Partition): List {
  return query.review_type === undefined
    ? { partitions: [partition] }
    : { partitions: [{ ...partition, density: 0.8 }], accept: acceptOf(query) };
}

async function readOverview(query: ReviewQuery): Promise<Overview> {
  const key = ownerKey(query);
  if (!key) return { matching: countMatching(await readTotals(query), query), hasCalendar: true };
  const { Item } = await table.send(new GetCommand({ TableName, Key: key }));
  return {
    matching: countMatching(facetCounts(Item?.deleted_at === undefined ? Item : {}), query),
    hasCalendar: Item?.calendar === 'ready',
    ...(query.entity_id !== undefined && { average_rating: averageRating(Item) }),
  };
}

/** The item that counts the reviews of the entity or author asked for. */
function ownerKey({ entity_id, user_id }: ReviewQuery): Key | undefined {
  if (entity_id !== undefined) return entityKey(entity_id);
  return user_id === undefined ? undefined : userKey(user_id);
}

function isByFacet({ entity_type, language }: FacetFilter): boolean {
  return (entity_type ?? language) !== undefined;
}

/** Where the entries lie, as the counts tell: see feed/contribution.ts for the lists that have calendars. */
function listOf(query: ReviewQuery, { matching, hasCalendar }: Overview): List {
  const owner = ownerKey(query);
  const list = owner?.pk ?? 'all';
  const kinds = lettersOf(query);
  const accept = acceptOf(query);
  const whole: Partition = {
    ...widestPartition(query),
    density:
      Math.max(1, matching.count) / Math.max(1, matching.all) / (isByFacet(query) ? drift : 1),
  };
  if (!isByFacet(query)) {
    return {
      partitions: [whole],
      calendars: hasCalendar ? [{ list, partition: whole, kinds }] : undefined,
      accept: query.review_type && accept,
    };
  }

  // The counts of an owner are exact; of all reviews, a facet may have got its first a moment ago.
  const counted = [...matching.facets].filter(([, { count }]) => count > 0 || !owner);
  const facets = counted.map(([facet, { count, all }]) => {
    const share = Math.min(1, (drift * count) / Math.max(1, matching.count));
    const density = Math.max(1, count) / Math.max(1, all);
    const partition: Partition = { scope: 'facet', value: facet, share, density };
    return { list: `${list}|${facet}`, partition, kinds };
  });
  // Read from among all others, which the last of these calendars counts.
  const amongAll = [
    ...facets.map((facet) => ({ ...facet, partition: whole })),
    { list, partition: whole, kinds: '' },
  ];
  if (owner) {
    return { partitions: [whole], calendars: hasCalendar ? amongAll : undefined, accept };
  }
  // Where most reviews match, to read those of all may be cheaper than to merge many partitions.
  const partitions = facets.map(({ partition }) => partition);
  const isWholeCheaper = (page: PageRequest) =>
    2 * matching.count > matching.all && unitsOf([whole], page) < unitsOf(partitions, page);
  return {
    partitions: isWholeCheaper(query) ? [whole] : partitions,
    calendars: isWholeCheaper({ ...query, offset: 0 }) ? amongAll : facets,
    accept,
  };
}

/** The first letters of the kinds that match, as calendars have them. */
function lettersOf({ review_type }: FacetFilter): string {
  const matching = kinds.filter((kind) => matches({ review_type }, '', kind));
  return matching.map((kind) => kind.charAt(0)).join('');
}

function acceptOf(query: FacetFilter): (entry: Entry) => boolean {
  // The entries of a list have few different facets and kinds.
  const known = new Map<string, boolean>();
  return ({ facet = '', kind }) => {
    const name = `${facet}|${kind}`;
    const isMatch = known.get(name) ?? matches(query, facet, kind as Kind);
    known.set(name, isMatch);
    return isMatch;
  };
}

function averageRating(entity: Record<string, unknown> = {}): AverageRating {
  const sum = Number(entity.rating_sum ?? 0);
  const count = Number(entity.rating_count ?? 0);
  return { rating: count === 0 ? null : Math.round((sum / count) * 10) / 10, count };
}

function toReference({ pk, user_id = '' }: Entry): { review_id: string; user_id: string } {
  return { review_id: pk.slice('REVIEW#'.length), user_id };
}
