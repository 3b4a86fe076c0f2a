import type { EntityType } from '../entity/entity-type.ts';
import type { Item, Key } from '../table/item.ts';
import { thingKey } from '../table/keys.ts';

// The mark of a thing that has risen to another level.

/** Name of the list of marks. */
const risen = 'risen';

/**
 * Returns the key of the mark of a thing whose reviews have reached another level. Its words and
 * its place by rating, the slow entries, wait for the run of the next minute. A publication thus
 * writes at most four units: one for the mark and three for the other places.
 */
export const riseKey = (id: string) => thingKey(risen, undefined, `#${id}`);

/** The prefix of all marks. */
export const marksKey = thingKey(risen, undefined);

/** The rise of a thing, as its mark says it. */
export interface Rise {
  /** The types of its names. They may have lost their reviews since. */
  types: readonly EntityType[];
  /** Each place by rating that may stand. No key of one follows from later counts. */
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
