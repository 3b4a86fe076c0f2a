// The names that a person gave and proposed, for moderators.
import { type EntityRecord, entityOf, recordIn } from '../entity/record.ts';
import { type ListPage, readNewest } from '../list/read-page.ts';
import { getItems } from '../table/batch.ts';
import type { SortKey } from '../table/item.ts';
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
