// Finds and finishes erasures that were interrupted, by a look through the whole table.
import { hideAll } from '../moderation/hide-all.ts';
import { eraseGrants, findApplication } from '../oauth/application-repository.ts';
import { nobody } from '../oauth/grant.ts';
import { eraseEntity, eraseRemains, isEmpty } from '../review/erase.ts';
import { finishDeletion } from '../review/review-repository.ts';
import { deleteItems, eraseWhile } from '../table/erase.ts';
import type { Item } from '../table/item.ts';
import { applicationKey, idIn, reviewKey, webhookKey, webhookSlots } from '../table/keys.ts';
import { getItem, scanItems } from '../table/query.ts';
import { findUser } from '../user/user-repository.ts';
import { eraseAccount } from './erase-account.ts';

/**
 * Ids of deleted things that may have left items behind, and in `hiding` of accounts whose reviews
 * are to be hidden.
 */
export type Leftovers = Record<
  'users' | 'reviews' | 'applications' | 'entities' | 'hiding',
  string[]
>;

/** Kinds of items that name their owner, if a person owns them. */
const owned = ['REVIEW', 'APP', 'HOOK', 'METADATA'];

/** Ids of things in the table, and of things that other items name. */
function idSets(...present: string[]) {
  return { present: new Set(present), referenced: new Set<string>() };
}
type IdSets = ReturnType<typeof idSets>;

/** Repeats incomplete erasures; returns their numbers. Things that still exist stay. Repeatable. */
export async function eraseLeftovers(
  leftovers: Partial<Leftovers>,
): Promise<Record<keyof Leftovers, number>> {
  const { users = [], reviews = [], applications = [], entities = [], hiding = [] } = leftovers;
  return {
    users: await countErased(users, async (id) => {
      if (await findUser(id)) return false;
      await eraseAccount(id);
      return true;
    }),
    reviews: await countErased(reviews, async (id) => {
      await finishDeletion(id);
      if (await getItem(reviewKey(id))) return false;
      await eraseRemains(id);
      return true;
    }),
    applications: await countErased(applications, async (id) => {
      const revoked = await eraseGrants(id);
      if (await findApplication(id)) return revoked > 0;
      await eraseWebhooks(id);
      return true;
    }),
    entities: await countErased(entities, eraseEntity),
    hiding: await countErased(hiding, async (id) => {
      await hideAll(id);
      return true;
    }),
  };
}

/** Deletes the webhooks of an application that does not exist. */
async function eraseWebhooks(client: string): Promise<void> {
  const isMissing = { Key: applicationKey(client), was: { pk: undefined } };
  const keys = webhookSlots.map((slot) => webhookKey(client, slot));
  await eraseWhile(isMissing, (isGone) => deleteItems(keys, isGone));
}

/** Reads the whole table for possible leftovers. `onProgress` gets the number of items so far. */
export async function findLeftovers(
  onProgress: (items: number) => void = () => {},
): Promise<Leftovers> {
  const users = idSets();
  const reviews = idSets();
  const applications = idSets(nobody);
  /** Things that stay without those who wrote about them. */
  const lasting = idSets();
  const entities: string[] = [];
  const hiding: string[] = [];
  const revoked: string[] = [];
  /** Things that an item's partition key and sort key name, in this order, by kind of item. */
  const belongsTo: Record<string, readonly IdSets[]> = {
    REVISION: [reviews],
    LONGTEXT: [reviews],
    CASE: [reviews],
    WAITING: [reviews],
    VOTE: [reviews, users],
    REPORT: [reviews, users],
    GRANT: [users, applications],
    CLAIM: [users],
    CONTACT: [users],
    COUNTS: [users],
    VOTES: [users],
    PROPOSAL: [lasting, users],
    HOOK: [lasting, applications],
  };
  const setsByKind: Record<string, IdSets> = { USER: users, REVIEW: reviews, APP: applications };
  const note = (item: Item): void => {
    const id = idIn(item);
    const [kind = '', idInSortKey = ''] = item.sk.split('#');
    setsByKind[kind]?.[item.deleted_at === undefined ? 'present' : 'referenced'].add(id);
    for (const [i, sets] of belongsTo[kind]?.entries() ?? []) {
      sets.referenced.add(i === 0 ? id : idInSortKey);
    }
    // Decisions on an erased account still name it, but have no `author`.
    const isOwned = owned.includes(kind) || (kind === 'DECISION' && item.author);
    if (isOwned && item.user_id !== undefined) users.referenced.add(String(item.user_id));
    if (kind === 'APP' && item.revoked_at !== undefined) revoked.push(id);
    if (kind === 'ENTITY' && isEmpty(item)) entities.push(id);
    if (kind === 'USER' && item.hiding !== undefined) hiding.push(id);
  };
  let read = 0;
  for await (const { items } of scanItems()) {
    for (const item of items) note(item);
    read += items.length;
    onProgress(read);
  }
  const missing = ({ present, referenced }: IdSets) =>
    [...referenced].filter((id) => !present.has(id));
  return {
    users: missing(users),
    reviews: missing(reviews),
    applications: [...missing(applications), ...revoked],
    entities,
    hiding,
  };
}

async function countErased(ids: readonly string[], erase: (id: string) => Promise<boolean>) {
  let count = 0;
  for (const id of ids) {
    if (await erase(id)) count++;
  }
  return count;
}
