import type { Key } from '../table/item.ts';
import { tryTransact } from '../table/transact.ts';

// Turns to ask a music or book database: items that say when it may be asked again.

interface Turn {
  Key: Key;
  /** Milliseconds until the item is due again. */
  milliseconds: number;
  /** Set if the item stays in the table. Any other expires. */
  isKept?: boolean;
}

/** Milliseconds that an item without a name stays in the table after it is due. */
export const keptBeyond = 30 * 86_400_000;

/** Makes due items due again, all or none. Returns true for one concurrent caller only. */
export async function take(...turns: readonly Turn[]): Promise<boolean> {
  const now = Date.now();
  return tryTransact(
    turns.map(({ Key, milliseconds, isKept }) => {
      const due_at = now + milliseconds;
      const expires_at = isKept ? undefined : epochSeconds(due_at + keptBeyond);
      return {
        Update: {
          Key,
          set: { due_at, expires_at },
          ConditionExpression: 'attribute_not_exists(due_at) OR due_at <= :now',
          ExpressionAttributeValues: { ':now': now },
        },
      };
    }),
  );
}

/** Epoch milliseconds as the epoch seconds in which items expire. */
export const epochSeconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
