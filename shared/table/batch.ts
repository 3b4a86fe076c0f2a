import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type AttributeValue, BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { chunks } from '../chunks.ts';
import { TableBusy } from '../errors.ts';
import { backOff } from '../time.ts';
import { rawTable, table, tableName } from './client.ts';
import { type Item, type Key, keyString } from './item.ts';
import { projectionOf } from './query.ts';

// Reads and writes of many items, without transactions.

const attempts = 9;

/**
 * Reads any number of distinct keys, 100 a request, in parallel. Returns the items that exist, by
 * `keyString`. With `attributes`, an item has only these and its keys, for the same units. Throws
 * `TableBusy` when DynamoDB still leaves some after 9 attempts.
 */
export async function batchGet(
  keys: readonly Key[],
  { consistent = false, attributes }: { consistent?: boolean; attributes?: readonly string[] } = {},
): Promise<Map<string, Item>> {
  const items = new Map<string, Item>();
  const projection = attributes && projectionOf(['pk', 'sk', ...attributes]);
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

/** Attributes as DynamoDB sends them, such as `{ N: '3' }`. */
export type RawItem = Record<string, AttributeValue>;

/**
 * Reads any number of distinct keys as they are sent, as `batchGet` does. Items with hundreds of
 * attributes cost more CPU to convert than to read.
 */
export async function batchGetRaw(keys: readonly Key[]): Promise<Map<string, RawItem>> {
  const items = new Map<string, RawItem>();
  const rawKeys = keys.map(({ pk, sk }): RawItem => ({ pk: { S: pk }, sk: { S: sk } }));
  const read = async (Keys: RawItem[]) => {
    const command = new BatchGetItemCommand({ RequestItems: { [tableName()]: { Keys } } });
    takeItems(command, (item) => {
      items.set(keyString({ pk: `${item.pk?.S}`, sk: `${item.sk?.S}` }), item);
    });
    const { UnprocessedKeys } = await rawTable.send(command);
    return UnprocessedKeys?.[tableName()]?.Keys ?? [];
  };
  await Promise.all(chunks(rawKeys, 100).map((some) => untilDone(some, read)));
  return items;
}

/**
 * Takes the items out of the answer to a command, before the SDK looks for bytes in each attribute.
 * No item here has bytes, and the search takes as much CPU as parsing the answer.
 */
function takeItems({ middlewareStack }: BatchGetItemCommand, take: (item: RawItem) => void): void {
  middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      const response = answer.response as { statusCode: number; body: unknown };
      if (response.statusCode < 300) {
        const { Responses, ...rest } = JSON.parse(await text(response.body as Readable));
        Responses?.[tableName()]?.forEach(take);
        response.body = Buffer.from(JSON.stringify(rest));
      }
      return answer;
    },
    { name: 'takeItems', step: 'deserialize', priority: 'low' },
  );
}

/** Deletes any number of items, without conditions. Throws `TableBusy` like `batchGet`. */
export function batchDelete(keys: readonly Key[]): Promise<void> {
  return batchWrite(keys.map(({ pk, sk }) => ({ delete: { pk, sk } })));
}

/** Puts and deletes many items, without conditions. Throws `TableBusy` like `batchGet`. */
export async function batchWrite(
  writes: readonly ({ put: object } | { delete: Key })[],
): Promise<void> {
  const requests = writes.map((write): object =>
    'put' in write ? { PutRequest: { Item: write.put } } : { DeleteRequest: { Key: write.delete } },
  );
  for (const some of chunks(requests, 25)) {
    await untilDone(some, async (pending) => {
      const command = new BatchWriteCommand({ RequestItems: { [tableName()]: pending } });
      const { UnprocessedItems } = await table.send(command);
      return UnprocessedItems?.[tableName()] ?? [];
    });
  }
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
