import { parseItem } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import { type Entity, readRecord } from '../../core/entity/record.ts';
import { proposalKey } from './kinds.ts';
import { Proposal } from './proposal.ts';

/** A name that waits for moderators: a first one, or a proposal to correct one. */
export interface OpenName extends Entity {
  opened_by: 'name' | 'proposal';
  /** ISO 8601. */
  opened_at: string;
  /** The person who gave or proposed it, unless the account is gone. */
  user_id: string | undefined;
}

/**
 * Finds the proposal of a person, or without one the first name of the entity. Returns undefined if
 * it waits no longer.
 */
export async function findOpenName(
  entity: Entity,
  proposer: string | undefined,
): Promise<OpenName | undefined> {
  if (proposer === undefined) {
    const record = await readRecord(entity);
    if (record?.state !== 'waiting') return undefined;
    const { user_id, written_at = '' } = record;
    return { ...entity, opened_by: 'name', opened_at: written_at, user_id };
  }
  const Key = proposalKey(entity.entity_type, entity.entity_id, proposer);
  const proposal = parseItem(Proposal, await getItem(Key));
  if (!proposal) return undefined;
  const { user_id, proposed_at } = proposal;
  return { ...entity, opened_by: 'proposal', opened_at: proposed_at, user_id };
}
