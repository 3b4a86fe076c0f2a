import type { Kind } from '../../base/table/kind.ts';
import { keyOf } from '../../core/keys.ts';

// Keys and kinds of invitations.

/** Takes 32 hexadecimal digits of the hash of the token of an invitation. */
export const invitationKey = keyOf('INVITATION', 'INVITATION#<invitation_id>');

export const kinds = {
  // A link with which people may open an account.
  invitation: {
    key: invitationKey,
    unexported: 'lives for 120 days at most',
    writers: ['accounts'],
  },
} as const satisfies Record<string, Kind>;
