import { totalKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { transact } from '../table/transact.ts';

/** Facets that this process knows to be registered. */
const registered = new Set<string>();

/**
 * Registers a facet (`<type>|<language>`) with a count of 0 before its first review. Readers merge
 * the registered facets and miss none while totals lag behind.
 */
export async function registerFacet(facet: string): Promise<void> {
  if (registered.has(facet)) return;
  const [type = '', language = ''] = facet.split('|');
  const key = totalKey(type);
  const item = (await getItem(key, { consistent: false })) ?? {};
  const isRegistered = Object.keys(item).some((name) => name.startsWith(`${language}|`));
  if (!isRegistered) {
    await transact([{ Update: { Key: key, amounts: { [`${language}|both`]: 0 } } }]);
  }
  registered.add(facet);
}
