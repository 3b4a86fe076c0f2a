import { isDeepStrictEqual } from 'node:util';
import { TableBusy } from '../errors.ts';
import { batchWrite } from '../table/batch.ts';
import type { Item } from '../table/item.ts';
import type { Change } from './changes.ts';
import { type Entries, entriesOf, readThings, type Thing } from './thing.ts';

/** Times that entries are written because their items have changed meanwhile. */
const mostRounds = 10;

/** Writes the entries of things in the place of those before. */
export async function settle(
  changes: readonly Change[],
  things: readonly Thing[],
  before: Entries,
): Promise<void> {
  // Later counts of a thing come in later records. Only its record may have another consumer.
  const counted = new Map(
    things.filter((_, i) => changes[i]?.isNamed === false).map((thing) => [thing.id, thing]),
  );
  await settleEntries(things, before, entriesOf, () => readThings(changes, counted));
}

/**
 * Writes entries in the place of those before. Reads the things again, until nothing has changed
 * since: another consumer may have written an entry that was old by then.
 */
export async function settleEntries(
  read: readonly Thing[],
  before: Entries,
  entries: (things: readonly Thing[]) => Entries,
  readAgain: () => Promise<Thing[]>,
): Promise<void> {
  let things = read;
  let standing = before;
  for (let round = 0; round < mostRounds; round++) {
    const after = entries(things);
    const writes = differences(standing, after);
    if (writes.length === 0) return;
    await batchWrite(writes);
    standing = after;
    things = await readAgain();
  }
  throw new TableBusy();
}

function differences(before: Entries, after: Entries) {
  const isNew = ([name, item]: [string, Item]) => !isDeepStrictEqual(before.get(name), item);
  const deleted = [...before].filter(([name]) => !after.has(name));
  return [
    ...Array.from(after)
      .filter(isNew)
      .map(([, put]) => ({ put })),
    ...deleted.map(([, { pk, sk }]) => ({ delete: { pk, sk } })),
  ];
}
