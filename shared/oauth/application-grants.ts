import * as v from 'valibot';
import { batchDelete } from '../table/batch.ts';
import { deleteItems, eraseWhile } from '../table/erase.ts';
import type { Key } from '../table/item.ts';
import { applicationKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import { Application } from './application.ts';

const maxCounted = 500;

/** Revokes users' grants to an application, at most `most` if given. */
export async function deleteGrantsOf(clientId: string, most?: number): Promise<void> {
  const entries = await collect(grantsOf(clientId), most);
  await batchDelete(entries);
}

/** Lists users' grants to an application, at most those up to `until` (ISO 8601) if given. */
function grantsOf(clientId: string, until?: string): AsyncGenerator<Key[]> {
  // A grant's id follows the time.
  const range = until === undefined ? {} : { high: `${until}#~` };
  return queryIndex('author-by-date', `CLIENT#${clientId}`, { range });
}

/**
 * Revokes the remaining grants of a deleted or revoked application, and returns their number. If a
 * repeated form or an import has restored the application, its grants stay.
 */
export async function eraseGrants(clientId: string): Promise<number> {
  const item = await getItem(applicationKey(clientId));
  const application = item && v.parse(Application, item);
  if (application && application.revoked_at === undefined) return 0;
  const until = application?.revoked_at;
  const was = until === undefined ? { pk: undefined } : { revoked_at: until };
  let revoked = 0;
  await eraseWhile({ Key: applicationKey(clientId), was }, async (isGone) => {
    const grants = await collect(grantsOf(clientId, until));
    await deleteItems(grants, isGone);
    revoked = grants.length;
  });
  return revoked;
}

/**
 * Counts people that an application acts for, or says that there are more. Costs at most 12 read
 * units.
 */
export async function countPeople(clientId: string): Promise<{ count: number; isMore: boolean }> {
  const pages = queryIndex('author-by-date', `CLIENT#${clientId}`, { pageSize: maxCounted });
  const grants = await collect(pages, maxCounted);
  const count = new Set(grants.map(({ pk }) => pk)).size;
  return { count, isMore: grants.length === maxCounted };
}
