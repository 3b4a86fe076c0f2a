import { batchGet } from '../../shared/base/table/batch.ts';
import { isGroup } from '../../shared/core/entity/entity-type.ts';
import { userKey } from '../../shared/core/keys.ts';
import { type FacetFilter, matchesType } from '../../shared/core/review/counts.ts';
import { readCountsByLanguage } from '../../shared/core/review/review-list.ts';
import { type Cost, type CostLimits, type Line, measure, measureRun, toLine } from './measure.ts';

// Pages of lists at all offsets, with their budgets.

/** A filter as sent. `rating` is text here, and totals have no counts by rating. */
type ListQuery = Record<string, string> & Omit<FacetFilter, 'rating'>;

export interface Listed {
  name: string;
  query: ListQuery;
  /** The number of rank trees that find a page far down the list. */
  trees: number;
  /** The query alone tells the one partition that holds the list. */
  isDirect: boolean;
}

export interface ListedReview {
  id: string;
  entity_id: string;
  entity_type: string;
  user: { id: string };
}

export const sorts = ['published_on', 'popularity'] as const;
const pageOffsets = [0, 1_000, 10_000, 100_000, 1_000_000];
const evenOffsets = [10_000, 40_000, 70_000, 100_000, 130_000, 160_000, 190_000];

/** Measures pages of each review list at all offsets, then of the user list. */
export async function* benchLists(lists: readonly Listed[]): AsyncGenerator<Line> {
  for (const listed of lists) {
    const offsets = await offsetsOf('list-reviews', listed.query, pageOffsets);
    for (const sort of sorts) {
      const query = { ...listed.query, sort };
      const line = async (place: string, position: Record<string, string>) => {
        const cost = await measure('list-reviews', { query: { ...query, ...position } });
        const name = `${listed.name} ${sort} ${place}`;
        return toLine(name, cost, await budgetOf(listed, sort, cost));
      };
      for (const offset of offsets) {
        yield line(`@${offset}`, { offset: `${offset}` });
      }
      yield line('by cursor', await thirdPage(query));
    }
  }
  for (const offset of await offsetsOf('list-users', {}, [0])) {
    const cost = await measure('list-users', { query: { offset: `${offset}` } });
    const read = 0.5 * cost.body.users.length + 3 + 12;
    yield toLine(`users @${offset}`, cost, { read, roundTrips: 6 });
  }
}

/** Returns the offsets that the list has, and an offset near its end. */
async function offsetsOf(operation: string, query: ListQuery, offsets: readonly number[]) {
  const { body } = await measure(operation, { query: { ...query, limit: '0' } });
  return [...offsets, body.count - 60].filter((offset) => offset >= 0 && offset < body.count);
}

async function thirdPage(query: Record<string, string>): Promise<Record<string, string>> {
  let position = {};
  for (let page = 1; page <= 2; page++) {
    const { body } = await measure('list-reviews', { query: { ...query, ...position } });
    if (body.next) position = { cursor: body.next };
  }
  return position;
}

/** Returns a sentence for each page whose read units differ by over 15 % from the median. */
export async function checkFlatness(): Promise<string[]> {
  const broken: string[] = [];
  for (const sort of sorts) {
    const reads = new Map<number, number>();
    for (const offset of await offsetsOf('list-reviews', {}, evenOffsets)) {
      const { read } = await measure('list-reviews', { query: { sort, offset: `${offset}` } });
      reads.set(offset, read);
    }
    const middle = [...reads.values()].sort((a, b) => a - b)[Math.floor(reads.size / 2)] ?? 0;
    for (const [offset, read] of reads) {
      if (Math.abs(read / middle - 1) > 0.15) {
        broken.push(`all ${sort} @${offset}: read ${read}, not ${middle}`);
      }
    }
  }
  return broken;
}

/** Returns lists of every kind: whole, filtered, of the busiest entity and the busiest author. */
export async function someLists(): Promise<Listed[]> {
  const counts = await readCountsByLanguage();
  const { entity_id, user_id } = await busiest();
  const lists: [string, ListQuery][] = [
    ['all', {}],
    ['rating', { review_type: 'rating' }],
    ['en', { language: 'en' }],
    ['pt', { language: 'pt' }],
    ['work', { entity_type: 'work' }],
    ['work en', { entity_type: 'work', language: 'en' }],
    ['musicdb', { entity_type: 'musicdb' }],
    ['bookdb review', { entity_type: 'bookdb', review_type: 'review' }],
    ['entity', { entity_id }],
    ['entity en', { entity_id, language: 'en' }],
    ['entity ★', { entity_id, rating: '1' }],
    ['entity en ★★★★', { entity_id, language: 'en', rating: '4,5', review_type: 'review' }],
    ['author', { user_id }],
    ['author work', { user_id, entity_type: 'work' }],
    ['author ★', { user_id, rating: '1' }],
  ];
  return lists.flatMap(([name, query]) => {
    const { rating, language } = query;
    const types = [...counts].filter(
      ([type, { languages }]) =>
        matchesType(query, type) && (language === undefined || languages.has(language)),
    ).length;
    const { entity_type } = query;
    const isByFacet = (entity_type ?? language ?? rating) !== undefined;
    const isOwned = (query.entity_id ?? query.user_id) !== undefined;
    const isOfType = entity_type !== undefined && !isGroup(entity_type);
    const isDirect = !isByFacet || (isOfType && !isOwned);
    // An entity or author has a tree of all its reviews beside those of each type and facet.
    const trees = isOwned ? Number(isByFacet) * types + 1 : types;
    return types > 0 ? [{ name, query, trees, isDirect }] : [];
  });
}

/** Finds the entity and the author with most of the reviews of 20 pages spread over the list. */
export async function busiest() {
  const { body } = await measure('list-reviews', { query: { limit: '0' } });
  const pages = Array.from({ length: 20 }, (_, i) => {
    const offset = `${Math.floor((i * body.count) / 20)}`;
    return measure('list-reviews', { query: { offset } });
  });
  const reviews = (await Promise.all(pages)).flatMap<ListedReview>((page) => page.body.reviews);
  return {
    entity_id: mostFrequent(reviews.map((review) => review.entity_id)),
    user_id: mostFrequent(reviews.map(({ user }) => user.id)),
  };
}

/** Most that a page of any list costs. */
const most = 120;

/**
 * Returns the budget of a page. Each review costs 0.5 read units, the authors cost their batch, and
 * 3 are free. A descent adds 0.5 for each level and tree, and up to 12 for its leaf. A filter of an
 * entity or author may read two leaves at once instead. A small offset adds 1 for 40 skipped
 * entries. With a content, the roots of the trees tell the count.
 */
async function budgetOf(
  { query, trees, isDirect }: Listed,
  sort: (typeof sorts)[number],
  { body }: Cost,
): Promise<CostLimits> {
  const { reviews = [], offset = 0 }: { reviews?: ListedReview[]; offset?: number } = body;
  const ids = [...new Set(reviews.map(({ user }) => user.id))];
  const authors = await measureRun(() => batchGet(ids.map(userKey), { consistent: false }));
  const isNear = offset <= 100 && isDirect;
  const levels = sort === 'popularity' ? 4 : 3;
  const isCounted = query.review_type !== undefined;
  const near = offset / 40 + (isCounted ? 0.5 * trees : 0);
  const isSifted = trees > 1 && (query.entity_id ?? query.user_id) !== undefined;
  const position = isNear ? near : 0.5 * trees * levels + (isSifted ? 24 : 12);
  const read = 0.5 * reviews.length + authors.read + 3 + position;
  return { read: Math.min(read, most), roundTrips: isNear ? 2 : 6 };
}

function mostFrequent(values: readonly string[]): string {
  const groups = [...Map.groupBy(values, (value) => value).values()];
  return groups.sort((a, b) => b.length - a.length)[0]?.[0] ?? '';
}
