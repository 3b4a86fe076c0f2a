// Names by people: first ones, and corrections, at once where a person may or as a proposal.

import * as v from 'valibot';
import { preconditionFailed } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import type { RecordChange } from '../../core/entity/links.ts';
import {
  type Entity,
  hasSameWords,
  readRecord,
  recordIn,
  recordKey,
} from '../../core/entity/record.ts';
import { isPublicName } from '../../core/entity/state.ts';
import { claimKey, entityKey, reviewKey } from '../../core/keys.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { isPublic, Review } from '../../core/review/review.ts';
import { spendNaming } from '../../core/user/daily-limit.ts';
import { canModerate } from '../../core/user/user-type.ts';
import { checkWriter, type Writer, writeAs } from '../../core/user/writer.ts';
import { mayBeNamed, type Namer, recordOf, writtenBy, writtenNow } from './naming.ts';
import { checkNaming, type Naming } from './naming-fields.ts';
import { proposalWrite } from './proposal.ts';
import { isCountedAs, revisionWrites, writeRevision } from './revise.ts';
import { type Outcome, outcomeOf, shownRecord } from './revision.ts';

type Person = NonNullable<Namer>;

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
  namer: Person,
): Promise<Outcome> {
  return writeAs(namer.id, (writer) =>
    retryStale(async () => {
      const [{ entityItem, ...state }, written] = await Promise.all([
        readState(entity, namer.id),
        writtenNow(namer),
        checkNaming(naming, namer),
      ]);
      const { record: before } = state;
      const shown = shownRecord(before, namer);
      const after = recordOf(entity, naming, written, shown);
      const isHeld = written.state === 'waiting';
      const outcome = outcomeOf({ ...state, isHeld }, { record: after, note, seen }, namer);
      if (outcome === 'same') {
        await transact([checkWriter(namer.id, writer)]);
        return outcome;
      }
      const edit = await editBy(namer, writer);
      if (outcome === 'proposed') {
        await transact([...edit, proposalWrite(after, { user_id: namer.id, note })]);
        return outcome;
      }
      const revision = { decision: shown ? 'correct' : 'name', before, after } as const;
      const by = { reason: 'other', note, moderator_id: namer.id } as const;
      const also = [...edit, isCountedAs(entity, entityItem)];
      await writeRevision(revision, { by, also, tells: true, isChecked: true });
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
  namer: Person,
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
export async function addition(entity: Entity, naming: Naming, namer: Person): Promise<Write[]> {
  const { before, after } = await readFirst(entity, naming, namer);
  if (before?.user_id === namer.id && hasSameWords(before, after)) return [];
  if (before) throw preconditionFailed('The name');
  return givenWrites({ after }, namer);
}

/**
 * Returns the writes that give an entity its first name, to be written with something else. None if
 * it has a name by now, or a moderator has removed it. One that waits gives way, but for another
 * that would wait. They fail as a stale read if somebody names it meanwhile. Throws like
 * `checkNaming`.
 */
export async function firstName(entity: Entity, naming: Naming, namer: Person): Promise<Write[]> {
  const { before, after } = await readFirst(entity, naming, namer);
  const isLate = !mayBeNamed(before, namer) || (before && after.state === 'waiting');
  return isLate ? [] : givenWrites({ before, after }, namer);
}

/** Reads the record, and makes the one that a person wants to give as a first name. */
async function readFirst(entity: Entity, naming: Naming, namer: Person) {
  const [before, by] = await Promise.all([
    readRecord(entity),
    writtenNow(namer),
    checkNaming(naming, namer),
  ]);
  return { before, after: recordOf(entity, naming, by) };
}

/** Returns the writes of a first name, beside others that check the person. */
function givenWrites(change: RecordChange, { id }: Person): Promise<Write[]> {
  const by = { reason: 'other', note: '', moderator_id: id } as const;
  return revisionWrites({ decision: 'name', ...change }, { by, isChecked: true });
}

/** Names an entity or corrects its name as the operator, without limits. */
export async function nameAsOperator(entity: Entity, naming: Naming, note: string): Promise<void> {
  return retryStale(async () => {
    const before = await readRecord(entity);
    const after = recordOf(entity, naming, writtenBy(undefined), before);
    if (before && hasSameWords(before, after) && isPublicName(before)) return;
    const by = { reason: 'other', note, moderator_id: null } as const;
    const decision = before ? 'correct' : 'name';
    await writeRevision({ decision, before, after }, { by, tells: true });
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
async function editBy(namer: Person, writer: Writer): Promise<Write[]> {
  const was = canModerate(namer) ? { is_moderator: true } : undefined;
  return [checkWriter(namer.id, { ...writer, was }), ...(await spendNaming('edits', namer))];
}
