import { isDeepStrictEqual } from 'node:util';
import { tableDefinition } from '../../shared/base/table/definition.ts';
import type { EntityRecord } from '../../shared/core/entity/record.ts';
import { countsIn } from '../../shared/core/review/owner-counts.ts';
import { listedIn, type Review } from '../../shared/core/review/review.ts';
import { changesLanes } from '../../shared/features/changes/kinds.ts';
import { formatChanges } from '../../shared/features/changes/logged-change.ts';
import { kinds } from '../../shared/features/kinds.ts';
import { entriesOf } from '../../shared/features/things/thing.ts';

// Write units by partition key that many share, beside totals and rank trees: in indexes, in lists
// of things and in the change log. From the code that writes them.

export type Event = 'votes' | 'publications';

/** Share of reviews of the largest type. */
export const largestType = 0.6;

/** Returns the write units of an event by partition of an index. A move is two writes. */
export function unitsInIndexes(what: Event): Map<string, number> {
  const review = {
    id: '0'.repeat(36),
    entity_type: 'release_group',
    language: 'en',
    published_on: '2026-11-24',
    is_hidden: false,
    popularity: 0,
    text: 'x',
    rating: 4,
  } as Review;
  const listed: Record<string, unknown> = { ...listedIn(review) };
  const partitions = tableDefinition.indexes.flatMap(({ name, partitionKey }) => {
    const units = what === 'publications' ? 1 : name.endsWith('by-popularity') ? 2 : 0;
    const isShared = ['all', 'type', 'facet'].includes(partitionKey);
    return isShared ? [[`${name} ${listed[partitionKey]}`, units] as const] : [];
  });
  return new Map(partitions);
}

/** The index partition of daily counters. It gets an entry for the first action of a day alone. */
export const dailyPartition = `all-by-date ${kinds.dailyVotes.all}`;

/**
 * Returns the write units of a publication by list of things: of another review of a thing with a
 * name. An entry has 1 KB at most. One that moves is deleted and written.
 */
export function unitsInThings(): Map<string, number> {
  const record = {
    entity_id: '0'.repeat(36),
    entity_type: 'release_group',
    name: 'Blue',
    origin: 'database',
  } as unknown as EntityRecord;
  const entries = (reviews: number) => {
    const counts = countsIn({ release_group: reviews, EN: reviews, b4: reviews });
    return entriesOf([{ id: record.entity_id, counts, first_on: '2026-11-24', records: [record] }]);
  };
  const before = entries(20);
  const after = entries(21);
  const written = [...after].filter(([key, item]) => !isDeepStrictEqual(before.get(key), item));
  const deleted = [...before].filter(([key]) => !after.has(key));
  const units = new Map<string, number>();
  for (const [, { pk }] of [...written, ...deleted]) {
    units.set(pk, (units.get(pk) ?? 0) + largestType);
  }
  return units;
}

/** Changes in an item of the log: shared/features/changes/log.ts. */
const changesPerItem = 20;

/** Returns the write units of an event in its lane of the change log, by events in a batch. */
export function unitsInLane(size: number): number {
  const id = '0'.repeat(36);
  const change = { id, version: 1_000, kind: 'voted', entity_id: id, user_id: id } as const;
  // Eight attributes and their names take 150 bytes more.
  const kilobytes = (changes: number) =>
    (JSON.stringify(formatChanges(Array(changes).fill(change))).length + 150) / 1024;
  // A transaction bills each twice.
  const unitsOf = (changes: number) => (changes === 0 ? 0 : 2 * Math.ceil(kilobytes(changes)));
  const own = Math.max(1, Math.round(size / changesLanes));
  const whole = Math.floor(own / changesPerItem);
  return (whole * unitsOf(changesPerItem) + unitsOf(own % changesPerItem)) / (own * changesLanes);
}
