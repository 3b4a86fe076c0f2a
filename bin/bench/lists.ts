import { handler as listReviews } from '../../functions/list-reviews.ts';
import { handler as listUsers } from '../../functions/list-users.ts';
import { readFacetTotals } from '../../shared/list/totals.ts';
import { countMatching, type FacetFilter } from '../../shared/review/counts.ts';
import { type Cost, measure, quantile } from './measure.ts';
import { type Budget, type Line, type Run, round, toLine } from './table.ts';

/** A filter as it is sent. Stars are text in it, and totals do not tell them. */
type ListQuery = Record<string, string> & Omit<FacetFilter, 'rating'>;

/** A list to page through: its filter, and into how many partitions it is spread. */
export interface Listed {
  name: string;
  query: ListQuery;
  partitions: number;
  /** Whether it is found among entries of an entity or author that do not match. */
  isSifted: boolean;
}

export const sorts = ['published_on', 'popularity'] as const;
const pageOffsets = [0, 1_000, 10_000, 100_000, 1_000_000];
const evenOffsets = [10_000, 40_000, 70_000, 100_000, 130_000, 160_000, 190_000];

/** Pages of the review list at all offsets, with filters, of a hot entity and a prolific author; then of the user list. */
export async function benchLists(
  lists: readonly Listed[],
  runs: number,
  onLine: (line: Line) => void,
  isTimed = true,
): Promise<Line[]> {
  const lines: Line[] = [];
  const add = (line: Line) => {
    lines.push(line);
    onLine(line);
    return line;
  };
  for (const listed of lists) {
    for (const sort of sorts) {
      const { count } = await countOf(listed);
      const near = new Map<number, Line>();
      for (const offset of [...pageOffsets, count - 60].filter((at) => at >= 0 && at < count)) {
        const name = `${listed.name} ${sort} @${offset}`;
        const query = { ...listed.query, sort, offset: `${offset}` };
        const budget = (cost: Cost) => budgetOf(listed, sort, cost, isTimed);
        near.set(offset, add(await lineOf(name, runs, listReviews, query, budget)));
      }
      add(await cursorLine(listed, sort, runs, isTimed));
      const [start, far] = [near.get(0), near.get(100_000)];
      if (listed.partitions === 1 && start && far) {
        if (far.read > 1.3 * start.read) far.broken.push('units are over 1.3 × those at offset 0');
        if (far.totalP50 > 2 * start.totalP50) far.broken.push('time is over 2 × that at offset 0');
      }
    }
  }
  const { body } = await measure(listUsers, { query: { limit: '0' } });
  for (const offset of [0, body.count - 60].filter((at) => at >= 0)) {
    const budget = ({ body }: Cost): Budget => ({
      read: 0.5 * body.users.length + 3 + 12,
      roundTrips: 6,
      ...own(isTimed),
    });
    add(await lineOf(`users @${offset}`, runs, listUsers, { offset: `${offset}` }, budget));
  }
  return lines;
}

/**
 * Pages from one end of the list to the other, in turn, so that what else the machine does falls on all alike: their units and their
 * times, at the median, may differ by 15 %. Gives what does not keep to it.
 */
export async function checkFlatness(runs: number): Promise<string[]> {
  const broken: string[] = [];
  for (const sort of sorts) {
    const { count } = await countOf({ query: {} });
    const offsets = evenOffsets.filter((at) => at + 50 <= count);
    const costs = new Map<number, Cost[]>(offsets.map((offset) => [offset, []]));
    for (let run = 0; run < 2 * runs; run++) {
      for (const [offset, taken] of costs) {
        taken.push(await measure(listReviews, { query: { sort, offset: `${offset}` } }));
      }
    }
    for (const what of ['read', 'total'] as const) {
      const medians = [...costs.values()].map((taken) =>
        quantile(
          taken.map((cost) => cost[what]),
          0.5,
        ),
      );
      const middle = quantile(medians, 0.5);
      for (const [i, median] of medians.entries()) {
        if (Math.abs(median / middle - 1) > 0.15) {
          broken.push(`all ${sort} @${offsets[i]}: ${what} ${round(median)}, not ${round(middle)}`);
        }
      }
    }
  }
  return broken;
}

/** Lists of every kind: whole, filtered, of the hottest entity and the most prolific author. */
export async function someLists(): Promise<Listed[]> {
  const totals = await readFacetTotals();
  const inTotals = ({ rating: _, ...filter }: ListQuery) => countMatching(totals, filter);
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
    const isByFacet = (query.entity_type ?? query.language ?? query.rating) !== undefined;
    const isOwned = (query.entity_id ?? query.user_id) !== undefined;
    // Of an entity or author as many trees are read as there are facets, and one partition.
    const partitions = isByFacet ? inTotals(query).facets.size + Number(isOwned) : 1;
    const isSifted = isByFacet && isOwned;
    return inTotals(query).count > 0 ? [{ name, query, partitions, isSifted }] : [];
  });
}

/** The entity and the author that come up most in pages from all over the list. */
async function busiest(): Promise<{ entity_id: string; user_id: string }> {
  const { body: whole } = await measure(listReviews, { query: { limit: '0' } });
  const entities: string[] = [];
  const authors: string[] = [];
  for (let i = 0; i < 20; i++) {
    const offset = `${Math.floor((i * whole.count) / 20)}`;
    const { body } = await measure(listReviews, { query: { offset } });
    for (const review of body.reviews) {
      entities.push(review.entity_id);
      authors.push(review.user.id);
    }
  }
  return { entity_id: mostFrequent(entities), user_id: mostFrequent(authors) };
}

async function countOf({ query }: Pick<Listed, 'query'>): Promise<{ count: number }> {
  const { body } = await measure(listReviews, { query: { ...query, limit: '0' } });
  return body;
}

/** The third page of a walk. */
async function cursorLine(
  listed: Listed,
  sort: (typeof sorts)[number],
  runs: number,
  isTimed: boolean,
): Promise<Line> {
  let query: Record<string, string> = { ...listed.query, sort };
  for (let page = 1; page <= 2; page++) {
    const { body } = await measure(listReviews, { query });
    if (body.next) query = { ...listed.query, sort, cursor: body.next };
  }
  const name = `${listed.name} ${sort} by cursor`;
  return lineOf(name, runs, listReviews, query, (cost) => budgetOf(listed, sort, cost, isTimed));
}

/** Other work on the machine makes a line slower, and never faster: what takes too long is measured again. */
async function lineOf(
  name: string,
  runs: number,
  handler: unknown,
  query: Record<string, string>,
  budget: (cost: Cost) => Budget,
): Promise<Line> {
  for (let attempt = 1; ; attempt++) {
    const taken: Run[] = [];
    for (let run = 0; run < runs; run++) {
      const cost = await measure(handler, { query });
      taken.push({ cost, budget: budget(cost) });
    }
    const line = toLine(name, taken);
    const isSlow = line.broken.some((fault) => fault.startsWith('own'));
    if (!isSlow || attempt === 3) return line;
  }
}

/**
 * Half a unit for each review and author, and 3; in a descent half a unit for each level and partition, and up to 12 for its leaf; and what
 * a small offset skips, 40 entries a unit. What is merged of many partitions is descended to at every offset. Our own time is a
 * millisecond; a descent may take half of one more, and each partition that is merged a tenth.
 */
function budgetOf(
  { partitions, isSifted }: Listed,
  sort: (typeof sorts)[number],
  { body }: Cost,
  isTimed: boolean,
): Budget {
  const { reviews, offset }: { reviews: { user: { id: string } }[]; offset: number } = body;
  const authors = new Set(reviews.map(({ user }) => user.id)).size;
  const isMerged = partitions > 1;
  const isNear = offset <= 100 && !isSifted && !isMerged;
  const levels = sort === 'popularity' ? 4 : 3;
  const descent = 0.5 * partitions * levels + Math.max(12, partitions / 2);
  return {
    read:
      0.5 * reviews.length +
      0.5 * authors +
      3 +
      (isMerged ? 0.5 * partitions : 0) +
      (isNear ? offset / 40 : descent),
    roundTrips: isNear ? 2 : 6,
    ...(isTimed && { ownP50: (isNear ? 1 : 1.5) + (isMerged ? 0.1 * partitions : 0) }),
  };
}

function own(isTimed: boolean): Budget {
  return isTimed ? { ownP50: 1 } : {};
}

function mostFrequent(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [[first] = ['']] = [...counts].sort(([, a], [, b]) => b - a);
  return first;
}
