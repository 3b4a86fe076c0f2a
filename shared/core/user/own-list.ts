// Reads lists of a person's own data.
import type * as v from 'valibot';
import { getItems } from '../../base/table/batch.ts';
import { parseItems } from '../../base/table/parse.ts';
import { queryIndex } from '../../base/table/query.ts';

/** Records of a list. `lastKey` is the key to continue after. */
export interface Batch<T> {
  lastKey: string;
  records: T[];
}

/**
 * Reads items under a kind of author, oldest first, one at a time. `complete` adds to those of one
 * read.
 */
export function readListed<T extends v.GenericSchema, U = v.InferOutput<T>>(
  kind: string,
  schema: T,
  complete?: (records: readonly v.InferOutput<T>[]) => Promise<U[]>,
) {
  return async function* (userId: string, after: string): AsyncGenerator<Batch<U>> {
    const range = after === '' ? {} : { low: after };
    const pages = queryIndex('author-by-date', `${kind}#${userId}`, { range, pageSize: 100 });
    for await (const page of pages) {
      const entries = page.filter(({ date }) => date !== after);
      const items = await getItems(entries, { consistent: true });
      const read = entries.map((_, i) => parseItems(schema, [items[i]]));
      const whole = complete ? await complete(read.flat()) : (read.flat() as U[]);
      for (const [i, { date: lastKey = '' }] of entries.entries()) {
        yield { lastKey, records: whole.splice(0, read[i]?.length) };
      }
    }
  };
}
