// Decisions on names: pure functions of what is stored, what somebody wants, and the time.
import { type Entity, type EntityRecord, hasSameWords, isByPerson } from '../entity/record.ts';
import { invalidRequest, preconditionFailed } from '../errors.ts';
import { canModerate } from '../user/user-type.ts';
import type { Decision } from './decision.ts';
import { type Namer, recordOf } from './naming.ts';
import type { OpenProposal } from './proposal.ts';

/** The outcome of a correction: done, proposed to moderators, or nothing to change. */
export type Outcome = 'named' | 'proposed' | 'same';

/** An entity as it is when a person corrects its name. */
export interface NamedState {
  /** The record, if the entity has a name. */
  record: EntityRecord | undefined;
  /** True if somebody else has a public review of it. */
  isReviewedByOthers: boolean;
}

/** The record that a person wants, why, and the version of the record that the form showed. */
export interface WantedRecord {
  record: EntityRecord;
  note: string;
  seen: number | undefined;
}

/**
 * Decides what becomes of a correction. A first name is given at once, and so is any name by a
 * moderator. Others correct at once what nobody else has reviewed or named. A note without a change
 * is a report to moderators. Throws ApiError 412 if the record has changed since it was seen.
 */
export function outcomeOf(
  { record, isReviewedByOthers }: NamedState,
  wanted: WantedRecord,
  namer: NonNullable<Namer>,
): Outcome {
  if (record?.version !== wanted.seen) throw preconditionFailed('The name');
  if (record === undefined) return 'named';
  if (hasSameWords(record, wanted.record)) return wanted.note === '' ? 'same' : 'proposed';
  if (canModerate(namer)) return 'named';
  const isNamedByOther = record.user_id !== undefined && record.user_id !== namer.id;
  return isNamedByOther || isReviewedByOthers ? 'proposed' : 'named';
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

/** A record before and after a correction. */
export interface RecordChange {
  before: EntityRecord;
  after: EntityRecord;
}

/** Returns the change that a proposal makes. Throws ApiError 400 if it changes nothing. */
export function acceptedChange({ proposal, record }: OpenProposal, now: Date): RecordChange {
  const by = {
    origin: 'member',
    user_id: proposal.user_id,
    written_at: now.toISOString(),
  } as const;
  const after = recordOf(proposal, proposal, by, record);
  if (!record || hasSameWords(record, after)) {
    throw invalidRequest('The proposal changes nothing: decline it');
  }
  return { before: record, after };
}

/** A correction in the log: the words that a record had, and those that it got. */
export type LoggedCorrection = Entity & Required<Pick<Decision, 'before' | 'after'>>;

/**
 * Returns the change that undoes a correction. Throws ApiError 400 if the record no longer has the
 * words that the correction gave it.
 */
export function undoingChange(
  { entity_id, entity_type, before, after }: LoggedCorrection,
  record: EntityRecord | undefined,
  now: Date,
): RecordChange {
  if (!record || !hasSameWords(record, { ...record, ...noWords, ...after })) {
    throw invalidRequest('The name has been corrected again since');
  }
  const restored = { entity_id, entity_type, ...before, written_at: now.toISOString() };
  // A database may renew its own words.
  const due = isByPerson(before) ? {} : { due_at: now.getTime() };
  return { before: record, after: { ...restored, ...due } };
}

/** Returns the person who reads that a name was corrected: who gave it, unless one of `writers`. */
export function personToTell(
  replaced: EntityRecord | undefined,
  writers: readonly (string | null)[],
): string | undefined {
  const userId = replaced?.user_id;
  return userId !== undefined && writers.includes(userId) ? undefined : userId;
}

/** A log entry leaves out empty words. */
const noWords = { about: undefined, url: undefined };
