import { batchGet } from '../table/batch.ts';
import { type Key, keyString } from '../table/item.ts';
import type { Node } from './rank-tree.ts';

/** Nodes of rank trees that are read, by `keyString`. */
export type Nodes = ReadonlyMap<string, Node>;

/** Reads nodes in one round trip, undefined where none is. */
export async function readNodes(keys: readonly Key[]): Promise<Nodes> {
  const read = await batchGet(keys);
  return new Map(keys.map((key) => [keyString(key), read.get(keyString(key))]));
}
