import type { Kind } from '../../base/table/kind.ts';
import { webhookKey } from '../../core/keys.ts';

// Keys and kinds of webhooks. The core has their keys, since they end with an application.

/** Not in the partition of webhooks, because readers of the state of the service may read it. */
export const webhookRunKey = { pk: 'WEBHOOK#RUN', sk: 'RUN' };

export const kinds = {
  // A URL, and the last 20 attempts. Listed by the date of the next attempt, while it is active.
  webhook: {
    key: webhookKey,
    all: 'WEBHOOK',
    kilobytes: 8,
    writers: ['webhooks', 'hooks'],
  },
  // Time up to which webhooks have told everything.
  sending: {
    key: { form: webhookRunKey },
    unexported: 'time of a job of this table',
    writers: ['webhooks'],
  },
} as const satisfies Record<string, Kind>;
