import * as v from 'valibot';
import { batchDelete } from '../table/batch.ts';
import { deleteItems, eraseWhile } from '../table/erase.ts';
import { applicationKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import { Application } from './application.ts';

const maxCounted = 500;

/** Revokes users' grants to an application, at most `most` if given. */
export async function deleteGrantsOf(clientId: string, most?: number): Promise<void> {
  await batchDelete(await collect(grantsOf(clientId), most));
}

/** Lists users' grants, at most those up to `until` (ISO 8601). In the index, ids follow times. */
function grantsOf(clientId: string, until?: string) {
  const high = until && `${until}#~`;
  return queryIndex('author-by-date', `CLIENT#${clientId}`, { range: { high } });
}

/** Revokes remaining grants of a deleted or revoked application, unless it was restored. */
export async function eraseGrants(clientId: string): Promise<number> {
  const Key = applicationKey(clientId);
  const item = await getItem(Key);
  const until = item && v.parse(Application, item).revoked_at;
  if (item && !until) return 0;
  let revoked = 0;
  const was = until ? { revoked_at: until } : { pk: undefined };
  await eraseWhile({ Key, was }, async (isGone) => {
    const grants = await collect(grantsOf(clientId, until));
    await deleteItems(grants, isGone);
    revoked = grants.length;
  });
  return revoked;
}

/** Counts people that an application acts for, up to a maximum. Costs at most 12 read units. */
export async function countPeople(clientId: string): Promise<{ count: number; isMore: boolean }> {
  const pages = queryIndex('author-by-date', `CLIENT#${clientId}`, { pageSize: maxCounted });
  const grants = await collect(pages, maxCounted);
  const count = new Set(grants.map(({ pk }) => pk)).size;
  return { count, isMore: grants.length === maxCounted };
}
