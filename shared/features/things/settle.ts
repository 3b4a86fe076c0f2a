import { isDeepStrictEqual } from 'node:util';
import { TableBusy } from '../../base/errors.ts';
import { batchWrite } from '../../base/table/batch.ts';
import type { Item } from '../../base/table/item.ts';
import { backOff } from '../../base/time.ts';
import type { Entries, Thing } from './thing.ts';

/** Times that entries are written because their items have changed meanwhile. */
const mostRounds = 10;

/** Rounds that also write new entries. A change after them has a record of its own, which does. */
const openRounds = 3;

/** The things that entries follow from, and the entries that there are. */
interface Settling {
  things: readonly Thing[];
  /** Entries that may have to go. */
  standing: Entries;
  entriesOf: (things: readonly Thing[]) => Entries;
  readAgain: () => Promise<readonly Thing[]>;
}

/**
 * Writes entries in the place of those that stand. Reads the things again, until nothing has
 * changed: another consumer may have deleted an entry before it was written here. Beside many
 * changes it corrects only what it has written, so it ends. Throws `TableBusy` if that changes ten
 * times.
 */
export async function settle({
  things,
  standing,
  entriesOf,
  readAgain,
}: Settling): Promise<readonly Thing[]> {
  let read = things;
  let before = standing;
  const touched = new Set(standing.keys());
  for (let round = 0; round < mostRounds; round++) {
    const isOpen = round < openRounds;
    const due = [...entriesOf(read)].filter(([name]) => isOpen || touched.has(name));
    const after = new Map(due);
    const writes = differences(before, after);
    if (writes.length === 0) return read;
    if (!isOpen) await backOff(round - openRounds);
    await batchWrite(writes);
    for (const name of after.keys()) touched.add(name);
    before = after;
    read = await readAgain();
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
