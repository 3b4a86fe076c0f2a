import type { RecordKind } from '../../base/background/consumer.ts';
import type { Kind } from '../../base/table/kind.ts';
import { keyOf } from '../../core/keys.ts';

// Keys and kinds of files that people bring.

/** A file that a person brings. A person has few, each in a slot. */
export const fileKey = keyOf('USER#<user_id>', 'FILE#<slot:1>');

/** A part of the rows of such a file. */
export const rowsKey = keyOf('USER#<user_id>', 'ROWS#<file_id>#<number:4>');

export const kinds = {
  // How far a file of reviews from another site is, that a person brings.
  file: {
    key: fileKey,
    unexported: 'lives for 30 days',
  },
  // At most 25 rows of it, in 40 KB of JSON, and a sentence and an id for each.
  rows: {
    key: rowsKey,
    kilobytes: 48,
    unexported: 'lives for 30 days',
    own: 'brought',
  },
} as const satisfies Record<string, Kind>;

/** Records of files that have something to do. */
export const followed = {
  sortKeys: ['FILE#'],
  only: { has: 'task' },
} as const satisfies RecordKind;
