import * as v from 'valibot';
import { Text } from '../../base/values.ts';
import { EntityRecord } from '../entity/record.ts';
import { reasons, verdicts } from '../review/verdict.ts';

/** Decisions that change the state of a thing and leave its words. */
const recordDecisions = ['confirm', 'remove', 'lead', 'return'] as const;
export type RecordDecision = (typeof recordDecisions)[number];

/**
 * Decisions on a review, an account or a name. An account is blocked by `block`, and by `hide_all`,
 * which also takes back all that it did. It is unblocked by `unblock`, and by `restore_all`, which
 * also brings back what the last `hide_all` has taken, but for votes: reviews that waited then
 * `hold` again. A user may review an entity again after `allow`. A thing gets its first name by
 * `name`. A name is changed by `correct`, kept by `confirm`, taken down by `remove` and brought
 * back by `return`. A proposed name is refused by `decline`. By `lead` a thing leads to another one
 * that is the same, which `return` ends too. The operator changes who signs in by `link`.
 */
export const decisions = [
  ...verdicts,
  'hold',
  'block',
  'hide_all',
  'unblock',
  'restore_all',
  'allow',
  'name',
  'correct',
  'decline',
  ...recordDecisions,
  'link',
] as const;

export const Grounds = v.object({
  reason: v.picklist(reasons, `must be one of ${reasons.join(', ')}`),
  note: Text(0, 500),
});
export type Grounds = v.InferOutput<typeof Grounds>;

/** Fields of a record that the log keeps of a correction. */
export const loggedFields = [
  'name',
  'about',
  'by',
  'year',
  'url',
  'image',
  'origin',
  'user_id',
  'state',
  'same_as',
  'is_confirmed',
] as const;
const Corrected = v.pick(EntityRecord, loggedFields);
export type Corrected = v.InferOutput<typeof Corrected>;

/** An entry of the log, as stored. It names people and reviews by id only; times are ISO 8601. */
export const Decision = v.object({
  id: v.string(),
  /** The author of the review, the blocked user, or who wrote the new name, if a person did. */
  user_id: v.nullable(v.string()),
  /** Null for a decision on an account. */
  review_id: v.nullable(v.string()),
  decision: v.picklist(decisions),
  reason: v.picklist(reasons),
  note: v.string(),
  /** Null for the operator. A person whose own correction needed no moderator is named here too. */
  moderator_id: v.nullable(v.string()),
  decided_at: v.string(),
  /** The number of reports that it answers. */
  reports: v.number(),
  /** With `hide_all`: the votes of the account that were withdrawn so far. */
  votes: v.optional(v.number()),
  /** Id of the decision on the account that it is a part of. */
  part_of: v.optional(v.string()),
  /** Set as a part of `hide_all` for a review that waited for a moderator. */
  was_held: v.optional(v.literal(true)),
  /** Set as a part of `hide_all` for a proposal: the rest of it, beside `after`. */
  proposed: v.optional(v.object({ note: v.string(), proposed_at: v.string() })),
  /** Set for a decision on a record: the entity, and its record before, if any, and after. */
  entity_id: v.optional(v.string()),
  entity_type: v.optional(EntityRecord.entries.entity_type),
  before: v.optional(Corrected),
  after: v.optional(Corrected),
});
export type Decision = v.InferOutput<typeof Decision>;

export type Decider = Grounds & Pick<Decision, 'moderator_id'>;

/** Returns true if the last decision is this one, by the same moderator and for the same reason. */
export function isSame(last: Readonly<Record<string, unknown>>, decision: string, by: Decider) {
  return Object.entries({ ...by, decision }).every(([name, value]) => last[name] === value);
}
