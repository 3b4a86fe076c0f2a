import { eraseGrants } from '../oauth/application-grants.ts';
import { findApplication } from '../oauth/application-repository.ts';
import { nobody } from '../oauth/personal-token-repository.ts';
import { eraseEntity, eraseRemains, isEmpty } from '../review/erase.ts';
import { finishDeletion } from '../review/review-repository.ts';
import type { Item } from '../table/item.ts';
import { idIn, reviewKey } from '../table/keys.ts';
import { getItem, scanItems } from '../table/query.ts';
import { findUser } from '../user/user-repository.ts';
import { eraseAccount } from './erase-account.ts';

/** Ids of what has been deleted and has, or may have, left something behind. */
export interface Leftovers {
  users: string[];
  reviews: string[];
  applications: string[];
  entities: string[];
}

/** Ids of what is in the table, and of what the other items in it belong to. */
interface Seen {
  present: Set<string>;
  named: Set<string>;
}

/**
 * Does again what the eraser has not done, and gives of how many it did; what has not been deleted is left alone. Can be stopped
 * anywhere and repeated.
 */
export async function eraseLeftovers({
  users = [],
  reviews = [],
  applications = [],
  entities = [],
}: Partial<Leftovers>): Promise<Record<keyof Leftovers, number>> {
  return {
    users: await countOf(users, async (id) => {
      if (await findUser(id)) return false;
      await eraseAccount(id);
      return true;
    }),
    reviews: await countOf(reviews, async (id) => {
      await finishDeletion(id);
      if (await getItem(reviewKey(id))) return false;
      await eraseRemains(id);
      return true;
    }),
    applications: await countOf(applications, async (id) => {
      const revoked = await eraseGrants(id);
      return revoked > 0 || !(await findApplication(id));
    }),
    entities: await countOf(entities, eraseEntity),
  };
}

/** Finds all that may have been left behind, by reading the whole table. `onProgress` gets the number of items read so far. */
export async function findLeftovers(
  onProgress: (items: number) => void = () => {},
): Promise<Leftovers> {
  const users: Seen = { present: new Set(), named: new Set() };
  const reviews: Seen = { present: new Set(), named: new Set() };
  const applications: Seen = { present: new Set([nobody]), named: new Set() };
  const entities: string[] = [];
  const revoked: string[] = [];
  /** The things that an item is a part of, or names, by the kind of the item. */
  const belongsTo: Record<string, readonly Seen[]> = {
    REVISION: [reviews],
    CASE: [reviews],
    VOTE: [reviews, users],
    REPORT: [reviews, users],
    GRANT: [users, applications],
    CLAIM: [users],
    CONTACT: [users],
    VOTES: [users],
  };
  const things: Record<string, Seen> = { USER: users, REVIEW: reviews, APP: applications };
  const note = (item: Item): void => {
    const id = idIn(item);
    const [kind = '', of = ''] = item.sk.split('#');
    things[kind]?.[item.deleted_at === undefined ? 'present' : 'named'].add(id);
    for (const [i, seen] of belongsTo[kind]?.entries() ?? []) seen.named.add(i === 0 ? id : of);
    // Of an account that has been erased a decision is listed no more.
    const isOwned = ['REVIEW', 'APP'].includes(kind) || (kind === 'DECISION' && item.author);
    if (isOwned) users.named.add(String(item.user_id));
    if (kind === 'APP' && item.revoked_at !== undefined) revoked.push(id);
    if (kind === 'ENTITY' && isEmpty(item)) entities.push(id);
  };
  let read = 0;
  for await (const { items } of scanItems()) {
    for (const item of items) note(item);
    read += items.length;
    onProgress(read);
  }
  return {
    users: missing(users),
    reviews: missing(reviews),
    applications: [...missing(applications), ...revoked],
    entities,
  };
}

function missing({ present, named }: Seen): string[] {
  return [...named].filter((id) => !present.has(id));
}

/** For how many of these ids something was done. */
async function countOf(
  ids: readonly string[],
  erase: (id: string) => Promise<boolean>,
): Promise<number> {
  let count = 0;
  for (const id of ids) count += Number(await erase(id));
  return count;
}
