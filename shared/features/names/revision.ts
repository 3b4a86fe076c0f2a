// Revisions of the record of a thing, and the decisions on them: pure functions of what is stored,
// what somebody wants, and the time.

import { invalidRequest, preconditionFailed } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import type { RecordChange } from '../../core/entity/links.ts';
import {
  type Entity,
  type EntityRecord,
  hasSameWords,
  isSettled,
  linkFields,
  recordKey,
} from '../../core/entity/record.ts';
import { isNameFor, isPublicName } from '../../core/entity/state.ts';
import type { Corrected, Decision, RecordDecision } from '../../core/report/decision.ts';
import type { User } from '../../core/user/user.ts';
import { canModerate } from '../../core/user/user-type.ts';

/** A revision as the log has it: what it replaced, unless it was the first, and what it made. */
export interface Revision {
  before?: Corrected | undefined;
  after: Entity & Corrected;
}

/** A revision to write, with its word in the log. */
export interface NewRevision extends RecordChange {
  decision: 'name' | 'correct' | RecordDecision;
}

/** Returns the revision in an entry of the log, unless it tells of something else. */
export function revisionIn(entry: Decision | undefined): Revision | undefined {
  const { decision, entity_id, entity_type, before, after } = entry ?? {};
  if (decision === 'decline' || !entity_id || !entity_type || !after) return undefined;
  return { before, after: { entity_id, entity_type, ...after } };
}

/** Fields of a state that a revert sets back, if the revision has changed them. */
const statedFields = ['state', 'same_as', 'is_confirmed'] as const;

/**
 * Returns the revision that undoes another one. A first name is removed. Throws ApiError 400 if the
 * record is no longer as that revision left it. Names of members that come back are confirmed by
 * who brings them back, if `confirms`.
 */
export function revert(
  { before, after }: Revision,
  record: EntityRecord | undefined,
  now: Date,
  { confirms = true } = {},
): NewRevision {
  const changed = before ? statedFields.filter((name) => before[name] !== after[name]) : [];
  const isUndone = !before && record?.state === 'removed';
  if (
    !record ||
    isUndone ||
    !isAs(record, after) ||
    changed.some((name) => record[name] !== after[name])
  ) {
    throw invalidRequest('The name has been changed again since');
  }
  if (!before)
    return { decision: 'remove', before: record, after: { ...record, state: 'removed' } };
  const isReplaced = !isAs(record, before);
  const restored: EntityRecord = {
    ...before,
    ...pick(record, ['entity_id', 'entity_type', 'state', 'is_confirmed', ...linkFields]),
    ...(confirms && before.origin === 'member' && isReplaced && { is_confirmed: true }),
    ...pick(before, changed),
    written_at: now.toISOString(),
  };
  // A database may renew its own words.
  const due = isSettled(restored) ? {} : { due_at: now.getTime() };
  return { decision: wordOf(record, restored), before: record, after: { ...restored, ...due } };
}

/** Returns the word of the log for a change that undoes another one. */
function wordOf(before: EntityRecord, after: EntityRecord): NewRevision['decision'] {
  if (after.state === 'removed') return 'remove';
  if (before.same_as !== after.same_as) return after.same_as === undefined ? 'return' : 'lead';
  return before.state === 'removed' ? 'return' : 'correct';
}

/** Returns true if a record has the words of the log, which leaves out empty ones. */
function isAs(record: EntityRecord, words: Corrected): boolean {
  return hasSameWords(record, { ...record, about: undefined, url: undefined, ...words });
}

/**
 * Returns what others had written of each thing, by the partition of its record, before the last
 * words of a person. `revisions` are the person's own, the newest first. A thing is missing if
 * nobody had named it.
 */
export function replacedBy(
  userId: string,
  revisions: readonly Revision[],
): ReadonlyMap<string, Corrected | undefined> {
  const others = revisions.filter(({ before }) => before?.user_id !== userId);
  // The last entry of a key wins, which is the newest.
  return new Map(others.toReversed().map(({ before, after }) => [recordKey(after).pk, before]));
}

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

/**
 * Decides what becomes of a correction. A moderator corrects anything at once, and others what
 * nobody reads yet, or what is their own: they named it, and nobody else has reviewed it. A person
 * whose reviews are held corrects at once only what waits. What was removed stays so until a
 * moderator accepts a name. A note without a change is a report to moderators. Throws ApiError 412
 * if the record has another version than the form showed in `seen`.
 */
export function outcomeOf(
  { record, isReviewedByOthers, isHeld }: NamedState,
  wanted: { record: EntityRecord; note: string; seen: number | undefined },
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
