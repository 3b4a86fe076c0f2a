import * as v from 'valibot';
import { EntityRecord } from '../entity/record.ts';
import { reasons, verdicts } from '../review/verdict.ts';
import { Text } from '../values.ts';

/**
 * Decisions on a review, an account or a name. An account is blocked by `block`, and by `hide_all`,
 * which also hides all its reviews and withdraws its votes. A user may review an entity again after
 * `allow`. A name is changed by `correct`, and a proposed name is refused by `decline`.
 * The operator changes who signs in by `link`.
 */
export const decisions = [
  ...verdicts,
  'block',
  'hide_all',
  'unblock',
  'allow',
  'correct',
  'decline',
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
  /** Set for a correction: the entity, and its record before and after. */
  entity_id: v.optional(v.string()),
  entity_type: v.optional(EntityRecord.entries.entity_type),
  before: v.optional(Corrected),
  after: v.optional(Corrected),
});
export type Decision = v.InferOutput<typeof Decision>;

export type Decider = Grounds & Pick<Decision, 'moderator_id'>;
