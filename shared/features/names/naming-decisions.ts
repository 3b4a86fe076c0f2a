// Decisions on names: pure functions of what is stored, what somebody wants, and the time.

import { invalidRequest, preconditionFailed } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import type { RecordChange } from '../../core/entity/links.ts';
import {
  type Entity,
  type EntityRecord,
  hasSameWords,
  isSettled,
  linkFields,
} from '../../core/entity/record.ts';
import { isNameFor, isPublicName } from '../../core/entity/state.ts';
import type { Corrected, Decision } from '../../core/report/decision.ts';
import type { User } from '../../core/user/user.ts';
import { canModerate } from '../../core/user/user-type.ts';
import { recordOf } from './naming.ts';
import type { OpenProposal } from './proposal.ts';

/** The outcome of a correction: done, proposed to moderators, or nothing to change. */
export type Outcome = 'named' | 'proposed' | 'same';

/** A person who corrects a name. */
type Corrector = Pick<User, 'id' | 'is_moderator' | 'blocked_at'>;

/** An entity as it is when a person corrects its name. */
export interface NamedState {
  /** The record in any state, if there is one. */
  record: EntityRecord | undefined;
  /** True if somebody else has a public review of it. */
  isReviewedByOthers: boolean;
  /** True if the reviews of this person are held. */
  isHeld: boolean;
}

/** Returns the record as the form shows it to a person: a moderator sees one in any state. */
export function shownRecord(
  record: EntityRecord | undefined,
  person: Corrector,
): EntityRecord | undefined {
  if (!record || canModerate(person)) return record;
  return isNameFor(record, { id: person.id, isModerator: false }) ? record : undefined;
}

/** The record that a person wants, why, and the version of the record that the form showed. */
interface WantedRecord {
  record: EntityRecord;
  note: string;
  seen: number | undefined;
}

/**
 * Decides what becomes of a correction. A moderator corrects anything at once, and others what
 * nobody reads yet, or what is their own: they named it, and nobody else has reviewed it. A person
 * whose reviews are held corrects at once only what waits. What was removed stays so until a
 * moderator accepts a name. A note without a change is a report to moderators. Throws ApiError 412
 * if the record has changed since it was seen.
 */
export function outcomeOf(
  { record, isReviewedByOthers, isHeld }: NamedState,
  wanted: WantedRecord,
  person: Corrector,
): Outcome {
  const shown = shownRecord(record, person);
  if (shown?.version !== wanted.seen) throw preconditionFailed('The name');
  if (shown && hasSameWords(shown, wanted.record)) return wanted.note === '' ? 'same' : 'proposed';
  if (record === undefined || canModerate(person)) return 'named';
  if (record.state === 'removed') return 'proposed';
  if (shown === undefined) return isHeld ? 'proposed' : 'named';
  if (isHeld && isPublicName(record)) return 'proposed';
  return record.user_id === person.id && !isReviewedByOthers ? 'named' : 'proposed';
}

/** The proposal and the record that a moderator saw. A decision holds for them alone. */
export interface SeenProposal {
  proposed_at: string;
  version: number | undefined;
}

/** Throws ApiError 400 if the proposal or the record has changed since a moderator saw them. */
export function refuseUnseen({ proposal, record }: OpenProposal, seen: SeenProposal): void {
  if (proposal.proposed_at !== seen.proposed_at || record?.version !== seen.version) {
    throw invalidRequest('The proposal or the name has changed since you opened this page');
  }
}

/**
 * Returns the change that a proposal makes. No database overwrites it, and what was removed is
 * public again. Throws ApiError 400 if it changes nothing.
 */
export function acceptedChange({ proposal, record }: OpenProposal, now: Date): RecordChange {
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
  return { before: record, after };
}

/** A change of a record in the log: as it was, unless it is the first one, and as it became. */
export type LoggedChange = Entity & Pick<Decision, 'before'> & Required<Pick<Decision, 'after'>>;

/** Fields of a state that an undone change sets back, if it has changed them. */
const undoneFields = ['state', 'same_as', 'is_confirmed'] as const;

/**
 * Returns the change that undoes another one. A first name is removed. Throws ApiError 400 if the
 * record is no longer as that change left it. Names of members that come back are confirmed by who
 * brings them back, if that is asked for.
 */
export function undoingChange(
  { entity_id, entity_type, before, after }: LoggedChange,
  record: EntityRecord | undefined,
  now: Date,
  { confirms = true } = {},
): RecordChange {
  const changed = before ? undoneFields.filter((name) => before[name] !== after[name]) : [];
  if (!record || !isAs(record, after) || changed.some((name) => record[name] !== after[name])) {
    throw invalidRequest('The name has been changed again since');
  }
  if (!before) return { before: record, after: { ...record, state: 'removed' } };
  const words = {
    ...pick(record, linkFields),
    state: record.state,
    is_confirmed: record.is_confirmed,
  };
  const isMembers = before.origin === 'member';
  const restored: EntityRecord = {
    entity_id,
    entity_type,
    ...before,
    ...words,
    ...(confirms && isMembers && !isAs(record, before) && { is_confirmed: true }),
    ...pick(before, changed),
    written_at: now.toISOString(),
  };
  // A database may renew its own words.
  const due = isSettled(restored) ? {} : { due_at: now.getTime() };
  return { before: record, after: { ...restored, ...due } };
}

/** Returns true if a record has the words of the log, which leaves out empty ones. */
function isAs(record: EntityRecord, words: Corrected): boolean {
  return hasSameWords(record, { ...record, about: undefined, url: undefined, ...words });
}

/** Returns the person who reads that a name was corrected: who gave it, unless one of `writers`. */
export function personToTell(
  replaced: EntityRecord | undefined,
  writers: readonly (string | null)[],
): string | undefined {
  const userId = replaced?.user_id;
  return userId !== undefined && writers.includes(userId) ? undefined : userId;
}
