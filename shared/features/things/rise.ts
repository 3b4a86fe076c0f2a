import type { Item, Key } from '../../base/table/item.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import { thingKey } from './kinds.ts';

// The mark of a thing that has risen to another level.

/** Name of the list of marks. */
const risen = 'risen';

/**
 * Returns the key of the mark of a thing whose reviews have reached another level. Its words wait
 * for the run of the next minute, and so does a half of its move in the list by rating. A
 * publication thus writes at most four units: one for the mark and three for places.
 */
export const riseKey = (id: string) => thingKey(risen, undefined, `#${id}`);

/** The prefix of all marks. */
export const marksKey = thingKey(risen, undefined);

/** The rise of a thing, as its mark says it. */
export interface Rise {
  /** The types of its names. They may have lost their reviews since. */
  types: readonly EntityType[];
  /** Former places by rating, deleted with the words. Without one, the new place waits. */
  places: readonly Key[];
}

/** Returns the mark of a thing. */
export function markOf(id: string, { types, places }: Rise): Item {
  return { ...riseKey(id), types, places: places.map(({ pk, sk }) => ({ pk, sk })) };
}

/** Returns the rise in a mark, or undefined without a mark. */
export function riseIn(item: Item | undefined): Rise | undefined {
  return item && { types: item.types as EntityType[], places: item.places as Key[] };
}

/** Returns the id of the thing in a mark. */
export const idOfMark = ({ sk }: Pick<Key, 'sk'>) => sk.slice(riseKey('').sk.length);
