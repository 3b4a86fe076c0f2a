import type { Kind } from '../../base/table/kind.ts';
import { deskPartitions, keyOf } from '../../core/keys.ts';

// Keys and kinds of names that wait.

export const proposalKey = keyOf('METADATA#<entity_type>#<entity_id>', 'PROPOSAL#<user_id>');

export const namesPaceKey = keyOf('METADATA#<database>', 'PACE#NAMES');

export const kinds = {
  // A reason of 500 characters, and three fields of a record.
  proposal: {
    key: proposalKey,
    all: deskPartitions.proposal,
    author: 'PROPOSER#<user_id>',
    kilobytes: 8,
    own: 'proposed_names',
  },
} as const satisfies Record<string, Kind>;
