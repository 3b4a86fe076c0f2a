import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { ApiError, accessDenied, invalidRequest, notFound } from '../../base/errors.ts';
import type { Item } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import { collect, getItem, queryItems } from '../../base/table/query.ts';
import { putNew, retryStale, transact, type Write } from '../../base/table/transact.ts';
import { applicationKey, userKey, webhookKey, webhookSlots } from '../../core/keys.ts';
import { newSecretId } from '../../core/oauth/application.ts';
import { getOwnApplication } from '../../core/oauth/application-repository.ts';
import { parseUser } from '../../core/user/user.ts';
import { canModerate } from '../../core/user/user-type.ts';
import { checkWriter, type Writer, writeAs } from '../../core/user/writer.ts';
import { type LogCursor, type LogWindow, readLogEnd, readWindow } from '../changes/public.ts';
import { noFailures, wants } from './decisions.ts';
import { listedIn, typesFor, updateOf, Webhook, type WebhookForm } from './webhook.ts';

// Webhooks in the table: reading, registering, changing and deleting them.

/** Most changes to count ahead of a webhook. */
const mostAhead = 100;

/** Changes of a window of the log. Those of a review come as one, so the size decides on its id. */
export const windowSize = 20;

/** Attributes that name a webhook and its owner. */
export type WebhookId = Pick<Webhook, 'client_id' | 'id' | 'user_id'>;

/** Lists the webhooks of an application, at most two, or all of them. */
export async function listWebhooks(
  clientId?: string,
  { consistent = true }: { consistent?: boolean } = {},
): Promise<Webhook[]> {
  return parseItems(Webhook, await readItems(clientId, consistent));
}

function readItems(clientId = '', consistent = true): Promise<Item[]> {
  return collect(queryItems(webhookKey(clientId, ''), { consistent }));
}

/** Throws ApiError 404 if there is none, or another user owns its application. */
export async function getOwnWebhook(
  clientId: string,
  id: string,
  userId: string,
): Promise<Webhook> {
  const items = await readItems(clientId);
  const item = items.find((each) => each.id === id && each.user_id === userId);
  if (!item) throw notFound('Webhook');
  return v.parse(Webhook, item);
}

/**
 * Stores a webhook with a test due: it begins when the test has succeeded. The same address gives
 * the existing webhook. Throws ApiError 404 if another user owns the application, 400 if it has two
 * webhooks, 403 if the account is blocked or may not choose one of the types.
 */
export function insertWebhook(
  clientId: string,
  userId: string,
  form: WebhookForm,
): Promise<Webhook> {
  return writeAs(userId, (writer) =>
    retryStale(async () => {
      await checkForm(userId, form);
      await getOwnApplication(clientId, userId);
      const items = await readItems(clientId);
      const same = items.find(({ address }) => address === form.address);
      if (same) return v.parse(Webhook, same);
      const slot = webhookSlots.find((each) => items.every((item) => item.slot !== each));
      if (!slot) {
        throw invalidRequest('An application can have at most 2 webhooks: delete one first');
      }
      const created = new Date().toISOString();
      const webhook: Webhook = {
        id: randomUUID(),
        client_id: clientId,
        slot,
        user_id: userId,
        ...form,
        created,
        since: created,
        secret_id: newSecretId(),
        state: 'new',
        failures: 0,
        attempts: [],
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

/**
 * Changes what the owner has chosen. A new address is tested before anything else is sent to it.
 * Throws ApiError 403 if the account is blocked or may not choose one of the types.
 */
export function updateWebhook(webhook: WebhookId, form: WebhookForm): Promise<void> {
  return changeAsOwner(webhook, async (before) => {
    await checkForm(webhook.user_id, form);
    const { address, types, entity_id, author_id } = form;
    const chosen = { address, types, entity_id, author_id };
    if (address === before.address) return chosen;
    return { ...chosen, state: 'new', test_due: now(), resend: undefined, ...noFailures };
  });
}

/** Deletes a webhook. Its owner can delete it even if the account is blocked. */
export async function deleteWebhook({ client_id, id, user_id }: WebhookId): Promise<void> {
  const { slot } = await getOwnWebhook(client_id, id, user_id);
  await retryStale(() => transact([{ Delete: { Key: webhookKey(client_id, slot), was: { id } } }]));
}

/**
 * Counts the changes that lie ahead of a webhook, up to 100. Returns undefined if it has no cursor,
 * or lost it.
 */
export async function countAhead(
  webhook: Webhook,
): Promise<{ count: number; isMore: boolean } | undefined> {
  const window = await readAhead(webhook, await readLogEnd(), { limit: mostAhead });
  return window && { count: window.changed.length, isMore: window.hasMore };
}

/** A window for messages. After a crash it is read again, and no version may go back then. */
const messageWindow = { limit: windowSize, isOfOneLane: true };

/** Reads the next changes that a webhook wants. Undefined if it has no cursor, or lost it. */
export async function readAhead(
  webhook: Webhook,
  end: LogCursor,
  options: { limit: number; isOfOneLane?: boolean } = messageWindow,
): Promise<LogWindow | undefined> {
  if (!webhook.cursor) return undefined;
  try {
    return await readWindow(webhook.cursor, end, {
      ...options,
      wanted: (change) => wants(webhook, change),
    });
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return undefined;
    throw error;
  }
}

/** Returns the change of a webhook as it is now, if any. */
type ChangeOf = (
  before: Webhook,
) => Promise<Partial<Webhook> | undefined> | Partial<Webhook> | undefined;

/** Changes a webhook in the name of its owner. Throws ApiError 403 if the account is blocked. */
export function changeAsOwner(webhook: WebhookId, changeOf: ChangeOf): Promise<void> {
  return writeAs(webhook.user_id, (writer) => changeWebhook(webhook, changeOf, writer));
}

/** Changes a webhook, again if something else has written meanwhile. */
export async function changeWebhook(
  { client_id, id, user_id }: WebhookId,
  changeOf: ChangeOf,
  writer?: Writer,
): Promise<void> {
  await retryStale(async () => {
    const before = await getOwnWebhook(client_id, id, user_id);
    const change = await changeOf(before);
    if (!change) return;
    const writes: Write[] = [{ Update: updateOf(before, change) }];
    if (writer) writes.push(checkWriter(user_id, writer));
    await transact(writes);
  });
}

async function checkForm(
  userId: string,
  { types, entity_id, author_id }: WebhookForm,
): Promise<void> {
  if (types.length === 0) throw invalidRequest('Choose at least one kind of change');
  if (entity_id !== undefined && author_id !== undefined) {
    throw invalidRequest('Name an entity or an author, not both');
  }
  const anybodys = typesFor(false);
  if (types.every((type) => anybodys.includes(type))) return;
  // A moderator who is none by the time of a message is not sent it.
  const user = parseUser(await getItem(userKey(userId)));
  if (!user || !canModerate(user)) {
    throw accessDenied('Only moderators can choose messages about moderation cases');
  }
}

const now = () => new Date().toISOString();
