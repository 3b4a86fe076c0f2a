// The names that a person gave and proposed, for moderators.

import { type ListPage, readNewest } from '../../base/list/read-page.ts';
import { getItems } from '../../base/table/batch.ts';
import type { SortKey } from '../../base/table/item.ts';
import { type EntityRecord, entityOf, recordIn } from '../../core/entity/record.ts';
import { listOwnProposals } from './own-corrections.ts';
import { type OpenProposal, withRecords } from './proposal.ts';

type Page<T> = Pick<ListPage, 'next'> & { found: T[] };

/** Reads a page of the records that have a name by this person, the newest first. */
export async function listNamed(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Page<EntityRecord>> {
  const list = { scope: 'author', value: `NAMER#${userId}` } as const;
  const { entries, next } = await readNewest(list, limit, after);
  const items = await getItems(entries, { consistent: true });
  const found = items.flatMap((item) => {
    const entity = item && entityOf(item.pk);
    return (entity && recordIn(entity, item)) ?? [];
  });
  return { found: found.filter(({ user_id }) => user_id === userId), next };
}

/** Reads a page of the open proposals by this person, the newest first. */
export async function listProposed(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Page<OpenProposal>> {
  const { proposals, next } = await listOwnProposals(userId, limit, after);
  return { found: await withRecords(proposals), next };
}
