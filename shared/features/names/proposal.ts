// Proposals to correct a name, as stored.
import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import { batchGet } from '../../base/table/batch.ts';
import { type Item, type Key, keyString } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import type { Write } from '../../base/table/transact.ts';
import { type Entity, EntityRecord, recordIn, recordKey } from '../../core/entity/record.ts';
import { deskPartitions } from '../../core/keys.ts';
import { proposalKey } from './kinds.ts';

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

/** Deletes a proposal, unless the person has made another in its place. */
export function endOf(proposal: Proposal): Write {
  const { proposed_at } = proposal;
  return { Delete: { Key: keyOfProposal(proposal), was: { proposed_at } } };
}

/** Returns the item of a proposal, listed for moderators and for the person. */
export function proposalItem(proposal: Proposal) {
  const { entity_id, user_id, proposed_at } = proposal;
  return {
    ...keyOfProposal(proposal),
    all: deskPartitions.proposal,
    author: `PROPOSER#${user_id}`,
    date: `${proposed_at}#${entity_id}#${user_id}`,
    ...proposal,
  };
}

/** Returns the write that proposes the words of a record, in the place of an earlier proposal. */
export function proposalWrite(
  wanted: EntityRecord,
  { user_id, note }: Pick<Proposal, 'user_id' | 'note'>,
): Write {
  const words = pick(wanted, ['entity_id', 'entity_type', 'name', 'about', 'url']);
  const proposed_at = new Date().toISOString();
  return { Put: { Item: proposalItem({ ...words, user_id, note, proposed_at }) } };
}

/** A proposal, and the record as it is now. */
export interface OpenProposal {
  proposal: Proposal;
  record: EntityRecord | undefined;
}

/**
 * Most proposals for one entity that are read. Each takes 5 KB, so two units. A moderator decides
 * on these first, and then sees the others.
 */
const mostProposals = 40;

/** Reads the open proposals for an entity, at most 40 of them. */
export async function findProposals({ entity_type, entity_id }: Entity): Promise<Proposal[]> {
  const pages = queryItems(proposalKey(entity_type, entity_id, ''), { pageSize: mostProposals });
  return parseItems(Proposal, await collect(pages, mostProposals));
}

/** Reads the records that proposals would change. */
export async function withRecords(proposals: readonly Proposal[]): Promise<OpenProposal[]> {
  const keys = new Map(proposals.map((each) => [keyString(recordKey(each)), recordKey(each)]));
  const items = await batchGet([...keys.values()], { consistent: true });
  const recordOf = (entity: Entity): EntityRecord | undefined => {
    const item: Item | undefined = items.get(keyString(recordKey(entity)));
    return recordIn(entity, item);
  };
  return proposals.map((proposal) => ({ proposal, record: recordOf(proposal) }));
}
