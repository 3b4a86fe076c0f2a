import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import type { IndexAttributes } from '../../base/table/item.ts';
import type { Update } from '../../base/table/transact.ts';
import { webhookKey } from '../../core/keys.ts';
import { previousSecret, secretEntries } from '../../core/oauth/application.ts';
import { type ChangeKind, LogCursor, markOf } from '../changes/public.ts';

// Webhooks: what is stored of one, and what its owner chooses.

/** The type of the message about each kind of change, in the order of the form. */
const typesByKind = {
  published: 'review.published',
  edited: 'review.edited',
  voted: 'review.voted',
  removed: 'review.removed',
  revoked: 'access.revoked',
  deleted: 'user.deleted',
  named: 'entity.edited',
  opened: 'case.opened',
} as const satisfies Record<ChangeKind, string>;

export type MessageType = (typeof typesByKind)[ChangeKind];

/** Types of messages that an owner chooses. */
export const messageTypes = Object.values(typesByKind);

/** Types that a person may choose and is sent. Cases of moderation are for moderators alone. */
export function typesFor(isModerator: boolean): MessageType[] {
  return messageTypes.filter((type) => isModerator || type !== 'case.opened');
}

/** Returns the type of the message about a change. */
export function typeOf(kind: ChangeKind): MessageType {
  return typesByKind[kind];
}

/** Fields that an owner enters. */
export interface WebhookForm {
  address: string;
  types: MessageType[];
  /** Only changes of the reviews of this entity. */
  entity_id?: string | undefined;
  /** Only changes of the reviews by this author. */
  author_id?: string | undefined;
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

/**
 * Causes of failed requests: the name, the connection, TLS, 15 seconds, a forbidden address, the
 * status, or the rest of the answer.
 */
export const causes = ['dns', 'connect', 'tls', 'timeout', 'address', 'status', 'answer'] as const;
export type Cause = (typeof causes)[number];

/** A request to the receiver. `status` is null if there was no answer. */
export const Attempt = v.object({
  at: v.string(),
  type: v.string(),
  /** Of the message. */
  id: v.string(),
  status: v.nullable(v.number()),
  milliseconds: v.number(),
  /** Unset after a success. */
  cause: v.optional(v.picklist(causes)),
});
export type Attempt = v.InferOutput<typeof Attempt>;

/** Attempts that are stored, the newest last. */
export const mostAttempts = 20;

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
  entity_id: v.optional(v.string()),
  author_id: v.optional(v.string()),
  created: v.string(),
  ...secretEntries,
  /** `new` until a test succeeds, `paused` by its owner or operator, `off` by the service. */
  state: v.picklist(['new', 'on', 'paused', 'off']),
  /** Reason for `off`: the receiver answered 410, or had no success for five days. */
  off_reason: v.optional(v.picklist(['gone', 'failing'])),
  /** Without a cursor it begins at the end of the log, and says `log.restarted`. */
  cursor: v.optional(LogCursor),
  /** Time of the registration, which orders the index. */
  since: v.string(),
  /** The lease: until then one run alone sends. */
  leased_until: v.optional(v.string()),
  /** Time at which the cursor was lost, until the receiver has taken `log.restarted`. */
  restarted_at: v.optional(v.string()),
  /** Time of the next attempt after a failure. */
  retry_at: v.optional(v.string()),
  /** Failed attempts since the last success, and the time of the first. Tests count if new. */
  failures: v.number(),
  failing_since: v.optional(v.string()),
  /** The message of the last failure, which its owner may skip. */
  stuck: v.optional(v.object({ id: v.string(), type: v.string() })),
  /** The last requests, the newest last. */
  attempts: v.optional(v.array(Attempt), []),
  /** Time of the next test, until it was sent. */
  test_due: v.optional(v.string()),
  /** A message that its owner wants again, until it was sent, and the time of the wish. */
  resend: v.optional(v.object({ id: v.string(), type: v.string(), asked: v.string() })),
  /** The last replay: the time at which it was asked for. Older code reads where it ends. */
  replay: v.optional(v.object({ asked: v.string(), until: LogCursor })),
  /** Rises with every write. */
  version: v.number(),
});
export type Webhook = v.InferOutput<typeof Webhook>;

/** Returns the secret ids that sign now, the newest first. */
export function signingIds(webhook: Webhook): string[] {
  const previous = previousSecret(webhook);
  return previous ? [webhook.secret_id, previous.secret_id] : [webhook.secret_id];
}

/** Returns a webhook with those of its types that its owner may be sent. */
export function withTypesFor(webhook: Webhook, isModerator: boolean): Webhook {
  const allowed = typesFor(isModerator);
  return { ...webhook, types: webhook.types.filter((type) => allowed.includes(type)) };
}

/** Returns the attempts to store after more of them. */
export function withAttempts({ attempts }: Webhook, more: readonly Attempt[]): Attempt[] {
  return [...attempts, ...more].slice(-mostAttempts);
}

/** Returns the part of a webhook that an export holds: the choices of its owner. */
export function withoutCursor(webhook: Webhook): Webhook {
  const lasting = pick(webhook, [
    'id',
    'client_id',
    'slot',
    'user_id',
    'address',
    'types',
    'entity_id',
    'author_id',
    'created',
    'secret_id',
    'previous_secret',
    'state',
    'off_reason',
  ]);
  return { ...lasting, since: webhook.created, failures: 0, attempts: [], version: 1 };
}

/** Index attributes: active webhooks and those to test, by the time of the next attempt. */
export function listedIn(webhook: Webhook): Pick<IndexAttributes, 'all' | 'date' | 'kind'> {
  const { id, state, test_due, resend, retry_at, cursor, restarted_at, since } = webhook;
  if (state !== 'on' && !test_due && !resend) return {};
  const isBehind = test_due || resend || retry_at || restarted_at || !cursor;
  return {
    all: 'WEBHOOK',
    date: `${test_due ?? resend?.asked ?? retry_at ?? since}#${id}`,
    kind: isBehind ? 'due' : markOf(cursor),
  };
}

/** Returns the id of a webhook from its entry in the index. */
export function webhookIdIn({ date = '' }: Pick<IndexAttributes, 'date'>): string {
  return date.slice(date.indexOf('#') + 1);
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
