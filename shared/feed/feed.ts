import { serviceUnavailable } from '../errors.ts';
import { batchGet, type Item, keyString } from '../table/batch.ts';
import { appliedKey, rebuildKey } from '../table/keys.ts';
import { limits } from '../table/read-entries.ts';
import { add, retryStale, transact, type Write } from '../table/transact.ts';
import { countIn, type Slot } from './calendar.ts';
import {
  type Amounts,
  appliedItem,
  type Contribution,
  count,
  ownerKey,
  readApplied,
  slotOfEntry,
} from './contribution.ts';

/** Of each contribution there are up to five items to read, and a batch takes 100 keys. */
const readSize = 20;

/** Actions of a transaction. */
const maxActions = 100;

/** What may have grown long, see large-lists.ts: the items of entities and authors, and slots. */
export interface Touched {
  owners: Item[];
  slots: Slot[];
}

/**
 * Brings totals and calendars up to these contributions. What has been applied of each item is remembered beside it, in the same
 * transaction, so that a contribution that comes twice, late or out of order changes nothing. Throws ApiError 503 while all is
 * being rebuilt.
 */
export async function applyContributions(contributions: readonly Contribution[]): Promise<Touched> {
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
  const slots = new Map<string, Slot>();
  for (let start = 0; start < sorted.length; start += readSize) {
    const touched = await applySlice(sorted.slice(start, start + readSize));
    for (const owner of touched.owners) owners.set(owner.pk, owner);
    for (const slot of touched.slots) slots.set(keyString(slot.node), slot);
  }
  return { owners: [...owners.values()], slots: [...slots.values()] };
}

async function applySlice(contributions: readonly Contribution[]): Promise<Touched> {
  return retryStale(async () => {
    const items = await readBefore(contributions);
    const owners = [...items.values()].filter(({ sk }) => sk === 'ENTITY' || sk === 'USER');
    const withCalendar = new Set(owners.filter(({ calendar }) => calendar).map(({ pk }) => pk));
    const slots: Slot[] = [];

    let pending: Change[] = [];
    let amounts: Amounts = new Map();
    for (const each of contributions) {
      const item = items.get(keyString(appliedKey(each)));
      const before = item && readApplied(item);
      const slot = slotOfEntry(each);
      const { all, isDivided } = divisionOf(slot, items);
      // Others may be at work on it: what is half full by what was read may be full by now.
      if (slot && all + contributions.length > limits.skipped / 2) slots.push(slot);
      const after = {
        ...each,
        owners: each.owners.filter((owner) => withCalendar.has(owner)),
        is_divided: isDivided,
      };
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
    return { owners, slots };
  });
}

/** What has been applied so far, the entities and authors, and the nodes that tell whether a slot is divided. */
function readBefore(contributions: readonly Contribution[]): Promise<Map<string, Item>> {
  const keys = contributions.flatMap((each) => {
    const slot = slotOfEntry(each);
    return [
      appliedKey(each),
      ...each.owners.map(ownerKey),
      ...(slot ? [slot.parent, slot.node] : []),
    ];
  });
  const distinct = new Map(keys.map((key) => [keyString(key), key]));
  return batchGet([...distinct.values()], { consistent: true });
}

/** How many entries a slot has, and whether they are, or should be, counted by the minute; all of them when it is even. */
export function divisionOf(
  slot: Slot | undefined,
  items: ReadonlyMap<string, Item>,
): { all: number; isDivided: boolean; isEven: boolean } {
  if (!slot) return { all: 0, isDivided: false, isEven: true };
  const all = countIn(items.get(keyString(slot.parent)), (child) => child === slot.child);
  const divided = countIn(items.get(keyString(slot.node)));
  const isDivided = divided > 0 || all > limits.skipped;
  return { all, isDivided, isEven: !isDivided || divided === all };
}

interface Change {
  before: Contribution | undefined;
  after: Contribution;
}

/** The same version is applied again when an owner has got a calendar since, or the slot has been divided. */
function supersedes(after: Contribution, before: Contribution): boolean {
  if (after.version !== before.version) return after.version > before.version;
  if (after.is_divided && !before.is_divided) return true;
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
      Put: { Item: appliedItem(after), ...stillApplied(before) },
    })),
    ...[...amounts.values()].flatMap(({ key, by }) => {
      const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
      return changed.length > 0 ? [{ Update: add(key, Object.fromEntries(changed)) }] : [];
    }),
  ]);
}

function stillApplied(before: Contribution | undefined) {
  if (!before) return { ConditionExpression: 'attribute_not_exists(pk)' };
  const isStillDivided = before.is_divided ? 'attribute_exists' : 'attribute_not_exists';
  return {
    ConditionExpression: `#version = :version AND owners = :owners AND ${isStillDivided}(is_divided)`,
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
