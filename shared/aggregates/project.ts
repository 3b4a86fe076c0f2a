import { serviceUnavailable } from '../errors.ts';
import { batchGet, type Item, keyString } from '../table/batch.ts';
import { projectionKey, rebuildKey } from '../table/keys.ts';
import { add, retryStale, transact, type Write } from '../table/transact.ts';
import {
  type Amounts,
  type Contribution,
  count,
  ownerKey,
  projectionItem,
  readProjection,
} from './contribution.ts';

/** Of each contribution there are up to three items to read, and a batch takes 100 keys. */
const readSize = 33;

/** Actions of a transaction. */
const maxActions = 100;

/**
 * Brings totals and rank trees up to these contributions. What is projected of each item is remembered beside it, in the same
 * transaction, so that a contribution that comes twice, late or out of order changes nothing. Gives the items of the entities and
 * authors concerned, as they were read. Throws ApiError 503 while all is being rebuilt.
 */
export async function project(contributions: readonly Contribution[]): Promise<Item[]> {
  const latest = new Map<string, Contribution>();
  for (const each of contributions) {
    const known = latest.get(each.pk);
    if (!known || known.version < each.version) latest.set(each.pk, each);
  }
  // Neighbours share nodes, and a transaction writes each node once.
  const sorted = [...latest.values()].sort(
    (a, b) => compare(a.counted ?? '', b.counted ?? '') || a.time - b.time,
  );
  const owners = new Map<string, Item>();
  for (let start = 0; start < sorted.length; start += readSize) {
    const slice = sorted.slice(start, start + readSize);
    for (const owner of await retryStale(() => projectSlice(slice))) owners.set(owner.pk, owner);
  }
  return [...owners.values()];
}

async function projectSlice(contributions: readonly Contribution[]): Promise<Item[]> {
  const keys = contributions.flatMap((each) => [projectionKey(each), ...each.owners.map(ownerKey)]);
  const distinct = new Map(keys.map((key) => [keyString(key), key]));
  const items = await batchGet([...distinct.values()], { consistent: true });
  const owners = [...items.values()].filter(({ sk }) => sk === 'ENTITY' || sk === 'USER');
  const withTree = new Set(
    owners.filter(({ rank_tree }) => rank_tree !== undefined).map(({ pk }) => pk),
  );

  let pending: Change[] = [];
  let amounts: Amounts = new Map();
  for (const each of contributions) {
    const item = items.get(keyString(projectionKey(each)));
    const before = item && readProjection(item);
    const after = { ...each, owners: each.owners.filter((owner) => withTree.has(owner)) };
    if (before && !supersedes(after, before)) continue;
    const more = amountsOf([...pending, { before, after }]);
    if (pending.length > 0 && 2 + pending.length + more.size > maxActions) {
      await write(pending, amounts);
      pending = [];
      amounts = amountsOf([{ before, after }]);
    } else {
      amounts = more;
    }
    pending.push({ before, after });
  }
  if (pending.length > 0) await write(pending, amounts);
  return owners;
}

interface Change {
  before: Contribution | undefined;
  after: Contribution;
}

/** The same version is projected again when an owner has got a tree since. */
function supersedes(after: Contribution, before: Contribution): boolean {
  if (after.version !== before.version) return after.version > before.version;
  return after.owners.some((owner) => !before.owners.includes(owner));
}

function amountsOf(changes: readonly Change[]): Amounts {
  const amounts: Amounts = new Map();
  for (const { before, after } of changes) {
    if (before) count(amounts, before, -1);
    count(amounts, after, 1);
  }
  return amounts;
}

async function write(changes: readonly Change[], amounts: Amounts): Promise<void> {
  await transact([
    noRebuild(),
    ...changes.map(({ before, after }) => ({
      Put: { Item: projectionItem(after), ...stillProjected(before) },
    })),
    ...[...amounts.values()].flatMap(({ key, by }) => {
      const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
      return changed.length > 0 ? [{ Update: add(key, Object.fromEntries(changed)) }] : [];
    }),
  ]);
}

function stillProjected(before: Contribution | undefined) {
  if (!before) return { ConditionExpression: 'attribute_not_exists(pk)' };
  return {
    ConditionExpression: '#version = :version AND owners = :owners',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': before.version, ':owners': before.owners },
  };
}

function noRebuild(): Write {
  return {
    ConditionCheck: {
      Key: rebuildKey,
      ConditionExpression: 'attribute_not_exists(pk) OR #until < :now',
      ExpressionAttributeNames: { '#until': 'until' },
      ExpressionAttributeValues: { ':now': Math.floor(Date.now() / 1000) },
    },
    otherwise: serviceUnavailable('The totals are being rebuilt'),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
