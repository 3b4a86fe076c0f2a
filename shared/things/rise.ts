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

/**
 * Returns the mark of a thing. It names each place by rating that may stand, because no key of one
 * follows from later counts.
 */
export function markOf(id: string, places: readonly Key[]): Item {
  const names = places.map(({ pk, sk }) => ({ pk, sk }));
  return { ...riseKey(id), places: names };
}

/** Returns the places that a mark names, or undefined without a mark. */
export function placesOfMark(item: Item | undefined): Key[] | undefined {
  return item && (item.places as Key[]);
}

/** Returns the id of the thing in a mark. */
export const idOfMark = ({ sk }: Pick<Key, 'sk'>) => sk.slice(riseKey('').sk.length);
