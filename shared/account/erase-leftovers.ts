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
  const note = (item: Item): void => {
    const id = idIn(item);
    const [kind = '', of = ''] = item.sk.split('#');
    switch (kind) {
      case 'USER':
        (item.deleted_at === undefined ? users.present : users.named).add(id);
        break;
      case 'REVIEW':
        (item.deleted_at === undefined ? reviews.present : reviews.named).add(id);
        users.named.add(String(item.user_id));
        break;
      case 'APP':
        applications.present.add(id);
        if (item.revoked_at !== undefined) revoked.push(id);
        users.named.add(String(item.user_id));
        break;
      case 'REVISION':
      case 'CASE':
        reviews.named.add(id);
        break;
      case 'DECISION':
        // Of an account that has been erased it is listed no more.
        if (item.author !== undefined) users.named.add(String(item.user_id));
        break;
      case 'VOTE':
      case 'REPORT':
        reviews.named.add(id);
        users.named.add(of);
        break;
      case 'GRANT':
        applications.named.add(of);
        users.named.add(id);
        break;
      case 'CLAIM':
      case 'CONTACT':
      case 'VOTES':
        users.named.add(id);
        break;
      case 'ENTITY':
        if (isEmpty(item)) entities.push(id);
    }
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
