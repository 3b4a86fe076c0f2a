import * as v from 'valibot';
import { Text } from '../values.ts';

/** Reason of a report: up to 500 characters, a word of the list in verdict.ts or any other text. */
export const Reason = Text(0, 500);

/** A spam report, as it is stored. */
export const Report = v.object({
  review_id: v.string(),
  /** Who reported it. */
  user_id: v.string(),
  reason: v.string(),
  /** ISO 8601. */
  reported_at: v.string(),
  /** Number of decisions on the case by then. */
  round: v.number(),
});
export type Report = v.InferOutput<typeof Report>;
