import * as v from 'valibot';
import type { Item } from './item.ts';

/**
 * Parses items where many are read. An item that this code cannot read, such as one of newer code,
 * is skipped and logged, so that it does not hide the others.
 */
export function parseEach<T extends v.GenericSchema>(
  schema: T,
  items: readonly Item[],
): v.InferOutput<T>[] {
  return items.flatMap((item) => {
    const parsed = v.safeParse(schema, item);
    if (parsed.success) return [parsed.output];
    const { pk, sk } = item;
    const attributes = [...new Set(parsed.issues.map((issue) => v.getDotPath(issue) ?? ''))];
    console.error({ message: 'An item that cannot be read was skipped', pk, sk, attributes });
    return [];
  });
}
