import * as v from 'valibot';
import type { ChangeKind } from '../changes/log.ts';
import { LanePlaces } from '../changes/window.ts';
import { pick } from '../pick.ts';
import type { IndexAttributes } from '../table/item.ts';
import { webhookKey } from '../table/keys.ts';
import type { Update } from '../table/transact.ts';

// Webhooks: what is stored of one, and the rules of its state.

/** Types of messages that an owner chooses, in the order of the form. */
export const messageTypes = [
  'review.published',
  'review.edited',
  'review.voted',
  'review.removed',
] as const;
export type MessageType = (typeof messageTypes)[number];

/** Returns the type of the message about a change. */
export function typeOf(kind: ChangeKind): MessageType {
  return `review.${kind}`;
}

/** Fields that an owner enters. */
export interface WebhookForm {
  address: string;
  types: MessageType[];
}

/** A time in UTC as people enter it, converted to epoch ms. */
export const UtcTime = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?$/,
    'must be a time in UTC, such as 2026-01-31 12:00',
  ),
  v.transform((text) =>
    Date.parse(`${text.slice(0, 10)}T${text.slice(11) || '00:00'}`.replace(/Z?$/, 'Z')),
  ),
  v.check((time) => !Number.isNaN(time), 'must be a time that exists'),
);

/** A webhook as stored. Times are ISO 8601. */
export const Webhook = v.object({
  id: v.string(),
  client_id: v.string(),
  /** 1 or 2, the end of its key: an application has at most two. */
  slot: v.number(),
  /** The owner of the application. */
  user_id: v.string(),
  address: v.string(),
  types: v.array(v.picklist(messageTypes)),
  created: v.string(),
  /** 32 random hexadecimal digits that the secret is derived from. */
  secret_id: v.string(),
  /** The replaced secret, which signs beside the new one until then. */
  previous_secret: v.optional(v.object({ secret_id: v.string(), until: v.string() })),
  /** `new` until a test succeeds, `paused` by its owner or operator, `off` by the service. */
  state: v.picklist(['new', 'on', 'paused', 'off']),
  /** Reason for `off`: the receiver answered 410, or had no success for five days. */
  off_reason: v.optional(v.picklist(['gone', 'failing'])),
  /** Place in the change log. Without one it begins now and says `log.restarted`. */
  position: v.optional(LanePlaces),
  /** Changes logged before were missed on purpose, so they do not count as late. */
  since: v.string(),
  /** Time at which the position was lost, until the receiver has taken `log.restarted`. */
  restarted_at: v.optional(v.string()),
  /** Time of the next attempt after a failure. */
  retry_at: v.optional(v.string()),
  /** Failed attempts since the last success, and the time of the first. */
  failures: v.number(),
  failing_since: v.optional(v.string()),
  /** The message of the last failure, which its owner may skip. */
  stuck: v.optional(v.object({ id: v.string(), type: v.string() })),
  /** The last request. `status` is null if there was no answer. */
  last: v.optional(
    v.object({
      at: v.string(),
      type: v.string(),
      status: v.nullable(v.number()),
      milliseconds: v.number(),
      has_succeeded: v.boolean(),
    }),
  ),
  /** Time of a request for a test, until it was sent. */
  test_due: v.optional(v.string()),
  /** Rises with every write. */
  version: v.number(),
});
export type Webhook = v.InferOutput<typeof Webhook>;

/** Minutes until the next attempt after a number of failures; later ones as the last. */
const pauses = [1, 2, 5, 15, 30, 60, 120, 240, 480];

/** Share by which a pause is at most longer or shorter, so that retries do not meet. */
const jitter = 0.2;

/** In seconds: 8 hours. */
const longestRetryAfter = 28_800;

/** In milliseconds: 5 days. */
const longestFailing = 5 * 86_400_000;

/**
 * Returns milliseconds until the next attempt after `failures` in a row, with jitter. Waits longer
 * if the receiver asks for it by `retryAfter` (seconds), up to 8 hours.
 */
export function pauseAfter(failures: number, retryAfter = 0): number {
  const minutes = pauses[Math.min(failures, pauses.length) - 1] ?? 1;
  const pause = minutes * 60_000 * (1 - jitter + 2 * jitter * Math.random());
  return Math.round(Math.max(pause, Math.min(retryAfter, longestRetryAfter) * 1000));
}

/** Returns true if there was no success for five days, with a failure now. */
export function hasGivenUp(failingSince: string): boolean {
  return Date.now() - Date.parse(failingSince) >= longestFailing;
}

/** Returns the secret ids that sign now, the newest first. */
export function signingIds({ secret_id, previous_secret }: Webhook): string[] {
  const isGood = previous_secret && previous_secret.until > new Date().toISOString();
  return isGood ? [secret_id, previous_secret.secret_id] : [secret_id];
}

/** Returns a text that is the same for two places of the log only if nothing lies between them. */
export function markOf({ lanes, into }: LanePlaces): string {
  const sum = lanes.reduce((total, place) => total + place, 0);
  return into ? `${sum}+${into}` : `${sum}`;
}

/** Attributes of a webhook that does not fail. */
export const noFailures = {
  failures: 0,
  failing_since: undefined,
  retry_at: undefined,
  stuck: undefined,
} satisfies Partial<Webhook>;

/** Returns what an export has of a webhook: what its owner has chosen. */
export function withoutPlace(webhook: Webhook): Webhook {
  const lasting = pick(webhook, [
    'id',
    'client_id',
    'slot',
    'user_id',
    'address',
    'types',
    'created',
    'secret_id',
    'previous_secret',
    'state',
    'off_reason',
  ]);
  return { ...lasting, since: webhook.created, failures: 0, version: 1 };
}

/** Index attributes: active webhooks and those to test, by the time of the next attempt. */
export function listedIn(webhook: Webhook): Pick<IndexAttributes, 'all' | 'date' | 'kind'> {
  const { id, state, test_due, retry_at, position, restarted_at } = webhook;
  if (state !== 'on' && !test_due) return {};
  const isBehind = test_due || retry_at || restarted_at || !position;
  return {
    all: 'WEBHOOK',
    date: `${test_due ?? retry_at ?? webhook.since}#${id}`,
    kind: isBehind ? 'due' : markOf(position),
  };
}

/**
 * Returns the update of a webhook, on condition that nothing else has written since. Undefined
 * removes an attribute.
 */
export function updateOf(before: Webhook, change: Partial<Webhook>): Update {
  const { id, version, client_id, slot } = before;
  const after = { ...before, ...change, version: version + 1 };
  const unlisted = { all: undefined, date: undefined, kind: undefined };
  return {
    Key: webhookKey(client_id, slot),
    set: { ...change, version: after.version, ...unlisted, ...listedIn(after) },
    was: { id, version },
  };
}
