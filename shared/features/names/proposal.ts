// Proposals to correct a name: revisions that wait for a moderator.
import * as v from 'valibot';
import { invalidRequest } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import { batchGet, getItems } from '../../base/table/batch.ts';
import { type Key, keyString } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import {
  type Entity,
  EntityRecord,
  hasSameWords,
  recordIn,
  recordKey,
} from '../../core/entity/record.ts';
import { isPublicName } from '../../core/entity/state.ts';
import { deskPartitions } from '../../core/keys.ts';
import {
  type Corrected,
  type Decider,
  type Decision,
  loggedFields,
} from '../../core/report/decision.ts';
import { logged, newDecision } from '../../core/report/decision-log.ts';
import { newsWrites } from '../../core/user/notice.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { proposalKey } from './kinds.ts';
import { recordOf } from './naming.ts';
import { writeRevision } from './revise.ts';
import type { NewRevision } from './revision.ts';

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
  return proposals.map((proposal) => {
    const item = items.get(keyString(recordKey(proposal)));
    return { proposal, record: recordIn(proposal, item) };
  });
}

/** The proposal and the record that a moderator saw. A decision holds for them alone. */
export interface SeenProposal {
  proposed_at: string;
  version: number | undefined;
}

/**
 * Makes a proposal a revision, and deletes it. Throws ApiError 404 if the decider is no moderator.
 * Throws 400 if the proposal is gone, changes nothing, or if it or the name has changed since it
 * was seen.
 */
export function acceptProposal(
  entity: Entity,
  proposerId: string,
  by: Decider,
  seen: SeenProposal,
): Promise<void> {
  return retryStale(async () => {
    const open = await readProposal(entity, proposerId, seen);
    const revision = acceptedRevision(open, new Date());
    const tells = revision.before?.user_id !== proposerId;
    // The account must exist, so that its erasure finds the record. The log checks the moderator's.
    const otherwise = invalidRequest('The account that proposed this was deleted');
    const news = proposerId === by.moderator_id ? [] : newsWrites(proposerId, 'accept', otherwise);
    const also = [endOf(open.proposal), ...news];
    await writeRevision(revision, { by, also, tells });
  });
}

/** Declines a proposal and deletes it. Throws like `acceptProposal`. */
export function declineProposal(
  entity: Entity,
  proposerId: string,
  by: Decider,
  seen: SeenProposal,
): Promise<void> {
  return retryStale(async () => {
    const { record, proposal } = await readProposal(entity, proposerId, seen);
    const isThere = proposerId !== by.moderator_id && (await findUser(proposerId)) !== undefined;
    const news = isThere ? newsWrites(proposerId, 'decline') : [];
    const before = record && pick(record, loggedFields);
    await transact([endOf(proposal), ...logged(refusalOf(proposal, by, { before })), ...news]);
  });
}

/** Makes the entry of the log for a proposal that is refused. */
export function refusalOf(proposal: Proposal, by: Decider, more: Partial<Decision>): Decision {
  return newDecision('decline', by, {
    ...pick(proposal, ['user_id', 'entity_id', 'entity_type']),
    review_id: null,
    reports: 0,
    after: pick(proposal as Corrected, loggedFields),
    ...more,
  });
}

/**
 * Returns the revision that a proposal becomes. No database overwrites it, and what was removed is
 * public again. Throws ApiError 400 if it changes nothing.
 */
export function acceptedRevision({ proposal, record }: OpenProposal, now: Date): NewRevision {
  const by = {
    origin: 'member',
    user_id: proposal.user_id,
    written_at: now.toISOString(),
    is_confirmed: true,
  } as const;
  const after = recordOf(proposal, proposal, by, record);
  if (!record || (hasSameWords(record, after) && isPublicName(record))) {
    throw invalidRequest('The proposal changes nothing: decline it');
  }
  return { decision: 'correct', before: record, after };
}

/** Throws ApiError 400 if the proposal or the record has changed since a moderator saw them. */
export function refuseUnseen({ proposal, record }: OpenProposal, seen: SeenProposal): void {
  if (proposal.proposed_at !== seen.proposed_at || record?.version !== seen.version) {
    throw invalidRequest('The proposal or the name has changed since you opened this page');
  }
}

/** Reads a proposal as a moderator saw it, and the record. Throws ApiError 400 if it is gone. */
async function readProposal(
  entity: Entity,
  proposerId: string,
  seen: SeenProposal,
): Promise<OpenProposal> {
  const Key = proposalKey(entity.entity_type, entity.entity_id, proposerId);
  const [item, recordItem] = await getItems([Key, recordKey(entity)], { consistent: true });
  const proposal = parseItem(Proposal, item);
  if (!proposal) throw invalidRequest('Somebody has decided on this proposal already');
  const open = { proposal, record: recordIn(entity, recordItem) };
  refuseUnseen(open, seen);
  return open;
}
