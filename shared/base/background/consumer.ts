import type { Route, Within } from '../routes.ts';
import type { Item } from '../table/item.ts';

/** A Lambda that reads records of the table's stream. */
export interface Consumer {
  operation: string;
  /** Rights on the table, as those of a route. */
  table: Route['table'];
  within?: Within;
  records: readonly RecordKind[];
  /** Records in one call, at most. */
  batchSize: number;
}

/**
 * Records of items with these sort keys, or prefixes of sort keys, which end in #: all, inserts,
 * removals, or new images with a text attribute.
 */
export interface RecordKind {
  sortKeys: readonly string[];
  only?: 'INSERT' | 'REMOVE' | { has: string };
}

/** Returns true if the consumer reads this record, as the event source mapping on AWS does. */
export function isFor(consumer: Consumer, { eventName, dynamodb }: StreamRecord): boolean {
  return reads(consumer, `${dynamodb?.Keys?.sk?.S}`, eventName, () => dynamodb?.NewImage);
}

/** An item before and after a write. */
interface Change {
  before?: Item | undefined;
  after?: Item | undefined;
}

/** Returns true if any of these consumers reads the record of a change. */
export function isReadByAny(consumers: readonly Consumer[], { before, after }: Change): boolean {
  const name = before === undefined ? 'INSERT' : 'MODIFY';
  const sortKey = `${(after ?? before)?.sk}`;
  return consumers.some((each) => reads(each, sortKey, after ? name : 'REMOVE', () => after));
}

function reads(
  { records }: Consumer,
  sortKey: string,
  eventName: string | undefined,
  image: () => object | undefined,
): boolean {
  return records.some(({ sortKeys, only }) => {
    if (!sortKeys.some((each) => (isPrefix(each) ? sortKey.startsWith(each) : sortKey === each))) {
      return false;
    }
    if (only === undefined) return true;
    return typeof only === 'string' ? eventName === only : only.has in (image() ?? {});
  });
}

/** Returns true for the beginning of sort keys, such as `GRANT#`. */
export function isPrefix(sortKey: string): boolean {
  return sortKey.endsWith('#');
}

interface StreamRecord {
  eventName?: string;
  dynamodb?: { Keys?: Record<string, { S?: string }>; NewImage?: Record<string, unknown> };
}
