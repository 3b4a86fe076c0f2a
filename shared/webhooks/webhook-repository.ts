import { randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { findPlaces, readHeads } from '../changes/log.ts';
import { cursorLifetime, readWindow } from '../changes/window.ts';
import { ApiError, invalidRequest, notFound } from '../errors.ts';
import { getOwnApplication } from '../oauth/application-repository.ts';
import { applicationKey, webhookKey, webhookSlots } from '../table/keys.ts';
import { collect, queryItems } from '../table/query.ts';
import { putNew, retryStale, transact, type Write } from '../table/transact.ts';
import { checkWriter, type Writer, writeAs } from '../user/writer.ts';
import { messageIdOf, restartMessage } from './message.ts';
import {
  listedIn,
  type MessageType,
  noFailures,
  signingIds,
  typeOf,
  updateOf,
  Webhook,
  type WebhookForm,
} from './webhook.ts';

// Webhooks in the table: what their owners and operators do.

/** Most changed reviews to count ahead of a webhook, and to search for its next message. */
const mostAhead = 100;

/** Attributes that name a webhook and its owner. */
type WebhookId = Pick<Webhook, 'client_id' | 'id' | 'user_id'>;

/** Lists the webhooks of an application, at most two, or all of them. */
export async function listWebhooks(
  clientId?: string,
  { consistent = true }: { consistent?: boolean } = {},
): Promise<Webhook[]> {
  const items = await collect(queryItems(webhookKey(clientId), { consistent }));
  return items.map((item) => v.parse(Webhook, item));
}

/** Throws ApiError 404 if there is none, or another user owns its application. */
export async function getOwnWebhook(
  clientId: string,
  id: string,
  userId: string,
): Promise<Webhook> {
  const webhooks = await listWebhooks(clientId);
  const webhook = webhooks.find((each) => each.id === id && each.user_id === userId);
  if (!webhook) throw notFound('Webhook');
  return webhook;
}

/**
 * Stores a webhook with a test due: it begins when the test has succeeded. The same address gives
 * the existing webhook. Throws ApiError 404 if another user owns the application, 400 if it has two
 * webhooks, 403 if the account is blocked.
 */
export function insertWebhook(
  clientId: string,
  userId: string,
  { address, types }: WebhookForm,
): Promise<Webhook> {
  return writeAs(userId, (writer) =>
    retryStale(async () => {
      requireTypes(types);
      await getOwnApplication(clientId, userId);
      const existing = await listWebhooks(clientId);
      const same = existing.find((each) => each.address === address);
      if (same) return same;
      const slot = webhookSlots.find((each) => existing.every((webhook) => webhook.slot !== each));
      if (!slot) {
        throw invalidRequest('An application can have at most 2 webhooks: delete one first');
      }
      const created = new Date().toISOString();
      const webhook: Webhook = {
        id: randomUUID(),
        client_id: clientId,
        slot,
        user_id: userId,
        address,
        types,
        created,
        since: created,
        secret_id: newSecretId(),
        state: 'new',
        failures: 0,
        test_due: created,
        version: 1,
      };
      await transact([
        putNew({ ...webhookKey(clientId, slot), ...listedIn(webhook), ...webhook }),
        { ConditionCheck: { Key: applicationKey(clientId), was: { user_id: userId } } },
        checkWriter(userId, writer),
      ]);
      return webhook;
    }),
  );
}

/** Changes address and types. A new address is tested before anything else is sent to it. */
export function updateWebhook(webhook: WebhookId, form: WebhookForm): Promise<void> {
  const { address, types } = form;
  return writeAs(webhook.user_id, (writer) =>
    change(
      webhook,
      (before) => {
        requireTypes(types);
        if (address === before.address) return { types };
        return { address, types, state: 'new', test_due: now(), ...noFailures };
      },
      writer,
    ),
  );
}

/** Asks for a test, which the next run sends. */
export function testWebhook(webhook: WebhookId): Promise<void> {
  return change(webhook, () => ({ test_due: now() }));
}

/** Stops a webhook until it is continued. Changes nothing unless it is on. */
export function pauseWebhook(webhook: WebhookId): Promise<void> {
  return change(webhook, ({ state }) => (state === 'on' ? { state: 'paused' } : undefined));
}

/** Continues where the webhook stood. Changes nothing if it is on, or new. */
export function continueWebhook(webhook: WebhookId): Promise<void> {
  return change(webhook, ({ state }) => {
    if (state !== 'paused' && state !== 'off') return undefined;
    return { state: 'on', off_reason: undefined, since: now(), ...noFailures };
  });
}

/**
 * Sets a webhook back to a time (epoch ms) of the last 30 days. Throws ApiError 400 for another
 * time, or before the webhook has begun.
 */
export async function replayWebhook(webhook: WebhookId, from: number): Promise<void> {
  if (!(from <= Date.now() && from > Date.now() - cursorLifetime)) {
    throw invalidRequest('The time must be within the last 30 days');
  }
  const lanes = await findPlaces(from);
  await change(webhook, ({ state }) => {
    if (state === 'new') throw invalidRequest('The webhook has not begun: test it first');
    return { position: { lanes }, since: now(), stuck: undefined };
  });
}

/**
 * Takes their places from all webhooks, because the table is an older copy: receivers are told that
 * the log has restarted. Nothing else may write meanwhile.
 */
export async function restartWebhooks(): Promise<void> {
  for (const webhook of await listWebhooks()) {
    await transact([{ Update: updateOf(webhook, { position: undefined }) }]);
  }
}

/**
 * Goes on after the message with this id, unless it is no longer the one that fails. If the review
 * has changed since, its message has become another one, which is sent instead.
 */
export async function skipMessage(webhook: WebhookId, messageId: string): Promise<void> {
  const heads = await readHeads();
  await change(webhook, async (before) => {
    const { stuck, position, types } = before;
    if (stuck?.id !== messageId) return undefined;
    const next = { stuck: undefined, retry_at: undefined };
    if (before.restarted_at && stuck.id === restartMessage(before).id) {
      return { restarted_at: undefined, ...next };
    }
    if (!position) return next;
    const { changed, end } = await readWindow({ time: Date.now(), ...position }, heads, mostAhead);
    const first = changed.findIndex(({ change: { kind } }) => types.includes(typeOf(kind)));
    const found = changed[first];
    if (!found || messageIdOf(found.change) !== messageId) return next;
    return { position: changed[first + 1]?.before ?? end, ...next };
  });
}

/**
 * Makes a new secret; the old one signs beside it for a day. Throws ApiError 400 while two secrets
 * sign.
 */
export function rotateWebhookSecret(webhook: WebhookId): Promise<void> {
  return change(webhook, (before) => {
    if (signingIds(before).length > 1) {
      throw invalidRequest('There are two secrets already: wait until the old one has ended');
    }
    const until = new Date(Date.now() + 86_400_000).toISOString();
    return {
      secret_id: newSecretId(),
      previous_secret: { secret_id: before.secret_id, until },
    };
  });
}

/** Deletes a webhook. Its owner can delete it even if the account is blocked. */
export async function deleteWebhook({ client_id, id, user_id }: WebhookId): Promise<void> {
  const { slot } = await getOwnWebhook(client_id, id, user_id);
  await retryStale(() => transact([{ Delete: { Key: webhookKey(client_id, slot), was: { id } } }]));
}

/**
 * Counts the changed reviews that lie ahead of a webhook, up to 100. Returns undefined if it has no
 * place, or lost it.
 */
export async function countAhead({
  position,
}: Webhook): Promise<{ count: number; isMore: boolean } | undefined> {
  if (!position) return undefined;
  try {
    const from = { time: Date.now(), ...position };
    const { changed, hasMore } = await readWindow(from, await readHeads(), mostAhead);
    return { count: changed.length, isMore: hasMore };
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return undefined;
    throw error;
  }
}

/** Changes a webhook, again if something else has written meanwhile. Undefined changes nothing. */
async function change(
  { client_id, id, user_id }: WebhookId,
  changeOf: (
    before: Webhook,
  ) => Promise<Partial<Webhook> | undefined> | Partial<Webhook> | undefined,
  writer?: Writer,
): Promise<void> {
  await retryStale(async () => {
    const before = await getOwnWebhook(client_id, id, user_id);
    const changes = await changeOf(before);
    if (!changes) return;
    const writes: Write[] = [{ Update: updateOf(before, changes) }];
    if (writer) writes.push(checkWriter(user_id, writer));
    await transact(writes);
  });
}

function requireTypes(types: readonly MessageType[]): void {
  if (types.length === 0) throw invalidRequest('Choose at least one kind of change');
}

const now = () => new Date().toISOString();
const newSecretId = () => randomBytes(16).toString('hex');
