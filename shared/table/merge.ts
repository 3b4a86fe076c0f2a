import { type Item, type Key, keyString } from './item.ts';
import { type Change, type Condition, maxActions, type Write } from './transact.ts';

/** In bytes of JSON; DynamoDB takes 4 MB of items in a transaction. */
const mostBytes = 3_000_000;

/**
 * Writes of several deeds as the actions of one transaction, one for each item. Amounts are summed;
 * they go into the item where one of the deeds puts it, and conditions on such an item are met.
 * What a condition would throw is left out: all of them guard what was read.
 */
export function merged(writes: readonly Write[]): Write[] {
  return [...mergeInto(new Map(), writes).values()];
}

/** Merges writes into others, by `keyString` of their items. */
export function mergeInto(
  others: Map<string, Write>,
  writes: readonly Write[],
): Map<string, Write> {
  for (const { otherwise: _, ...write } of writes) {
    const name = keyString(keyOf(write));
    const other = others.get(name);
    others.set(name, other ? both(other, write) : write);
  }
  return others;
}

/** Lists of writes by transaction: those of one list are not parted. */
export function* packed<T extends { writes: readonly Write[] }>(
  lists: readonly T[],
): Generator<T[]> {
  let together: T[] = [];
  let names = new Set<string>();
  let bytes = 0;
  for (const list of lists) {
    const more = list.writes.map((write) => keyString(keyOf(write)));
    const size = itemsIn(list.writes).reduce((sum, item) => sum + bytesIn(item), 0);
    const isFull = new Set([...names, ...more]).size > maxActions || bytes + size > mostBytes;
    if (together.length > 0 && isFull) {
      yield together;
      [together, names, bytes] = [[], new Set(), 0];
    }
    together.push(list);
    for (const name of more) names.add(name);
    bytes += size;
  }
  if (together.length > 0) yield together;
}

/** The items that writes put. */
export function itemsIn(writes: readonly Write[]): Item[] {
  return writes.flatMap((write) => ('Put' in write ? [write.Put.Item as Item] : []));
}

/** Of an item, as JSON. */
export function bytesIn(item: object): number {
  return Buffer.byteLength(
    JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  );
}

/** The key of the item that a write is about. */
export function keyOf(write: Write): Key {
  if ('Put' in write) return write.Put.Item as Item;
  if ('Update' in write) return write.Update.Key;
  return 'Delete' in write ? write.Delete.Key : write.ConditionCheck.Key;
}

function both(before: Write, after: Write): Write {
  const [a, b] = [touchOf(before), touchOf(after)];
  if (b && 'Put' in before) {
    const item = before.Put.Item as Item & Amounts;
    return { Put: { ...before.Put, Item: { ...item, ...sum(item, b.amounts) } } };
  }
  if (!a || !b) throw new Error(`Two deeds of one transaction write ${keyString(keyOf(before))}`);
  const condition = conjunction(a, b);
  const amounts = { ...a.amounts, ...sum(a.amounts, b.amounts) };
  return Object.keys(amounts).length > 0
    ? { Update: { ...a, ...b, ...condition, amounts } }
    : { ConditionCheck: { ...condition, Key: a.Key } };
}

type Amounts = NonNullable<Change['amounts']>;

/** A check is an addition of nothing. */
function touchOf(write: Write): (Change & { amounts: Amounts }) | undefined {
  if ('ConditionCheck' in write) return { ...write.ConditionCheck, amounts: {} };
  if (!('Update' in write) || !write.Update.amounts) return undefined;
  return { ...write.Update, amounts: write.Update.amounts };
}

/** Of the amounts, what they come to with what an item has. */
function sum(item: Amounts, amounts: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, by]) => {
      const so = item[name] ?? 0;
      return [name, typeof by === 'bigint' ? BigInt(so) + by : Number(so) + by];
    }),
  );
}

/** Both conditions: what deeds of one kind name in them has the same names. */
function conjunction(a: Condition, b: Condition): Condition {
  const all = [a, b].flatMap(({ ConditionExpression }) => ConditionExpression ?? []);
  return {
    was: { ...a.was, ...b.was },
    ...(all.length > 0 && { ConditionExpression: [...new Set(all)].join(' AND ') }),
    ExpressionAttributeNames: { ...a.ExpressionAttributeNames, ...b.ExpressionAttributeNames },
    ExpressionAttributeValues: { ...a.ExpressionAttributeValues, ...b.ExpressionAttributeValues },
  };
}
