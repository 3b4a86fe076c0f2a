import { type Item, keyString, toJson } from './item.ts';
import { type Condition, keyOf, maxActions, type Update, type Write } from './write.ts';

// One transaction made of the writes of several operations, for imports.

/** Bytes of JSON. DynamoDB takes 4 MB of items in a transaction. */
const mostBytes = 3_000_000;

/**
 * Merges the writes of several operations into the actions of one transaction, one for each item.
 * Sums the amounts for an item. An item that an operation puts includes them, and meets the
 * conditions of the others. Drops every `otherwise`, because all conditions then guard what was
 * read.
 */
export function merged(writes: readonly Write[]): Write[] {
  const actions = new Map<string, Write>();
  for (const { otherwise: _, ...write } of writes) {
    const name = keyString(keyOf(write));
    const other = actions.get(name);
    actions.set(name, other ? mergePair(other, write) : write);
  }
  return [...actions.values()];
}

/** Packs lists of writes into transactions, in order. A list is never split. */
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
      together = [];
      names = new Set();
      bytes = 0;
    }
    together.push(list);
    for (const name of more) names.add(name);
    bytes += size;
  }
  if (together.length > 0) yield together;
}

/** Returns the items that the writes put. */
export function itemsIn(writes: readonly Write[]): Item[] {
  return writes.flatMap((write) => ('Put' in write ? [write.Put.Item as Item] : []));
}

/** Returns the bytes of an item as JSON. */
export function bytesIn(item: object): number {
  return Buffer.byteLength(toJson(item));
}

function mergePair(before: Write, after: Write): Write {
  const a = asUpdate(before);
  const b = asUpdate(after);
  if (b && 'Put' in before) {
    const item = before.Put.Item as Item & Amounts;
    return { Put: { ...before.Put, Item: { ...item, ...sum(item, b.amounts) } } };
  }
  if (!a || !b) {
    throw new Error(`Two operations of one transaction write ${keyString(keyOf(before))}`);
  }
  const condition = conjunction(a, b);
  const amounts = { ...a.amounts, ...sum(a.amounts, b.amounts) };
  return Object.keys(amounts).length > 0
    ? { Update: { ...a, ...b, ...condition, amounts } }
    : { ConditionCheck: { ...condition, Key: a.Key } };
}

type Amounts = NonNullable<Update['amounts']>;

/** Returns a mergeable update, if it is one. A condition check is one that adds nothing. */
function asUpdate(write: Write): (Update & { amounts: Amounts }) | undefined {
  if ('ConditionCheck' in write) return { ...write.ConditionCheck, amounts: {} };
  if (!('Update' in write) || !write.Update.amounts) return undefined;
  return { ...write.Update, amounts: write.Update.amounts };
}

function sum(item: Amounts, amounts: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, by]) => {
      const current = item[name] ?? 0;
      return [name, typeof by === 'bigint' ? BigInt(current) + by : Number(current) + by];
    }),
  );
}

/** Joins two conditions. Many operations have the same tests, of one constant. */
function conjunction(a: Condition, b: Condition): Condition {
  const where = new Set([...(a.where ?? []), ...(b.where ?? [])]);
  return { was: { ...a.was, ...b.was }, where: [...where] };
}
