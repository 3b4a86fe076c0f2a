import { consumers } from '../../shared/base/background/consumers.ts';
import { datePath, entriesPerHalfUnit, isUpper } from '../../shared/base/list/rank-tree.ts';
import { type Amounts, changesOf } from '../../shared/base/table/amounts.ts';
import {
  type Contribution,
  contribution,
  count,
} from '../../shared/core/aggregates/contribution.ts';
import { billBehindCdn, billOf, busiest, community, costs, perSecond, prices } from './costs.ts';
import {
  dailyPartition,
  type Event,
  largestType,
  unitsInIndexes,
  unitsInLane,
  unitsInThings,
} from './partitions.ts';

// How far the service carries: write units by partition key, from the keys and counters of the code
// itself. Six of ten reviews are of one type, seven of ten in one language. Reviews are up to three
// years old.

/** Units of a node in a transaction, billed twice. A node that many share has 2 KB, others 1 KB. */
const unitsOfNode = { upper: 4, lower: 2 };

/** Units a second that DynamoDB lets one partition key write and read. */
const partitionUnits = { write: 1_000, read: 3_000 };

/** Shards of the stream of a new table. */
export const shards = 4;

const year = 365 * 86_400_000;
const today = Date.UTC(2026, 10, 24);

/** Returns numbers from 0 to 1 by a linear congruential generator, the same in each run. */
function chances(): () => number {
  let state = 7919;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** Returns a review as it is counted, published at `time` (epoch ms). */
function counted(chance: () => number, time: number, popularity: number): Contribution {
  const type = chance() < largestType ? 'release_group' : 'recording';
  const language = chance() < 0.7 ? 'en' : 'de';
  return {
    ...contribution({ pk: 'REVIEW#', version: 1 }),
    counted: `${type}|${language}|both4`,
    time,
    popularity,
  };
}

/** Yields batches of votes or publications as changes of what is counted. */
function* batchesOf(what: Event, size: number): Generator<[Contribution?, Contribution?][]> {
  const chance = chances();
  for (let round = 0; round < Math.ceil(1_000 / size); round++) {
    yield Array.from({ length: size }, () => {
      if (what === 'publications') {
        return [undefined, counted(chance, today + round * 5_000 + chance() * 5_000, 0)];
      }
      // Most reviews have few votes.
      const popularity = Math.floor(-Math.log(1 - chance()) * 3);
      const before = counted(chance, today - chance() * 3 * year, popularity);
      return [before, { ...before, popularity: popularity + 1 }];
    });
  }
}

/**
 * Returns the write units of totals and of nodes of rank trees for an event, by partition key, if
 * the consumer gets batches of this size. A batch writes each item once.
 */
function unitsByKey(what: Event, size: number): ReadonlyMap<string, number> {
  const name = `${what} ${size}`;
  const units = memory.get(name) ?? computeUnits(what, size);
  memory.set(name, units);
  return units;
}

const memory = new Map<string, ReadonlyMap<string, number>>();

function computeUnits(what: Event, size: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  let events = 0;
  for (const changes of batchesOf(what, size)) {
    const amounts: Amounts = new Map();
    for (const [before, after] of changes) {
      if (before) count(amounts, before, -1);
      if (after) count(amounts, after, 1);
    }
    for (const { key } of changesOf(amounts)) {
      sums.set(key.pk, (sums.get(key.pk) ?? 0) + unitsOfNode[isUpper(key) ? 'upper' : 'lower']);
    }
    events += size;
  }
  return new Map([...sums].map(([pk, units]) => [pk, units / events]));
}

/** Returns the write units of the trees and totals of all reviews for each event of a batch. */
function unitsEach(what: Event, size: number): number {
  return [...unitsByKey(what, size).values()].reduce((sum, units) => sum + units, 0);
}

/** Returns the events a second at which the busiest partition key of totals and trees is full. */
function fullAt(what: Event, size: number): number {
  return partitionUnits.write / Math.max(...unitsByKey(what, size).values());
}

/** Returns the mean size of a shard's batches at so many events a second, in two digits. */
export function batchAt(rate: number, window: number): number {
  const [{ batchSize }] = consumers as [(typeof consumers)[number]];
  const size = Math.min(batchSize, Math.max(1, (rate * window) / shards));
  return Math.round(Number(size.toPrecision(2)));
}

/** A load of the community from which on something saturates, in the busiest second of a month. */
interface Wall {
  load: number;
  what: string;
  see: string;
  moves: string;
}

/** Units a second: of a new table, and the quota of a table and of each index. */
const tableUnits = { new: { read: 12_000, write: 4_000 }, quota: { read: 40_000, write: 40_000 } };

/** Requests a second to each route, by default: infra/aws/options.ts. */
const rateLimit = 500;

/** Functions at a time, as an established account may run. */
const concurrency = 1_000;

/** Votes a second that the consumer takes from four shards: simulated, internals.md. */
const votesInStream = 1_100;

/** Messages a minute to a receiver that answers after 150 ms, measured on 22 November 2026. */
const messagesInMinute = 376;

/** Counters that the daily job deletes: daily-limit.ts. */
const countersInRun = 1_000_000;

/** Things of which a minute follows the 1st, 10th or 100th review: keep-things.ts. */
const risenInMinute = 500;

/** Votes of a voter on a day, assumed. An author publishes one review. */
const votesOfVoter = 3;

const reads = ['a review', 'a list of 10', 'a list of 50'] as const;

/** Returns the sum of a part of each read, for a second of one load. */
function ofReads(part: (name: (typeof reads)[number]) => number): number {
  return reads.reduce((sum, name) => sum + perSecond(name) * part(name), 0);
}

/** Returns the units a second of the table itself, at so many loads. */
function tableUnitsAt(load: number, window: number): { read: number; write: number } {
  const writes = (name: 'a vote' | 'a new review', what: Event) => {
    const rate = perSecond(name) * load;
    const inIndexes = [...unitsInIndexes(what).values()].reduce((sum, units) => sum + units, 0);
    const saved = unitsEach(what, 1) - unitsEach(what, batchAt(rate, window));
    return rate * (costs[name].write - inIndexes - saved);
  };
  return {
    read: load * (ofReads((name) => costs[name].read) + perSecond('a vote') * costs['a vote'].read),
    write: writes('a vote', 'votes') + writes('a new review', 'publications'),
  };
}

/** Returns the load from which on a condition holds, within a hundredth. Infinity beyond 1,000. */
function loadUntil(isFull: (load: number) => boolean): number {
  let load = 1;
  while (!isFull(load)) {
    if (load > 1_000) return Number.POSITIVE_INFINITY;
    load *= 1.5;
  }
  let below = load / 1.5;
  while (load / below > 1.01) {
    const middle = (below + load) / 2;
    if (isFull(middle)) load = middle;
    else below = middle;
  }
  return load;
}

/** Returns what saturates up to 1,000 loads, the first first. */
export function walls(window = 5): Wall[] {
  const perVote = unitsInIndexes('votes');
  const perReview = unitsInIndexes('publications');
  /** Of an index partition: a vote moves entries, and a publication adds them. */
  const indexed = (partition: string) =>
    partitionUnits.write /
    (perSecond('a vote') * (perVote.get(partition) ?? 0) +
      perSecond('a new review') * (perReview.get(partition) ?? 0));
  const things = unitsInThings();
  const lists = perSecond('a list of 10') + perSecond('a list of 50');
  // 51 entries of 190 bytes, eventually consistent.
  const page = Math.ceil(51 / entriesPerHalfUnit) / 2;
  const units = (of: keyof typeof tableUnits, kind: 'read' | 'write') =>
    loadUntil((load) => tableUnitsAt(load, window)[kind] > tableUnits[of][kind]);
  const executions = ofReads((name) => costs[name].milliseconds[0] / 1_000);
  const whole = (number: number) => number.toLocaleString('en');
  const found: Wall[] = [
    {
      load: rateLimit / perSecond('a review'),
      what: `${rateLimit} requests a second to the route of a review`,
      see: '429',
      moves: '`rateLimit`',
    },
    ...(['write', 'read'] as const).flatMap((kind): Wall[] => [
      {
        load: units('new', kind),
        what: `${whole(tableUnits.new[kind])} ${kind} units of a new table`,
        see: '503 while the table grows, for minutes',
        moves: '`warmUnits`',
      },
      {
        load: units('quota', kind),
        what: `${whole(tableUnits.quota[kind])} ${kind} units, the quota of a table`,
        see: '503',
        moves: 'the quota',
      },
    ]),
    {
      load: messagesInMinute / 60 / perSecond('a new review'),
      what: `${messagesInMinute} messages a minute to a receiver of 150 ms`,
      see: 'its messages are late',
      moves: 'a quicker receiver',
    },
    {
      load: risenInMinute / 60 / perSecond('a new review'),
      what: `${risenInMinute} things a minute with a 1st, 10th or 100th review`,
      see: 'searches and the list by rating lag',
      moves: 'nothing',
    },
    {
      load: countersInRun / ((community['a vote'] * 1e6) / 30 / votesOfVoter),
      what: 'ten minutes of the nightly job',
      see: 'nothing: time to live deletes the rest',
      moves: 'nothing',
    },
    {
      load: indexed('all-by-popularity REVIEW'),
      what: '1,000 units of moves in `all-by-popularity`',
      see: '503 until DynamoDB splits the partition, for minutes',
      moves: 'nothing',
    },
    {
      load: indexed('all-by-date REVIEW'),
      what: '1,000 publications a second in `all-by-date`',
      see: '503',
      moves: 'nothing',
    },
    {
      load: partitionUnits.write / (perSecond('a vote') / votesOfVoter + perSecond('a new review')),
      what: `1,000 first votes of a day in \`${dailyPartition}\``,
      see: '503 until DynamoDB splits the partition, for minutes',
      moves: 'nothing',
    },
    {
      load: partitionUnits.write / (perSecond('a new review') * Math.max(...things.values())),
      what: '1,000 units of moves in `THINGS#reviews#release_group`',
      see: 'counts and far pages lag until DynamoDB splits the partition, for minutes',
      moves: 'nothing',
    },
    {
      load: loadUntil((load) => {
        const rate = (perSecond('a vote') + perSecond('a new review')) * load;
        return rate * unitsInLane(batchAt(rate, window)) > partitionUnits.write;
      }),
      what: '1,000 units of a lane of the change log',
      see: 'counts and far pages lag',
      moves: '`batchWindow`',
    },
    {
      load: partitionUnits.read / (lists * page),
      what: `${whole(partitionUnits.read / page)} first pages of all reviews a second`,
      see: '503',
      moves: '`cdn`',
    },
    {
      load: votesInStream / perSecond('a vote'),
      what: `${whole(votesInStream)} votes a second in four shards`,
      see: 'counts and far pages lag',
      moves: '`batchWindow`, `ParallelizationFactor`',
    },
    {
      load: concurrency / executions,
      what: `${whole(concurrency)} functions at a time`,
      see: 'failures of every route',
      moves: 'the quota',
    },
    ...(['votes', 'publications'] as const).map((what): Wall => {
      const name = what === 'votes' ? 'a vote' : 'a new review';
      const isFull = (load: number) => {
        const rate = perSecond(name) * load;
        return rate > fullAt(what, batchAt(rate, window));
      };
      return {
        load: loadUntil(isFull),
        what: `1,000 units of a node of rank trees, by ${what}`,
        see: 'counts and far pages lag',
        moves: '`batchWindow`',
      };
    }),
  ];
  return found.filter(({ load }) => load <= 1_000).toSorted((a, b) => a.load - b.load);
}

const cells = (...some: readonly (string | number)[]) => `| ${some.join(' | ')} |`;
const rounded = (number: number) =>
  number < 10 ? number.toFixed(1) : Math.round(number).toLocaleString('en');

/** Returns the rows of the page's table of loads. */
export function rowsOfLoads(): string[] {
  const rates = [perSecond('a vote'), perSecond('a new review'), ofReads(() => 1)];
  return [1, 10, 100, 1_000].map((load) =>
    cells(`${load.toLocaleString('en')}×`, ...rates.map((rate) => rounded(rate * load))),
  );
}

/** Returns the rows of the page's table of what saturates. */
export function rowsOfWalls(): string[] {
  return walls().map(({ load, what, see, moves }) => {
    const within = [10, 100, 1_000].find((most) => load <= most) as number;
    return cells(`${within.toLocaleString('en')}×`, `${rounded(load)}×`, what, see, moves);
  });
}

/** Returns the rows of the page's table of partition keys. */
export function rowsOfKeys(): string[] {
  const block = datePath(today)[0];
  const root = 'TREE#all|release_group';
  const keys: [Event, string][] = [
    ['votes', root],
    ['votes', `${root}#1`],
    ['publications', root],
    ['publications', `${root}#${block}`],
    ['publications', 'TOTALS'],
  ];
  return keys.map(([what, pk]) => {
    const rates = [1, 5, 95, 920].map((size) => {
      const units = unitsByKey(what, size).get(pk) ?? 0;
      return Math.round(partitionUnits.write / units).toLocaleString('en');
    });
    return cells(`${what} in \`${pk.replaceAll('|', '\\|')}\``, ...rates);
  });
}

/** Bytes in the table and its indexes. A review has 1,500 characters, and a thing of its own. */
export const stored = { 'a new review': 5_500, 'a vote': 780 };

/** People of the user pool that cost nothing in a month. */
const freePeople = 10_000;

/** Returns what a month costs beside requests, some months after the beginning. */
export function rowsOfGrowth(): string[] {
  const months = [1, 12, 36];
  const whole = (dollars: number) => `$${Math.round(dollars).toLocaleString('en')}`;
  const bytes = (['a new review', 'a vote'] as const).reduce(
    (sum, name) => sum + 1e6 * community[name] * stored[name],
    0,
  );
  const people = (community['a vote'] * 1e6) / 30 / votesOfVoter;
  const signedIn = whole((people - freePeople) * prices.person);
  return [
    cells(
      'storage with backups',
      ...months.map((month) => whole(month * (bytes / 1e9) * prices.gigabyteStored)),
    ),
    cells(
      `Cognito, ${Math.floor(people).toLocaleString('en')} people`,
      ...months.map(() => signedIn),
    ),
  ];
}

/** Dollars a month of the domain, the keys, the alarms and all that does not grow. */
const fixed = 12;

/** Milliseconds of the consumer for one change, and for each more in a batch. Assumed. */
const consumerTime = { one: 100, more: 10 };

/** Of 100 reads of a list, 90 come from CloudFront. A single review never does. */
const hitsOf = (name: keyof typeof community) => (name.startsWith('a list') ? 0.9 : 0);

/**
 * Returns what a month of the community costs, in US dollars. The consumer gets batches of
 * `window` seconds at the mean rate, from four shards.
 */
export function monthOf({ window = 0, cdn = false }: { window?: number; cdn?: boolean } = {}) {
  const sum = { dynamodb: 0, api: 0, lambda: 0, logs: 0, transfer: 0, cdn: 0, fixed };
  for (const [name, millions] of Object.entries(community)) {
    const use = costs[name as keyof typeof community];
    const { total: _, transfer, ...own } = billOf(use);
    const share = cdn ? 1 - hitsOf(name as keyof typeof community) : 1;
    for (const part of ['dynamodb', 'api', 'lambda', 'logs'] as const) {
      sum[part] += millions * share * own[part];
    }
    if (cdn) {
      const { requests, transfer: out } = billBehindCdn(use, 0);
      sum.cdn += millions * requests;
      sum.transfer += millions * out;
    } else sum.transfer += millions * transfer;
  }
  for (const [name, what] of [
    ['a vote', 'votes'],
    ['a new review', 'publications'],
  ] as const) {
    const batch = batchAt(perSecond(name) / busiest, window);
    const units = unitsEach(what, 1) - unitsEach(what, batch);
    const { one, more } = consumerTime;
    const seconds = (one - (one + more * (batch - 1)) / batch) / 1_000;
    const calls = 1 - 1 / batch;
    sum.dynamodb -= 1e6 * community[name] * units * prices.writeUnits;
    sum.lambda -=
      1e6 * community[name] * (calls * prices.lambdaCall + seconds * prices.lambdaSecond);
  }
  return { ...sum, whole: Object.values(sum).reduce((all, each) => all + each, 0) };
}

/**
 * Returns the share of reads of single reviews that CloudFront could answer, if it kept each for
 * some seconds in one region, and the reads went to a million reviews by Zipf's law.
 */
export function hitsOfReviews(seconds: number): number {
  const rate = perSecond('a review') / busiest;
  const weights = Array.from({ length: 1e6 }, (_, i) => 1 / (i + 1));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.reduce((sum, weight) => {
    const asked = (rate * seconds * weight) / all;
    return sum + ((weight / all) * asked) / (1 + asked);
  }, 0);
}

/** Returns the rows of the page's table of what a month costs. */
export function rowsOfMonth(): string[] {
  const deployments: [string, Parameters<typeof monthOf>[0]][] = [
    ['one change a batch', {}],
    ['5 seconds', { window: 5 }],
    ['20 seconds', { window: 20 }],
    ['60 seconds', { window: 60 }],
    ['60 seconds, with `cdn`', { window: 60, cdn: true }],
  ];
  return deployments.map(([name, options]) => {
    const { whole, ...parts } = monthOf(options);
    const dollars = Object.values(parts).map((part) => `$${Math.round(part)}`);
    return cells(name, ...dollars, `**$${Math.round(whole).toLocaleString('en')}**`);
  });
}
