import { chunks } from '../chunks.ts';
import { ApiError } from '../errors.ts';
import type { Key } from './item.ts';
import { type Condition, maxActions, transact, type Write } from './transact.ts';

/**
 * Erases what a deleted thing has left, while `condition` says that the thing is still gone:
 * `erase` puts the check that it gets into each of its transactions. Stops when the thing was
 * restored, because what is left then belongs to it.
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

/** Deletes any number of items in transactions, each with a check of `eraseWhile`. */
export async function deleteItems(keys: readonly Key[], isGone: Write): Promise<void> {
  for (const some of chunks(keys, maxActions - 1)) {
    await transact([isGone, ...some.map(({ pk, sk }) => ({ Delete: { Key: { pk, sk } } }))]);
  }
}
