import * as v from 'valibot';
import { Text } from '../values.ts';
import { reasons, verdicts } from './verdict.ts';

/**
 * Decisions: on a review; on an account; `allow` that its user reviews again what a hidden and
 * deleted review was of.
 */
export const decisions = [...verdicts, 'block', 'unblock', 'allow'] as const;

/** The grounds of a decision: a word, and what there is to say. */
export const Grounds = v.object({
  reason: v.picklist(reasons, `must be one of ${reasons.join(', ')}`),
  note: Text(0, 500),
});
export type Grounds = v.InferOutput<typeof Grounds>;

/** An entry of the log, as it is stored: it names people and reviews by their ids only. */
export const Decision = v.object({
  id: v.string(),
  /** Whom it is about: the author of the review, or who is blocked. */
  user_id: v.string(),
  /** Null where it is about an account. */
  review_id: v.nullable(v.string()),
  decision: v.picklist(decisions),
  reason: v.picklist(reasons),
  note: v.string(),
  /** Null for the operator. */
  moderator_id: v.nullable(v.string()),
  /** ISO 8601. */
  decided_at: v.string(),
  /** The reports that it answers. */
  reports: v.number(),
});
export type Decision = v.InferOutput<typeof Decision>;

/** Decider and grounds. */
export type Decider = Grounds & Pick<Decision, 'moderator_id'>;
