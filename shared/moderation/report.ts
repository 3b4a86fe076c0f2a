import * as v from 'valibot';
import { Text } from '../values.ts';

/** Reason of a report: up to 500 characters, a word of the list in verdict.ts or any other text. */
export const Reason = Text(0, 500);

/** A spam report, as stored. Times are ISO 8601. */
export const Report = v.object({
  review_id: v.string(),
  /** The reporter. */
  user_id: v.string(),
  reason: v.string(),
  reported_at: v.string(),
  /** The number of decisions on the case before the report. */
  round: v.number(),
});
export type Report = v.InferOutput<typeof Report>;
