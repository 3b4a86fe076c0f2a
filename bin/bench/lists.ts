import { readFacetTotals } from '../../shared/list/totals.ts';
import { countMatching, type FacetFilter } from '../../shared/review/counts.ts';
import { userKey } from '../../shared/table/keys.ts';
import { scanItems } from '../../shared/table/query.ts';
import { type Cost, measure } from './measure.ts';
import { type Budget, type Line, median, type Run, toLine } from './table.ts';

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
  onLine: (line: Line, share: number) => void,
): Promise<Line[]> {
  const lines: Line[] = [];
  const units = await unitsOfAuthors();
  const plans: { listed: Listed; offsets: number[] }[] = [];
  for (const listed of lists) {
    const { count } = await countOf(listed);
    const offsets = [...pageOffsets, count - 60].filter((at) => at >= 0 && at < count);
    plans.push({ listed, offsets });
  }
  // Of each list in each order also a line with a cursor; and two of the users.
  const total = plans.reduce((sum, { offsets }) => sum + sorts.length * (offsets.length + 1), 2);
  const add = (line: Line) => {
    lines.push(line);
    onLine(line, lines.length / total);
    return line;
  };
  for (const { listed, offsets } of plans) {
    for (const sort of sorts) {
      const near = new Map<number, Line>();
      for (const offset of offsets) {
        const name = `${listed.name} ${sort} @${offset}`;
        const query = { ...listed.query, sort, offset: `${offset}` };
        const budget = (cost: Cost) => budgetOf(listed, sort, units, cost);
        near.set(offset, add(await lineOf(name, runs, 'list-reviews', query, budget)));
      }
      add(await cursorLine(listed, sort, runs, units));
      const [start, far] = [near.get(0), near.get(100_000)];
      if (listed.partitions === 1 && start && far) {
        if (far.read > 1.3 * start.read) far.broken.push('units are over 1.3 × those at offset 0');
      }
    }
  }
  const { body } = await measure('list-users', { query: { limit: '0' } });
  for (const offset of [0, body.count - 60].filter((at) => at >= 0)) {
    const budget = ({ body }: Cost): Budget => ({
      read: 0.5 * body.users.length + 3 + 12,
      roundTrips: 6,
    });
    add(await lineOf(`users @${offset}`, runs, 'list-users', { offset: `${offset}` }, budget));
  }
  return lines;
}

/**
 * Pages from one end of the list to the other. Gives those whose units are more than 15 % off the
 * median.
 */
export async function checkFlatness(): Promise<string[]> {
  const broken: string[] = [];
  for (const sort of sorts) {
    const { count } = await countOf({ query: {} });
    const reads = new Map<number, number>();
    for (const offset of evenOffsets.filter((at) => at + 50 <= count)) {
      const { read } = await measure('list-reviews', { query: { sort, offset: `${offset}` } });
      reads.set(offset, read);
    }
    const middle = median([...reads.values()]);
    for (const [offset, read] of reads) {
      if (Math.abs(read / middle - 1) <= 0.15) continue;
      broken.push(`all ${sort} @${offset}: read ${read}, not ${middle}`);
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
  const reviews = await sample();
  return {
    entity_id: mostFrequent(reviews.map(({ entity_id }) => entity_id)),
    user_id: mostFrequent(reviews.map(({ user }) => user.id)),
  };
}

/** Reviews of pages from all over the list. */
export async function sample(): Promise<Shown[]> {
  const { count } = await countOf({ query: {} });
  const offsets = Array.from({ length: 20 }, (_, i) => Math.floor((i * count) / 20));
  const pages = await Promise.all(
    offsets.map((offset) => measure('list-reviews', { query: { offset: `${offset}` } })),
  );
  return pages.flatMap(({ body }) => body.reviews);
}

/** A review as a list shows it. */
interface Shown {
  id: string;
  entity_id: string;
  entity_type: string;
  user: { id: string };
}

async function countOf({ query }: Pick<Listed, 'query'>): Promise<{ count: number }> {
  const { body } = await measure('list-reviews', { query: { ...query, limit: '0' } });
  return body;
}

/** The third page of a walk. */
async function cursorLine(
  listed: Listed,
  sort: (typeof sorts)[number],
  runs: number,
  units: Units,
): Promise<Line> {
  let query: Record<string, string> = { ...listed.query, sort };
  for (let page = 1; page <= 2; page++) {
    const { body } = await measure('list-reviews', { query });
    if (body.next) query = { ...listed.query, sort, cursor: body.next };
  }
  const name = `${listed.name} ${sort} by cursor`;
  const budget = (cost: Cost) => budgetOf(listed, sort, units, cost);
  return lineOf(name, runs, 'list-reviews', query, budget);
}

async function lineOf(
  name: string,
  runs: number,
  operation: string,
  query: Record<string, string>,
  budget: (cost: Cost) => Budget,
): Promise<Line> {
  const taken: Run[] = [];
  for (let run = 0; run < runs; run++) {
    const cost = await measure(operation, { query });
    // A refusal has no reviews to budget for.
    taken.push({ cost, budget: cost.status === 200 ? budget(cost) : {} });
  }
  return toLine(name, taken);
}

/** Read units of authors whose items are over 4 KB, as they have written in many languages of many types. */
type Units = ReadonlyMap<string, number>;

async function unitsOfAuthors(): Promise<Units> {
  const units = new Map<string, number>();
  const users = {
    FilterExpression: 'sk = :sk',
    ExpressionAttributeValues: { ':sk': userKey('').sk },
  };
  for await (const { items } of scanItems(users)) {
    for (const item of items) {
      // A number takes a byte for two digits and one more.
      const bytes = Object.entries(item).reduce((sum, [name, value]) => {
        return (
          sum + name.length + Buffer.byteLength(`${value}`) / (typeof value === 'string' ? 1 : 2)
        );
      }, 0);
      if (bytes > 4_000) units.set(`${item.id}`, 0.5 * Math.ceil(bytes / 4_000));
    }
  }
  return units;
}

/**
 * Half a unit for each review and author of up to 4 KB, and 3; in a descent half a unit for each level and partition, and up to 12 for its leaf; and what
 * a small offset skips, 40 entries a unit. What is merged of many partitions is descended to at every offset.
 */
function budgetOf(
  { partitions, isSifted }: Listed,
  sort: (typeof sorts)[number],
  units: Units,
  { body }: Cost,
): Budget {
  const { reviews, offset }: { reviews: { user: { id: string } }[]; offset: number } = body;
  const authors = new Set(reviews.map(({ user }) => user.id));
  const isMerged = partitions > 1;
  const isNear = offset <= 100 && !isSifted && !isMerged;
  const levels = sort === 'popularity' ? 4 : 3;
  const descent = 0.5 * partitions * levels + Math.max(12, partitions / 2);
  return {
    read:
      0.5 * reviews.length +
      [...authors].reduce((sum, id) => sum + (units.get(id) ?? 0.5), 0) +
      3 +
      (isMerged ? 0.5 * partitions : 0) +
      (isNear ? offset / 40 : descent),
    roundTrips: isNear ? 2 : 6,
  };
}

function mostFrequent(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [[first] = ['']] = [...counts].sort(([, a], [, b]) => b - a);
  return first;
}
