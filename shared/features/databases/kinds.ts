import type { Kind } from '../../base/table/kind.ts';
import { keyOf } from '../../core/keys.ts';

// Keys and kinds of turns to ask a database, and of what it found.

export const paceKey = keyOf('METADATA#<database>', 'PACE');

export const searchPaceKey = keyOf('METADATA#<database>', 'PACE#SEARCH');

/** Takes the hexadecimal hash of a database's search, the type and the name. */
export const searchKey = keyOf('METADATA#SEARCH#<sha256>', 'SEARCH');

export const kinds = {
  // Earliest time of the next request to a database. Searches and the queue of names have another.
  pace: {
    key: paceKey,
    unexported: 'temporary',
  },
  // Entities that a database found by a name.
  search: {
    key: searchKey,
    kilobytes: 32,
    unexported: 'comes from another database, kept for an hour',
  },
} as const satisfies Record<string, Kind>;
