// Rows of files, as the person's own data has them.
import type { Batch } from '../../core/user/own-list.ts';
import { partsOf } from './brought-file.ts';
import type { BroughtRow } from './presented.ts';

/** Readers of lists of own data: a part of the rows at a time, after a key. */
export const ownLists = {
  async *brought(userId: string, after: string): AsyncGenerator<Batch<BroughtRow>> {
    for await (const { lastKey, rows } of partsOf(userId, after)) {
      const records = rows.map(({ rating, ...row }) => ({
        ...row,
        ...(rating !== undefined && { stars: `${rating}` }),
      }));
      yield { lastKey, records };
    }
  },
};
