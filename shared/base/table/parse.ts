import * as v from 'valibot';
import { type Item, type Key, keyString } from './item.ts';
import { getItem } from './query.ts';
import type { ReadOptions } from './storage.ts';

/** Keys that this process has logged. After these, it logs no others. */
const logged = new Set<string>();
const mostLogged = 1000;

/**
 * Parses the items of a list that exist. An item that this code cannot read was written by newer
 * code: it is left out, and logged once. `findItem` reads an item that is asked for alone.
 */
export function parseItems<T extends v.GenericSchema>(
  schema: T,
  items: Iterable<Item | undefined>,
): v.InferOutput<T>[] {
  return [...items].flatMap((item) => parseItem(schema, item) ?? []);
}

/** Parses an item of a list, as `parseItems` does. Returns undefined if it is left out. */
export function parseItem<T extends v.GenericSchema>(
  schema: T,
  item: Item | undefined,
): v.InferOutput<T> | undefined {
  if (!item) return undefined;
  const result = v.safeParse(schema, item, { abortEarly: true });
  if (result.success) return result.output;
  note(item, result.issues[0]);
  return undefined;
}

/** Reads and parses an item that is asked for alone. Throws if this code cannot read it. */
export async function findItem<T extends v.GenericSchema>(
  schema: T,
  key: Key,
  options?: ReadOptions,
): Promise<v.InferOutput<T> | undefined> {
  const item = await getItem(key, options);
  return item && v.parse(schema, item);
}

/** The value stays out of the log, because it may be private. */
function note(item: Item, issue: v.BaseIssue<unknown>): void {
  const key = keyString(item);
  if (logged.has(key) || logged.size === mostLogged) return;
  logged.add(key);
  const { pk, sk } = item;
  const field = v.getDotPath(issue) ?? undefined;
  console.error({
    message: 'A stored item cannot be read',
    pk,
    sk,
    field,
    expected: issue.expected,
  });
}
