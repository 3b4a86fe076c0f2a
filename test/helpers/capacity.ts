import { type Contribution, contribution, count } from '../../shared/aggregates/contribution.ts';
import { isUpper } from '../../shared/list/rank-tree.ts';
import { type Amounts, changesOf } from '../../shared/table/amounts.ts';

// How far the service carries: the write units of votes and publications by partition, from the
// keys and counters of the code itself. Six of ten reviews are of one type, seven of ten in one
// language. Reviews have the ages of three years.

/** Units of a node in a transaction, billed twice. A node that many share has 2 KB, others 1 KB. */
const unitsOfNode = { upper: 4, lower: 2 };

/** Units a second that DynamoDB lets one partition key write. */
const partitionUnits = 1_000;

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
  const type = chance() < 0.6 ? 'release_group' : 'recording';
  const language = chance() < 0.7 ? 'en' : 'de';
  return {
    ...contribution({ pk: 'REVIEW#', version: 1 }),
    counted: `${type}|${language}|both4`,
    time,
    popularity,
  };
}

/** Returns the write units that each partition takes for a batch of votes or publications. */
function unitsOf(changes: readonly (readonly [Contribution | undefined, Contribution])[]) {
  const amounts: Amounts = new Map();
  for (const [before, after] of changes) {
    if (before) count(amounts, before, -1);
    count(amounts, after, 1);
  }
  const units = new Map<string, number>();
  for (const { key } of changesOf(amounts)) {
    units.set(key.pk, (units.get(key.pk) ?? 0) + unitsOfNode[isUpper(key) ? 'upper' : 'lower']);
  }
  return units;
}

/**
 * Returns the events a second at which each partition is full, the fullest first, if the consumer
 * gets batches of this size.
 */
export function limits(what: 'votes' | 'publications', batch: number): [string, number][] {
  const chance = chances();
  const rounds = Math.ceil(2_000 / batch);
  const sums = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const changes = Array.from({ length: batch }, () => {
      if (what === 'publications') {
        return [undefined, counted(chance, today + round * 5_000 + chance() * 5_000, 0)] as const;
      }
      // Most reviews have few votes.
      const popularity = Math.floor(-Math.log(1 - chance()) * 3);
      const before = counted(chance, today - chance() * 3 * year, popularity);
      return [before, { ...before, popularity: popularity + 1 }] as const;
    });
    for (const [pk, units] of unitsOf(changes)) sums.set(pk, (sums.get(pk) ?? 0) + units);
  }
  return [...sums]
    .map(([pk, units]): [string, number] => [pk, partitionUnits / (units / (rounds * batch))])
    .toSorted(([, a], [, b]) => a - b);
}

/** Returns the write units of the trees and totals of all reviews for each event of a batch. */
export function unitsEach(what: 'votes' | 'publications', batch: number): number {
  return limits(what, batch).reduce((sum, [, rate]) => sum + partitionUnits / rate, 0);
}
