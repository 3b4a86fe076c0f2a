import type { EntityType } from '../entity/entity-type.ts';
import { averageRating, facetCounts } from '../review/counts.ts';
import { type ReviewContent, starsOf } from '../review/review.ts';
import { type AuthoredReview, findListed } from '../review/review-repository.ts';
import { getItems } from '../table/batch.ts';
import type { Order } from '../table/definition.ts';
import type { Entry, Item } from '../table/item.ts';
import { entityKey, idIn } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import type { EntitySummary } from './presented.ts';

// An entity as its reviews describe it: numbers, languages, ratings and some reviews.

/** Number of reviews of each order beside a summary. */
const shown = 3;

/** Reads the summary of an entity in one round trip. */
export async function findSummary(id: string): Promise<EntitySummary> {
  return summaryOf(id, await getItem(entityKey(id), { consistent: false }));
}

/** Reads summaries of at most 25 distinct ids in their order, in one round trip. */
export async function findSummaries(ids: readonly string[]): Promise<EntitySummary[]> {
  const items = await getItems(ids.map(entityKey));
  return ids.map((id, i) => summaryOf(id, items[i]));
}

/** Reads a summary with the three latest and three most popular reviews, in two round trips. */
export async function readEntity(
  id: string,
): Promise<{ summary: EntitySummary; latest: AuthoredReview[]; popular: AuthoredReview[] }> {
  const [item, latest, popular] = await Promise.all([
    getItem(entityKey(id), { consistent: false }),
    readFirst(id, 'date'),
    readFirst(id, 'popularity'),
  ]);
  const listed = await findListed([...latest, ...popular]);
  const byId = new Map(listed.map((authored) => [authored.review.id, authored]));
  const among = (entries: readonly Entry[]) =>
    entries.flatMap((entry) => byId.get(idIn(entry)) ?? []);
  return { summary: summaryOf(id, item), latest: among(latest), popular: among(popular) };
}

function readFirst(id: string, order: Order): Promise<Entry[]> {
  const pages = queryIndex(`entity-by-${order}`, id, { descending: true, pageSize: shown });
  return collect(pages, shown);
}

/** An entity without reviews may have no item. */
function summaryOf(id: string, item?: Item): EntitySummary {
  const types = new Map<string, number>();
  const languages = new Map<string, number>();
  const stars = new Map<number, number>();
  for (const [name, number] of facetCounts(item)) {
    const [type = '', language = '', content = ''] = name.split('|');
    bump(types, type, number);
    bump(languages, language, number);
    bump(stars, starsOf(content as ReviewContent), number);
  }
  const ratings = [1, 2, 3, 4, 5].map((rating) => [rating, stars.get(rating) ?? 0]);
  return {
    id,
    entity_type: (byFrequency(types)[0]?.[0] as EntityType | undefined) ?? null,
    review_count: [...types.values()].reduce((sum, number) => sum + number, 0),
    average_rating: averageRating(item),
    ratings: Object.fromEntries(ratings),
    languages: Object.fromEntries(byFrequency(languages)),
  };
}

function bump<T>(numbers: Map<T, number>, name: T, by: number): void {
  numbers.set(name, (numbers.get(name) ?? 0) + by);
}

/** Returns counts above zero, the highest first. Equal counts are in order of name. */
function byFrequency(numbers: ReadonlyMap<string, number>): [string, number][] {
  return [...numbers]
    .filter(([, number]) => number > 0)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}
