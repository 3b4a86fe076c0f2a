import * as v from 'valibot';
import { batchDelete } from '../table/batch.ts';
import { deleteItems, eraseWhile } from '../table/erase.ts';
import type { Key } from '../table/item.ts';
import { applicationKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import { Application } from './application.ts';

/** Number of grants that are read to count people. */
const mostCounted = 500;

/** Revokes what users have granted to an application: all, or so many. */
export async function deleteGrantsOf(clientId: string, most?: number): Promise<void> {
  const entries = await collect(grantsOf(clientId), most);
  await batchDelete(entries);
}

/** Grants of users to an application: all, or those `until` a time, ISO 8601. */
function grantsOf(clientId: string, until?: string): AsyncGenerator<Key[]> {
  // Behind the time comes the id of a grant.
  const range = until === undefined ? {} : { high: `${until}#~` };
  return queryIndex('author-by-date', `CLIENT#${clientId}`, { range });
}

/**
 * Revokes the grants that are left of an application that is gone, or was revoked for everybody;
 * gives their number. The same form sent again, or an import, brings an application back: then its
 * grants are left.
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
 * Number of people an application may act for; of a crowd that there are more. It costs 12 read
 * units at most.
 */
export async function countPeople(clientId: string): Promise<{ count: number; isMore: boolean }> {
  const pages = queryIndex('author-by-date', `CLIENT#${clientId}`, { pageSize: mostCounted });
  const grants = await collect(pages, mostCounted);
  const count = new Set(grants.map(({ pk }) => pk)).size;
  return { count, isMore: grants.length === mostCounted };
}
