// Corrections of names: at once where a person may, or as a proposal for moderators.
import * as v from 'valibot';
import {
  type Entity,
  type EntityRecord,
  readRecord,
  recordIn,
  recordKey,
  recordWrites,
} from '../entity/record.ts';
import { invalidRequest, notFound, preconditionFailed } from '../errors.ts';
import { pick } from '../pick.ts';
import { countsIn } from '../review/owner-counts.ts';
import { isPublic, Review } from '../review/review.ts';
import { getItems } from '../table/batch.ts';
import { type Item, keyString } from '../table/item.ts';
import {
  claimKey,
  decisionKey,
  entityKey,
  proposalKey,
  reviewKey,
  userKey,
} from '../table/keys.ts';
import { keyOf } from '../table/merge.ts';
import { parseItem } from '../table/parse.ts';
import { getItem } from '../table/query.ts';
import { retryStale, transact, type Write } from '../table/transact.ts';
import { spendWriting } from '../user/daily-limit.ts';
import { newsUpdate } from '../user/news.ts';
import { whereAlive } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { canModerate } from '../user/user-type.ts';
import { checkWriter, type Writer, writeAs } from '../user/writer.ts';
import { type Corrected, type Decider, Decision, loggedFields } from './decision.ts';
import { logEntry, logged, newDecision } from './decision-log.ts';
import { checkNaming, type Namer, type Naming, recordOf, writtenBy } from './naming.ts';
import {
  acceptedChange,
  hasSameWords,
  type Outcome,
  outcomeOf,
  personToTell,
  refuseUnseen,
  type SeenProposal,
  undoingChange,
} from './naming-decisions.ts';
import { endOf, type OpenProposal, Proposal, proposalWrite } from './proposal.ts';

/** A correction as sent: the words, why, and the version of the record that the form showed. */
export interface Correction {
  naming: Naming;
  note: string;
  seen: number | undefined;
}

/**
 * Corrects the name of an entity, gives it a first one, or proposes either to moderators, as
 * `outcomeOf` decides. Counts as an edit. Throws ApiError 412 if the record has changed since, 400
 * for the name of a moderator, 403 for a blocked account or at the daily limit.
 */
export function correctName(
  entity: Entity,
  { naming, note, seen }: Correction,
  namer: NonNullable<Namer>,
): Promise<Outcome> {
  return writeAs(namer.id, (writer) =>
    retryStale(async () => {
      await checkNaming(naming, namer);
      const { entityItem, ...state } = await readState(entity, namer.id);
      const record = recordOf(entity, naming, writtenBy(namer), state.record);
      const outcome = outcomeOf(state, { record, note, seen }, namer);
      switch (outcome) {
        case 'same':
          await transact([checkWriter(namer.id, writer)]);
          break;
        case 'proposed':
          await transact([
            ...editBy(namer, writer),
            proposalWrite(record, { user_id: namer.id, note }),
          ]);
          break;
        case 'named':
          await transact([
            ...editBy(namer, writer),
            isUnreviewedSince(entity, entityItem),
            ...recordWrites(state.record, record),
            ...logOf(state.record, record, { note, moderator_id: namer.id }),
            ...(await newsOf(state.record, [namer.id])),
          ]);
      }
      return outcome;
    }),
  );
}

/**
 * Adds something of a type of this service, by its name. A form that is sent twice adds one thing.
 * Counts as an edit. Throws ApiError 412 if somebody else has added it, or under another name, and
 * otherwise like `correctName`.
 */
export function addEntity(
  entity: Entity,
  naming: Naming,
  namer: NonNullable<Namer>,
): Promise<void> {
  return writeAs(namer.id, (writer) =>
    retryStale(async () => {
      await checkNaming(naming, namer);
      const existing = await readRecord(entity);
      if (existing) {
        if (existing.name === naming.name && existing.user_id === namer.id) return;
        throw preconditionFailed('The name');
      }
      const record = recordOf(entity, naming, writtenBy(namer));
      await transact([...editBy(namer, writer), ...recordWrites(undefined, record)]);
    }),
  );
}

/** Names an entity or corrects its name as the operator, without limits. */
export async function nameAsOperator(
  entity: Entity,
  naming: Naming,
  note: string,
): Promise<EntityRecord> {
  return retryStale(async () => {
    const before = await readRecord(entity);
    const after = recordOf(entity, naming, writtenBy(undefined), before);
    if (before && hasSameWords(before, after)) return before;
    await transact([
      ...recordWrites(before, after),
      ...logOf(before, after, { note, moderator_id: null }),
      ...(await newsOf(before, [])),
    ]);
    return after;
  });
}

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
      ...logged(correctionOf(before, after, by)),
      ...hasAccount(proposerId, by),
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
    await transact([endOf(proposal), ...logged(declined)]);
  });
}

/**
 * Undoes a correction of the log, as another correction. Throws ApiError 404 if there is no such
 * correction or the decider is no moderator, 400 if the name was changed since.
 */
export function undoCorrection(decisionId: string, by: Decider): Promise<void> {
  return retryStale(async () => {
    const item = await getItem(decisionKey(decisionId));
    const { decision, entity_id, entity_type, before, after } = parseItem(Decision, item) ?? {};
    const isCorrection = decision === 'correct' && entity_id && entity_type && before && after;
    if (!isCorrection) throw notFound('Correction');
    const correction = { entity_id, entity_type, before, after };
    const change = undoingChange(correction, await readRecord(correction), new Date());
    const { user_id, ...words } = change.after;
    const writer = user_id === undefined ? undefined : await findUser(user_id);
    const restored = writer ? change.after : words;
    const writes = [
      ...recordWrites(change.before, restored),
      ...logged(correctionOf(change.before, restored, by)),
      ...(await newsOf(change.before, [by.moderator_id])),
    ];
    await transact([...writes, ...(writer ? isStillThere(writer.id, writes) : [])]);
  });
}

/** Reads what decides on a correction by a person, and the item of the entity. */
async function readState(entity: Entity, userId: string) {
  const { entity_id } = entity;
  const keys = [recordKey(entity), entityKey(entity_id), claimKey(userId, entity_id)];
  const [item, entityItem, claim] = await getItems(keys, { consistent: true });
  const { all } = countsIn(entityItem);
  const own = all === 1 && claim ? await getItem(reviewKey(`${claim.review_id}`)) : undefined;
  const isOwnCounted = own !== undefined && isPublic(v.parse(Review, own));
  const isReviewedByOthers = all > (isOwnCounted ? 1 : 0);
  return { record: recordIn(entity, item), entityItem, isReviewedByOthers };
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

/** Spends an edit of a person, who must still have the rights of now. */
function editBy(namer: NonNullable<Namer>, writer: Writer): Write[] {
  const was = canModerate(namer) ? { is_moderator: true } : undefined;
  return [checkWriter(namer.id, { ...writer, was }), ...spendWriting('edits', namer.id)];
}

/** Checks that nobody has reviewed the entity since its item was read. */
function isUnreviewedSince({ entity_id }: Entity, item: Item | undefined): Write {
  const was = item ? { version: item.version } : { pk: undefined };
  return { ConditionCheck: { Key: entityKey(entity_id), was } };
}

type Corrector = Pick<Decider, 'note' | 'moderator_id'>;

/** Logs a correction. A first name is none. */
function logOf(before: EntityRecord | undefined, after: EntityRecord, by: Corrector): Write[] {
  return before ? [logEntry(correctionOf(before, after, by))] : [];
}

/** Makes the entry of the log for a correction. Its subject is who wrote the new words. */
function correctionOf(
  before: EntityRecord,
  after: EntityRecord,
  { note, moderator_id }: Corrector,
): Decision {
  const { entity_id, entity_type, user_id = null } = after;
  return newDecision(
    'correct',
    { reason: 'other', note, moderator_id },
    {
      user_id,
      review_id: null,
      reports: 0,
      entity_id,
      entity_type,
      before: pick(before, loggedFields),
      after: pick(after, loggedFields),
    },
  );
}

/** The account that proposed it must exist, so that its erasure finds the record. */
function hasAccount(userId: string, { moderator_id }: Decider): Write[] {
  // The log checks the account of the moderator.
  if (userId === moderator_id) return [];
  const otherwise = invalidRequest('The account that proposed this was deleted');
  return [checkWriter(userId, { ConditionExpression: whereAlive, otherwise })];
}

/**
 * Checks that an account exists, unless one of the writes does. Its erasure then begins later, and
 * finds the record.
 */
function isStillThere(userId: string, writes: readonly Write[]): Write[] {
  const Key = userKey(userId);
  const isChecked = writes.some((write) => keyString(keyOf(write)) === keyString(Key));
  return isChecked ? [] : [{ ConditionCheck: { Key, ConditionExpression: whereAlive } }];
}

/** Tells the person whose words are replaced, unless that is one of `writers`. */
async function newsOf(
  replaced: EntityRecord | undefined,
  writers: readonly (string | null)[],
): Promise<Write[]> {
  const userId = personToTell(replaced, writers);
  if (userId === undefined || !(await findUser(userId))) return [];
  return [{ Update: newsUpdate(userId, 'name') }];
}
