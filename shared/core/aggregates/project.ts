import { chunks, fittingChunks } from '../../base/chunks.ts';
import { datePath } from '../../base/list/rank-tree.ts';
import { type Amounts, addAll, fitUpdates } from '../../base/table/amounts.ts';
import { batchGet } from '../../base/table/batch.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { maxActions, retryStale, transact } from '../../base/table/transact.ts';
import { projectionKey } from '../keys.ts';
import {
  type Contribution,
  count,
  ownerKey,
  projectionItem,
  readProjection,
} from './contribution.ts';
import { addDeferred, defer, maxDeferred, splitDeferrable } from './defer.ts';
import { unlessRebuilding } from './lock.ts';

// The consumer's part in totals and rank trees: it brings them up to date with reviews and users.

/** Contributions above which counts common to many transactions are deferred and written once. */
const busyAbove = 33;

/** Contributions to read at once. Each needs three items. */
const readSize = 330;

/**
 * Updates totals and rank trees. The same transaction stores each contribution beside its item, so
 * a repeated, late or unordered one changes nothing. Returns the entities and authors concerned, as
 * they were read. Throws ApiError 503 during a rebuild.
 */
export async function project(contributions: readonly Contribution[]): Promise<Item[]> {
  const byItem = [...Map.groupBy(contributions, ({ pk }) => pk).values()];
  const latest = byItem.map((some) => some.reduce((a, b) => (b.version > a.version ? b : a)));
  // Neighbours share nodes, and a transaction writes each node once.
  const byNeighbourhood = [...Map.groupBy(latest, neighbourhood)];
  const sorted = byNeighbourhood.sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, some]) => some);
  const isBusy = sorted.length > busyAbove;
  const owners = new Map<string, Item>();
  for (const some of chunks(sorted, readSize)) {
    await retryStale(async () => {
      const { changes, ...read } = await readChanges(some);
      for (const owner of read.owners) owners.set(owner.pk, owner);
      await write(changes, isBusy);
    });
  }
  // Includes amounts deferred by a consumer that crashed, even if its records are not repeated.
  await addDeferred();
  return [...owners.values()];
}

interface ContributionChange {
  before: Contribution | undefined;
  after: Contribution;
}

/** Reads owners and projection states. Returns the contributions that the states lack. */
async function readChanges(contributions: readonly Contribution[]) {
  const keys = contributions.flatMap((each) => [projectionKey(each), ...each.owners.map(ownerKey)]);
  const distinct = [...new Map(keys.map((key) => [keyString(key), key])).values()];
  const items = await batchGet(distinct, { consistent: true });
  const owners = [...items.values()].filter(({ sk }) => sk === 'ENTITY' || sk === 'COUNTS');
  const withTree = new Set(owners.filter(({ rank_tree }) => rank_tree).map(({ pk }) => pk));
  const changes = contributions.flatMap((each): ContributionChange[] => {
    const item = items.get(keyString(projectionKey(each)));
    const before = item && readProjection(item);
    const after = { ...each, owners: each.owners.filter((owner) => withTree.has(owner)) };
    return before && !supersedes(after, before) ? [] : [{ before, after }];
  });
  return { owners, changes };
}

/** Is true for a newer version, or for the same version if an owner has got a tree since. */
function supersedes(after: Contribution, before: Contribution): boolean {
  if (after.version !== before.version) return after.version > before.version;
  return after.owners.some((owner) => !before.owners.includes(owner));
}

/** A reader sees all counts of a change or none. A busy batch defers all but the lowest nodes. */
async function write(changes: readonly ContributionChange[], isBusy: boolean): Promise<void> {
  const amountsIn = (some: readonly ContributionChange[]) =>
    isBusy ? splitDeferrable(amountsOf(some)) : { now: amountsOf(some), later: new Map() };
  const fits = (some: readonly ContributionChange[]) => {
    const { now, later } = amountsIn(some);
    const actions = 1 + some.length + now.size + Number(later.size > 0);
    const isWithin = actions <= maxActions && later.size <= maxDeferred;
    return isWithin && fitUpdates(now) && fitUpdates(later);
  };
  for (const some of fittingChunks(changes, fits)) {
    const { now, later } = amountsIn(some);
    const updates = unlessRebuilding(addAll(now));
    await transact([...updates, ...some.map(putProjection), ...defer(later)]);
  }
}

function amountsOf(changes: readonly ContributionChange[]): Amounts {
  const amounts: Amounts = new Map();
  for (const { before, after } of changes) {
    if (before) count(amounts, before, -1);
    count(amounts, after, 1);
  }
  return amounts;
}

function putProjection({ before, after }: ContributionChange) {
  const was = before ? { version: before.version, owners: before.owners } : { pk: undefined };
  return { Put: { Item: projectionItem(after), was } };
}

/** Returns a sort key that groups contributions by the nodes they count in. */
function neighbourhood({ counted, time, popularity }: Contribution): string {
  const facet = counted?.slice(0, counted.lastIndexOf('|'));
  return [facet, datePath(time)[0], popularity].join('|');
}
