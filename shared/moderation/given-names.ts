// The names that a person gave and proposed, for moderators.
import { type EntityRecord, entityOf, recordIn } from '../entity/record.ts';
import { type ListPage, readPage } from '../list/read-page.ts';
import { getItems } from '../table/batch.ts';
import type { SortKey } from '../table/item.ts';
import { parseItems } from '../table/parse.ts';
import { type OpenProposal, Proposal, withRecords } from './proposal.ts';

type Page<T> = Pick<ListPage, 'next'> & { found: T[] };

/** Reads a page of the records that have a name by this person, the newest first. */
export async function listNamed(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Page<EntityRecord>> {
  const { items, next } = await readItems('NAMER', userId, limit, after);
  const found = items.flatMap((item) => {
    const entity = entityOf(item.pk);
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
  const { items, next } = await readItems('PROPOSER', userId, limit, after);
  return { found: await withRecords(parseItems(Proposal, items)), next };
}

async function readItems(list: string, userId: string, limit: number, after?: SortKey) {
  const { entries, next } = await readPage(
    { partitions: [{ scope: 'author', value: `${list}#${userId}` }] },
    { order: 'date', descending: true, offset: 0, limit, after },
  );
  const items = await getItems(entries, { consistent: true });
  return { items: items.flatMap((item) => item ?? []), next };
}
