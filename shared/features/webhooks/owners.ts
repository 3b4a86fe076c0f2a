import { batchGet } from '../../base/table/batch.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { applicationKey, userKey } from '../../core/keys.ts';
import { type Webhook, withTypesFor } from './webhook.ts';

// Owners of webhooks: of an application and its account, which may be gone or blocked.

/**
 * Returns the webhooks that may send: their owners exist and are not blocked. Of their types, each
 * has those that its owner may be sent now. Half a unit for each of two items.
 */
export async function withActiveOwner(webhooks: readonly Webhook[]): Promise<Webhook[]> {
  const clients = new Set(webhooks.map(({ client_id }) => client_id));
  const users = new Set(webhooks.map(({ user_id }) => user_id));
  const keys = [...Array.from(clients, applicationKey), ...Array.from(users, userKey)];
  const attributes = ['user_id', 'deleted_at', 'blocked_at', 'is_moderator'];
  const items = await batchGet(keys, { attributes });
  return webhooks.flatMap((webhook) => {
    const application = items.get(keyString(applicationKey(webhook.client_id)));
    const user = items.get(keyString(userKey(webhook.user_id)));
    const isModerator = user?.is_moderator === true;
    return isActive(webhook, application, user) ? [withTypesFor(webhook, isModerator)] : [];
  });
}

/** Decides on the owner of a webhook by the items of its application and account. */
export function isActive(
  { user_id }: Pick<Webhook, 'user_id'>,
  application: Partial<Item> | undefined,
  user: Partial<Item> | undefined,
): boolean {
  if (application?.user_id !== user_id || !user) return false;
  return user.deleted_at === undefined && user.blocked_at === undefined;
}
