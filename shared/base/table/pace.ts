import { setTimeout as sleep } from 'node:timers/promises';
import type { Key } from './item.ts';
import { getItem } from './query.ts';
import { tryTransact, tryUpdate } from './transact.ts';
import { absentOr } from './write.ts';

// Turns: items that say when something may be done again, such as a request to a database.

interface DueItem {
  Key: Key;
  /** Milliseconds until the item is due again. */
  milliseconds: number;
}

/** Milliseconds that such an item stays in the table after it is due. */
const keptBeyond = 30 * 86_400_000;

/** Milliseconds between two attempts to take a turn. */
const pause = 150;

/** Makes due items due again, all or none. Returns true for one concurrent caller only. */
export async function take(...turns: readonly DueItem[]): Promise<boolean> {
  const now = Date.now();
  return tryTransact(
    turns.map(({ Key, milliseconds }) => {
      const due_at = now + milliseconds;
      const expires_at = inEpochSeconds(due_at + keptBeyond);
      return {
        Update: {
          Key,
          set: { due_at, expires_at },
          where: [absentOr('due_at', '<=', now)],
        },
      };
    }),
  );
}

/** Milliseconds that are left to wait. */
export type Patience = () => number;

/** Returns how many of the milliseconds from now on are left. */
export function patienceOf(milliseconds: number): Patience {
  const end = performance.now() + milliseconds;
  return () => end - performance.now();
}

/**
 * Waits in line for a turn. Returns false at once if the line is longer than the patience. A place
 * in line costs a read and a write, however long it is.
 */
export async function waitInLine(
  { Key, milliseconds }: Pick<DueItem, 'Key' | 'milliseconds'>,
  left: Patience,
): Promise<boolean> {
  while (left() > 0) {
    const before = (await getItem(Key))?.due_at;
    const now = Date.now();
    const wait = Math.max(0, Number(before ?? 0) - now);
    if (wait > left()) return false;
    const due_at = now + wait + milliseconds;
    const set = { due_at, expires_at: inEpochSeconds(due_at + keptBeyond) };
    if (await tryUpdate({ Key, set, was: { due_at: before } })) {
      await sleep(wait);
      return true;
    }
    // Somebody else took this place.
    await sleep(Math.random() * pause);
  }
  return false;
}

/** Takes a turn as soon as it is due, within the patience. */
export async function takeSoon(turn: DueItem, left: Patience): Promise<boolean> {
  while (!(await take(turn))) {
    if (left() < pause) return false;
    await sleep(pause);
  }
  return true;
}

/** Epoch milliseconds as the epoch seconds in which items expire. */
export const inEpochSeconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
