// Proposals to correct a name: stored ones, and their list for moderators.
import * as v from 'valibot';
import { type Entity, EntityRecord, recordIn, recordKey } from '../entity/record.ts';
import { type ListPage, type ListPlan, readPage } from '../list/read-page.ts';
import { pick } from '../pick.ts';
import { batchGet, getItems } from '../table/batch.ts';
import { type Item, type Key, keyString, type SortKey } from '../table/item.ts';
import { proposalKey } from '../table/keys.ts';
import { parseItems } from '../table/parse.ts';
import type { Write } from '../table/transact.ts';

const { entity_id, entity_type, name, about, url } = EntityRecord.entries;

/** A proposal as stored. Each person has at most one for each entity. */
export const Proposal = v.object({
  entity_id,
  entity_type,
  /** The person who proposes it. */
  user_id: v.string(),
  name,
  about,
  url,
  /** Words for moderators, which may be all that the person wants to say. */
  note: v.string(),
  proposed_at: v.string(),
});
export type Proposal = v.InferOutput<typeof Proposal>;

export const keyOfProposal = ({ entity_type, entity_id, user_id }: Proposal): Key =>
  proposalKey(entity_type, entity_id, user_id);

/** Returns the write that proposes the words of a record, in the place of an earlier proposal. */
export function proposalWrite(
  wanted: EntityRecord,
  { user_id, note }: Pick<Proposal, 'user_id' | 'note'>,
): Write {
  const words = pick(wanted, ['entity_id', 'entity_type', 'name', 'about', 'url']);
  const proposed_at = new Date().toISOString();
  const proposal: Proposal = { ...words, user_id, note, proposed_at };
  const Item = {
    ...keyOfProposal(proposal),
    all: 'PROPOSAL',
    author: `PROPOSER#${user_id}`,
    date: `${proposed_at}#${wanted.entity_id}#${user_id}`,
    ...proposal,
  };
  return { Put: { Item } };
}

/** A proposal, and the record as it is now. */
export interface OpenProposal {
  proposal: Proposal;
  record: EntityRecord | undefined;
}

/** Reads a page of open proposals, the oldest first. */
export async function listProposals(
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { proposals: OpenProposal[] }> {
  const queue: ListPlan = { partitions: [{ scope: 'all', value: 'PROPOSAL' }] };
  const page = { order: 'date', descending: false, offset: 0, limit, after } as const;
  const { entries, next } = await readPage(queue, page);
  const proposals = parseItems(Proposal, await getItems(entries, { consistent: true }));
  return { proposals: await withRecords(proposals), next };
}

async function withRecords(proposals: readonly Proposal[]): Promise<OpenProposal[]> {
  const keys = new Map(proposals.map((each) => [keyString(recordKey(each)), recordKey(each)]));
  const items = await batchGet([...keys.values()], { consistent: true });
  const recordOf = (entity: Entity): EntityRecord | undefined => {
    const item: Item | undefined = items.get(keyString(recordKey(entity)));
    return recordIn(entity, item);
  };
  return proposals.map((proposal) => ({ proposal, record: recordOf(proposal) }));
}
