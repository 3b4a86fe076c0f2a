import { chunks } from '../chunks.ts';
import { ApiError } from '../errors.ts';
import type { Key } from './item.ts';
import { type Condition, maxActions, transact, type Write } from './transact.ts';

/**
 * Erases the remains of something deleted, as long as `condition` holds. `erase` puts the check
 * that it receives into each of its transactions. Stops without an error when the check fails: the
 * thing was restored, so the remains belong to it again.
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

/** Deletes any number of items in transactions, each with the check of `eraseWhile`. */
export async function deleteItems(keys: readonly Key[], isGone: Write): Promise<void> {
  for (const some of chunks(keys, maxActions - 1)) {
    await transact([isGone, ...some.map(({ pk, sk }) => ({ Delete: { Key: { pk, sk } } }))]);
  }
}
