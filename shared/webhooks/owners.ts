import { batchGet } from '../table/batch.ts';
import { type Item, keyString } from '../table/item.ts';
import { applicationKey, userKey } from '../table/keys.ts';
import { type Webhook, withTypesFor } from './webhook.ts';
import { listWebhooks } from './webhook-repository.ts';

// Owners of webhooks: of an application and its account, which may be gone or blocked.

/** The state of a webhook's owner. Without its application or account, nobody can delete it. */
export type Ownership = 'active' | 'blocked' | 'none';

/**
 * Returns the webhooks that may send: their owners exist and are not blocked. Of their types, each
 * has those that its owner may be sent now.
 */
export async function withActiveOwner(webhooks: readonly Webhook[]): Promise<Webhook[]> {
  const owners = await readOwners(webhooks);
  return webhooks.flatMap((webhook) => {
    const { ownership, isModerator = false } = owners.get(webhook.id) ?? {};
    return ownership === 'active' ? [withTypesFor(webhook, isModerator)] : [];
  });
}

/** Finds webhooks that outlived their application or account, for an audit. */
export async function findOwnerless(): Promise<Webhook[]> {
  const webhooks = await listWebhooks();
  const owners = await readOwners(webhooks, { consistent: true });
  return webhooks.filter((webhook) => owners.get(webhook.id)?.ownership === 'none');
}

/** Reads what owners are, by the id of the webhook. Half a unit for each of two items. */
async function readOwners(webhooks: readonly Webhook[], { consistent = false } = {}) {
  const clients = new Set(webhooks.map(({ client_id }) => client_id));
  const users = new Set(webhooks.map(({ user_id }) => user_id));
  const keys = [...Array.from(clients, applicationKey), ...Array.from(users, userKey)];
  const attributes = ['user_id', 'deleted_at', 'blocked_at', 'is_moderator'];
  const items = await batchGet(keys, { consistent, attributes });
  const states = webhooks.map((webhook) => {
    const application = items.get(keyString(applicationKey(webhook.client_id)));
    const user = items.get(keyString(userKey(webhook.user_id)));
    const ownership = ownershipOf(webhook, application, user);
    return [webhook.id, { ownership, isModerator: user?.is_moderator === true }] as const;
  });
  return new Map(states);
}

/** Decides on the owner of a webhook by the items of its application and account. */
export function ownershipOf(
  { user_id }: Pick<Webhook, 'user_id'>,
  application: Partial<Item> | undefined,
  user: Partial<Item> | undefined,
): Ownership {
  if (application?.user_id !== user_id || !user || user.deleted_at !== undefined) return 'none';
  return user.blocked_at === undefined ? 'active' : 'blocked';
}
