import { chunks } from '../chunks.ts';
import { ApiError } from '../errors.ts';
import type { Key } from './item.ts';
import { maxActions, transact, type Write } from './transact.ts';
import type { Condition } from './write.ts';

// Deletions that stop if the deleted thing was restored.

/**
 * Erases the remains of something deleted, as long as `condition` holds: `erase` puts the check
 * that it receives into each transaction. Stops without an error when the check fails, because the
 * thing was restored.
 */
export async function eraseWhile(
  condition: Condition & { Key: Key },
  erase: (isGone: Write) => Promise<void>,
): Promise<void> {
  const restored = new ApiError(409, 'conflict', 'It was restored');
  try {
    await erase({ ConditionCheck: condition, otherwise: restored });
  } catch (error) {
    if (error !== restored) throw error;
  }
}

/** Deletes items in transactions, each with the check of `eraseWhile`. */
export async function deleteItems(keys: readonly Key[], isGone: Write): Promise<void> {
  for (const some of chunks(keys, maxActions - 1)) {
    await transact([isGone, ...some.map(({ pk, sk }) => ({ Delete: { Key: { pk, sk } } }))]);
  }
}
