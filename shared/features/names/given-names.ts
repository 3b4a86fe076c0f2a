// Names by the person who gave or proposed them: those that stand, those that wait, and outcomes.

import { type ListPage, readNewest } from '../../base/list/read-page.ts';
import { getItems } from '../../base/table/batch.ts';
import type { SortKey } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import {
  type Entity,
  type EntityRecord,
  entityOf,
  readRecord,
  recordIn,
} from '../../core/entity/record.ts';
import type { Decision } from '../../core/report/decision.ts';
import { listDecisions } from '../../core/report/decision-log.ts';
import { proposalKey } from './kinds.ts';
import { type OpenProposal, Proposal, withRecords } from './proposal.ts';

/** A page of a list, with what it found. */
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

/** Reads a page of the proposals of a person that wait for a moderator, the newest first. */
export async function listOwnProposals(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { proposals: Proposal[] }> {
  const list = { scope: 'author', value: `PROPOSER#${userId}` } as const;
  const { entries, next } = await readNewest(list, limit, after);
  return { proposals: parseItems(Proposal, await getItems(entries)), next };
}

/** Reads the same page with the records that the proposals would change, for moderators. */
export async function listProposed(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Page<OpenProposal>> {
  const { proposals, next } = await listOwnProposals(userId, limit, after);
  return { found: await withRecords(proposals), next };
}

/** Decisions about a person that are read for the outcomes among them. The page shows no others. */
const mostDecisions = 50;

/** Returns the latest decisions of others on what a person has proposed, newest first. */
export async function listOutcomes(userId: string): Promise<Decision[]> {
  const { decisions } = await listDecisions(mostDecisions, { userId });
  // Names that are taken or brought back with everything were not proposed.
  return decisions.filter(
    ({ decision, part_of }) =>
      decision === 'decline' || (decision === 'correct' && part_of === undefined),
  );
}

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
