import * as v from 'valibot';
import { reasons, verdicts } from '../review/verdict.ts';
import { Text } from '../values.ts';

/**
 * Decisions on a review or an account. `hide_all` blocks an account and hides all its reviews.
 * `allow` permits a user to review an entity again.
 */
export const decisions = [...verdicts, 'block', 'hide_all', 'unblock', 'allow'] as const;

export const Grounds = v.object({
  reason: v.picklist(reasons, `must be one of ${reasons.join(', ')}`),
  note: Text(0, 500),
});
export type Grounds = v.InferOutput<typeof Grounds>;

/** An entry of the log, as stored. It names people and reviews by id only; times are ISO 8601. */
export const Decision = v.object({
  id: v.string(),
  /** The author of the review, or the blocked user. */
  user_id: v.string(),
  /** Null for a decision on an account. */
  review_id: v.nullable(v.string()),
  decision: v.picklist(decisions),
  reason: v.picklist(reasons),
  note: v.string(),
  /** Null for the operator. */
  moderator_id: v.nullable(v.string()),
  decided_at: v.string(),
  /** The number of reports that it answers. */
  reports: v.number(),
});
export type Decision = v.InferOutput<typeof Decision>;

export type Decider = Grounds & Pick<Decision, 'moderator_id'>;
