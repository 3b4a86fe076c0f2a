import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { chunks } from '../chunks.ts';
import { TableBusy } from '../errors.ts';
import { backOff } from '../time.ts';
import { table, tableName } from './client.ts';
import { type Item, type Key, keyString } from './item.ts';
import { projectionOf } from './query.ts';
import { checkKeys, checkWrites } from './rules.ts';
import { type PlainWrite, type ReadOptions, storage } from './storage.ts';

// Reads and writes of many items, without transactions.

const attempts = 9;

/**
 * Reads any number of distinct keys, 100 a request, in parallel. Returns the items that exist, by
 * `keyString`. With `attributes`, an item has only these and its keys, for the same units. Throws
 * `TableBusy` when DynamoDB still leaves some after 9 attempts.
 */
export async function batchGet(
  keys: readonly Key[],
  { consistent = false, attributes }: ReadOptions = {},
): Promise<Map<string, Item>> {
  checkKeys(keys);
  const wanted = attributes && ['pk', 'sk', ...attributes];
  const items = new Map<string, Item>();
  const own = storage();
  if (own) {
    for (const item of await own.get(keys, { consistent, attributes: wanted })) {
      if (item) items.set(keyString(item), item);
    }
    return items;
  }
  const projection = wanted && projectionOf(wanted);
  const read = async (some: readonly Key[]): Promise<Key[]> => {
    const Keys = some.map(({ pk, sk }) => ({ pk, sk }));
    const request = { Keys, ConsistentRead: consistent, ...projection };
    const command = new BatchGetCommand({ RequestItems: { [tableName()]: request } });
    const { Responses, UnprocessedKeys } = await table.send(command);
    for (const item of (Responses?.[tableName()] ?? []) as Item[]) {
      items.set(keyString(item), item);
    }
    return (UnprocessedKeys?.[tableName()]?.Keys ?? []) as Key[];
  };
  await Promise.all(chunks(keys, 100).map((some) => untilDone(some, read)));
  return items;
}

/** Reads as `batchGet` does. Returns items in the order of the keys, undefined where none is. */
export async function getItems(
  keys: readonly Key[],
  options?: Parameters<typeof batchGet>[1],
): Promise<(Item | undefined)[]> {
  const items = await batchGet(keys, options);
  return keys.map((key) => items.get(keyString(key)));
}

/** Deletes any number of items, without conditions. Throws `TableBusy` like `batchGet`. */
export function batchDelete(keys: readonly Key[]): Promise<void> {
  return batchWrite(keys.map(({ pk, sk }) => ({ delete: { pk, sk } })));
}

/** Puts and deletes many items, without conditions. Throws `TableBusy` like `batchGet`. */
export async function batchWrite(writes: readonly PlainWrite[]): Promise<void> {
  checkWrites(writes);
  for (const some of chunks(writes, 25)) await (storage()?.write(some) ?? sendWrites(some));
}

async function sendWrites(writes: readonly PlainWrite[]): Promise<void> {
  const requests = writes.map((write): object =>
    'put' in write ? { PutRequest: { Item: write.put } } : { DeleteRequest: { Key: write.delete } },
  );
  await untilDone(requests, async (pending) => {
    const command = new BatchWriteCommand({ RequestItems: { [tableName()]: pending } });
    const { UnprocessedItems } = await table.send(command);
    return UnprocessedItems?.[tableName()] ?? [];
  });
}

/** Sends requests until none is pending. Throws `TableBusy` after 9 attempts. */
async function untilDone<T>(all: T[], send: (pending: T[]) => Promise<T[]>): Promise<void> {
  let pending = all;
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === attempts) throw new TableBusy();
    if (attempt > 0) await backOff(attempt, 2560);
    pending = await send(pending);
  }
}
