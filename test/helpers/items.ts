import { batchWrite } from '../../shared/base/table/batch.ts';
import type { Item, Key } from '../../shared/base/table/item.ts';
import { getItem, scanItems } from '../../shared/base/table/query.ts';
import { update } from '../../shared/base/table/transact.ts';
import './table.ts';

/** An item as it lies in the table. */
export const readItem = (key: Key): Promise<Item | undefined> => getItem(key);

/** Sets attributes of an item behind the back of everything. */
export async function setAttributes(Key: Key, set: Record<string, unknown>): Promise<void> {
  await update({ Key, set });
}

/** Everything in the table. */
export async function scanTable(): Promise<Item[]> {
  const all: Item[] = [];
  for await (const { items } of scanItems()) all.push(...items);
  return all;
}

/** Stores items as they are, in the place of what is there. */
export const storeItems = (items: readonly object[]) => batchWrite(items.map((put) => ({ put })));
