// Corrections of names: at once where a person may, or as a proposal for moderators.
import * as v from 'valibot';
import { preconditionFailed } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import {
  type Entity,
  type EntityRecord,
  hasSameWords,
  readRecord,
  recordIn,
  recordKey,
  recordWrites,
} from '../../core/entity/record.ts';
import { isPublicName } from '../../core/entity/state.ts';
import { claimKey, entityKey, reviewKey } from '../../core/keys.ts';
import type { Decider } from '../../core/report/decision.ts';
import { entryOf, logEntry } from '../../core/report/decision-log.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { isPublic, Review } from '../../core/review/review.ts';
import { spendNaming } from '../../core/user/daily-limit.ts';
import { canModerate } from '../../core/user/user-type.ts';
import { checkWriter, type Writer, writeAs } from '../../core/user/writer.ts';
import { type Namer, recordOf, writtenBy, writtenNow } from './naming.ts';
import { type Outcome, outcomeOf, shownRecord } from './naming-decisions.ts';
import { checkNaming, type Naming } from './naming-fields.ts';
import { proposalWrite } from './proposal.ts';
import { isCountedAs, newsOf } from './record-decisions.ts';

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
      const [{ entityItem, ...state }, by] = await Promise.all([
        readState(entity, namer.id),
        writtenNow(namer),
        checkNaming(naming, namer),
      ]);
      const shown = shownRecord(state.record, namer);
      const record = recordOf(entity, naming, by, shown);
      const isHeld = by.state === 'waiting';
      const outcome = outcomeOf({ ...state, isHeld }, { record, note, seen }, namer);
      switch (outcome) {
        case 'same':
          await transact([checkWriter(namer.id, writer)]);
          break;
        case 'proposed':
          await transact([
            ...(await editBy(namer, writer)),
            proposalWrite(record, { user_id: namer.id, note }),
          ]);
          break;
        case 'named':
          await transact([
            ...(await editBy(namer, writer)),
            isCountedAs(entity, entityItem),
            ...recordWrites(state.record, record),
            ...logOf(shown, record, { note, moderator_id: namer.id }),
            ...(await newsOf(state.record, [namer.id])),
          ]);
      }
      return outcome;
    }),
  );
}

/**
 * Adds something of a type of this service, by its name and without a review, with the writes of
 * `also`. Counts as an edit. Throws like `addition` and `correctName`.
 */
export function addEntity(
  entity: Entity,
  naming: Naming,
  namer: NonNullable<Namer>,
  also: readonly Write[] = [],
): Promise<void> {
  return writeAs(namer.id, (writer) =>
    retryStale(async () => {
      const writes = await addition(entity, naming, namer);
      if (writes.length === 0) return;
      await transact([...(await editBy(namer, writer)), ...writes, ...also]);
    }),
  );
}

/**
 * Returns the writes that add something of a type of this service. None if this person has added
 * it in these words already, because a form may be sent twice. Throws ApiError 412 if it is there
 * in other words or from somebody else, 400 for the name of a moderator.
 */
export async function addition(
  entity: Entity,
  naming: Naming,
  namer: NonNullable<Namer>,
): Promise<Write[]> {
  const [existing] = await Promise.all([readRecord(entity), checkNaming(naming, namer)]);
  const record = recordOf(entity, naming, await writtenNow(namer));
  if (existing?.user_id === namer.id && hasSameWords(existing, record)) return [];
  if (existing) throw preconditionFailed('The name');
  return [
    ...recordWrites(undefined, record),
    ...logOf(undefined, record, { note: '', moderator_id: namer.id }),
  ];
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
    if (before && hasSameWords(before, after) && isPublicName(before)) return before;
    await transact([
      ...recordWrites(before, after),
      ...logOf(before, after, { note, moderator_id: null }),
      ...(await newsOf(before, [])),
    ]);
    return after;
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

/** Spends an edit of a person, who must still have the rights of now. */
async function editBy(namer: NonNullable<Namer>, writer: Writer): Promise<Write[]> {
  const was = canModerate(namer) ? { is_moderator: true } : undefined;
  return [checkWriter(namer.id, { ...writer, was }), ...(await spendNaming('edits', namer))];
}

/** Logs a correction or a first name. */
function logOf(
  before: EntityRecord | undefined,
  after: EntityRecord,
  { note, moderator_id }: Pick<Decider, 'note' | 'moderator_id'>,
): Write[] {
  const by = { reason: 'other', note, moderator_id } as const;
  return [logEntry(entryOf(before ? 'correct' : 'name', { before, after }, by))];
}
