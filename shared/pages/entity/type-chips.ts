import type { EntityType } from '../../core/entity/entity-type.ts';
import type { Html } from '../frame/layout.ts';
import { tabs } from '../frame/lists.ts';

/**
 * Links to the same list of each of these types. The chosen type is the first, where a phone shows
 * it.
 */
export function chipsOfTypes(
  types: readonly EntityType[],
  chosen: EntityType | undefined,
  { urlOf, nameOf }: { urlOf: (type?: EntityType) => string; nameOf: (type: EntityType) => string },
): Html {
  const others = types.filter((type) => type !== chosen);
  const shown = chosen === undefined ? others : [chosen, ...others];
  const chips = shown.map((type) => [urlOf(type), nameOf(type)] as const);
  return tabs('Type', urlOf(chosen), [[urlOf(), 'All types'], ...chips], 'chips');
}
