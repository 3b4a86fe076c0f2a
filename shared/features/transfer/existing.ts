// Reads the items that an import depends on.
import { chunks } from '../../base/chunks.ts';
import { pick } from '../../base/pick.ts';
import { batchGet } from '../../base/table/batch.ts';
import { type Item, type Key, keyString } from '../../base/table/item.ts';
import { reviewKey, userKey } from '../../core/keys.ts';
import { hasRemains } from '../../core/review/erase.ts';
import { decidingKeys, remainsKey } from './plan.ts';
import type { SourcedRecord } from './record.ts';

/** Attributes that an import reads of existing items. */
const attributes = [
  'id',
  'deleted_at',
  'user_id',
  'review_id',
  'marked_at',
  'edits',
  'is_hidden',
  'published_on',
  'version',
  'state',
  'round',
  'reported',
  'moderators',
  'name',
  'leads_to',
  'led_from',
  'expires_at',
];

/**
 * Reads all existing items that decide how records are treated, by `keyString`. `dryRunItems` are
 * items that a dry run pretends to have written.
 */
export async function readExisting(
  sources: readonly SourcedRecord[],
  dryRunItems: ReadonlyMap<string, Item>,
): Promise<Map<string, Item>> {
  const records = sources.map(({ record }) => record);
  const existing = new Map<string, Item>();
  const seen = new Set<string>();
  const read = async (keys: readonly Key[]) => {
    const unseen = keys.filter((key) => !seen.has(keyString(key)) && seen.add(keyString(key)));
    // One request at a time, because several chunks are processed in parallel.
    for (const some of chunks(unseen, 100)) {
      const items = await batchGet(some, { consistent: true, attributes });
      for (const [name, item] of items) existing.set(name, item);
    }
    pretend();
  };
  // Other chunks pretend to write meanwhile, so this comes again after the last read.
  const pretend = () => {
    for (const name of seen) {
      const item = dryRunItems.get(name);
      if (item) existing.set(name, item);
    }
  };
  await read(records.flatMap(decidingKeys));
  const authors = records.flatMap((record) => {
    const review = record.kind === 'vote' && existing.get(keyString(reviewKey(record.review_id)));
    return review ? [userKey(`${review.user_id}`)] : [];
  });
  await read(authors);
  await Promise.all(
    records.map(async (record) => {
      if (record.kind !== 'review' || existing.has(keyString(reviewKey(record.id)))) return;
      const key = remainsKey(record.id);
      if (await hasRemains(record.id, record.revisions.length)) {
        existing.set(keyString(key), { ...key });
      }
    }),
  );
  pretend();
  return existing;
}

/** Reduces an item to the attributes that `readExisting` returns. */
export function asRead({ pk, sk, ...item }: Item): Item {
  return { pk, sk, ...pick(item, attributes) };
}
