// Decisions of moderators on proposed names.

import { invalidRequest } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import { getItems } from '../../base/table/batch.ts';
import { parseItem } from '../../base/table/parse.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import { type Entity, recordIn, recordKey, recordWrites } from '../../core/entity/record.ts';
import { type Corrected, type Decider, loggedFields } from '../../core/report/decision.ts';
import { entryOf, logged, newDecision } from '../../core/report/decision-log.ts';
import { newsWrites } from '../../core/user/notice.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { proposalKey } from './kinds.ts';
import { acceptedChange, refuseUnseen, type SeenProposal } from './naming-decisions.ts';
import { endOf, type OpenProposal, Proposal } from './proposal.ts';
import { newsOf } from './record-decisions.ts';

/**
 * Makes the changes of a proposal, and deletes it. Throws ApiError 404 if the decider is no
 * moderator. Throws 400 if the proposal is gone, changes nothing, or if it or the name has changed
 * since it was seen.
 */
export function acceptProposal(
  entity: Entity,
  proposerId: string,
  by: Decider,
  seen: SeenProposal,
): Promise<void> {
  return retryStale(async () => {
    const open = await readProposal(entity, proposerId, seen);
    const { before, after } = acceptedChange(open, new Date());
    await transact([
      endOf(open.proposal),
      ...recordWrites(before, after),
      ...logged(entryOf('correct', { before, after }, by)),
      ...tellProposer(proposerId, by),
      ...(await newsOf(before, [proposerId, by.moderator_id])),
    ]);
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
    const declined = newDecision('decline', by, {
      user_id: proposerId,
      review_id: null,
      reports: 0,
      ...entity,
      before: record && pick(record, loggedFields),
      after: pick(proposal as Corrected, loggedFields),
    });
    const isThere = proposerId !== by.moderator_id && (await findUser(proposerId)) !== undefined;
    const news = isThere ? newsWrites(proposerId, 'decline') : [];
    await transact([endOf(proposal), ...logged(declined), ...news]);
  });
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

/**
 * Tells the person who proposed it. The account must exist, so that its erasure finds the record.
 */
function tellProposer(userId: string, { moderator_id }: Decider): Write[] {
  // The log checks the account of the moderator.
  if (userId === moderator_id) return [];
  const otherwise = invalidRequest('The account that proposed this was deleted');
  return newsWrites(userId, 'accept', otherwise);
}
