import type { Kind } from '../../base/table/kind.ts';
import { keyOf } from '../../core/keys.ts';

// Keys and kinds of the run that sends mails.

/** The lease of the run that sends mails, and what moderators were told last. */
export const noticesPaceKey = { pk: 'NOTICE', sk: 'PACE' };

/** Takes the hexadecimal hash of an address, and a kind of mails. */
export const mailedKey = keyOf('MAILED#<sha256>', 'MAILED#<kind>');

export const kinds = {
  noticesPace: {
    key: { form: noticesPaceKey },
    unexported: 'state of a job of this table',
    writers: ['notices'],
  },
  // The last mail of a kind to an address.
  mailed: {
    key: mailedKey,
    unexported: 'lives for eight days',
    writers: ['notices'],
  },
} as const satisfies Record<string, Kind>;
