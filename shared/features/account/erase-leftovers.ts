// Finds and finishes erasures that were interrupted, by a look through the whole table.

import { deleteItems, eraseWhile } from '../../base/table/erase.ts';
import type { Item } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { getItem, type Progress, scanItems } from '../../base/table/query.ts';
import { applicationKey, reviewKey, webhookKeys } from '../../core/keys.ts';
import { eraseGrants, findApplication } from '../../core/oauth/application-repository.ts';
import { nobody } from '../../core/oauth/grant.ts';
import { eraseEntity, eraseRemains, isEmpty } from '../../core/review/erase.ts';
import { finishDeletion } from '../../core/review/review-repository.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { idsIn, kindOf } from '../kinds.ts';
import { undoAll } from '../moderation/public.ts';
import { eraseAccount } from './erase-account.ts';

/** Ids of things in the table, and of things that other items name. */
function idSets(...present: string[]) {
  return { present: new Set(present), referenced: new Set<string>() };
}

/** Erasures of one thing. They return false for a thing that exists. */
const erasures = {
  users: async (id: string) => !(await findUser(id)) && eraseAccount(id),
  reviews: async (id: string) => {
    await finishDeletion(id);
    return !(await getItem(reviewKey(id))) && eraseRemains(id);
  },
  applications: async (id: string) => {
    const revoked = await eraseGrants(id);
    if (await findApplication(id)) return revoked > 0;
    const isMissing = { Key: applicationKey(id), was: { pk: undefined } };
    return eraseWhile(isMissing, (isGone) => deleteItems(webhookKeys(id), isGone));
  },
  entities: eraseEntity,
  hiding: undoAll,
};

/**
 * Ids of deleted things that may have left items behind, and in `hiding` of accounts whose reviews
 * are to be hidden.
 */
export type Leftovers = Record<keyof typeof erasures, string[]>;

/** Repeats incomplete erasures; returns their numbers. Things that still exist stay. Repeatable. */
export async function eraseLeftovers(
  leftovers: Partial<Leftovers>,
): Promise<Record<keyof Leftovers, number>> {
  const counts = { users: 0, reviews: 0, applications: 0, entities: 0, hiding: 0 };
  for (const list of Object.keys(counts) as (keyof Leftovers)[]) {
    for (const id of leftovers[list] ?? []) {
      if ((await erasures[list](id)) !== false) counts[list]++;
    }
  }
  return counts;
}

/** Reads the whole table for possible leftovers. `onProgress` gets the number of items so far. */
export async function findLeftovers(onProgress?: Progress): Promise<Leftovers> {
  const sets = { user: idSets(), review: idSets(), application: idSets(nobody) };
  const entities: string[] = [];
  const hiding: string[] = [];
  const revoked: string[] = [];
  const note = (item: Item): void => {
    const kind = kindOf(item);
    if (!kind) return;
    const { user_id, review_id, client_id } = idsIn(kind, item);
    const ids = { user: user_id, review: review_id, application: client_id };
    for (const thing of ['user', 'review', 'application'] as const) {
      const isThere = kind === thing && item.deleted_at === undefined;
      const id = ids[thing];
      if (id !== undefined) sets[thing][isThere ? 'present' : 'referenced'].add(id);
    }
    if (kind === 'application' && item.revoked_at !== undefined) revoked.push(idIn(item));
    if (kind === 'entityCounts' && isEmpty(item)) entities.push(idIn(item));
    if (kind === 'user' && item.hiding !== undefined) hiding.push(idIn(item));
  };
  for await (const { items } of scanItems({ onProgress })) {
    for (const item of items) note(item);
  }
  const missing = ({ present, referenced }: ReturnType<typeof idSets>) =>
    [...referenced].filter((id) => !present.has(id));
  return {
    users: missing(sets.user),
    reviews: missing(sets.review),
    applications: [...missing(sets.application), ...revoked],
    entities,
    hiding,
  };
}
